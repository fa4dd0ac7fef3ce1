/** Decides how the Pods of one ReplicaSet must change, and what it reports of them. */
import { REPLICA_SETS } from "../../api/resource-names.ts";
import type { ReplicaSet } from "../../api/types/apps.ts";
import type { Pod } from "../../api/types/core.ts";
import type { Condition, Draft } from "../../api/types/meta.ts";
import { isReady } from "../pod-facts.ts";
import { withCondition, withoutCondition } from "./conditions.ts";
import { controllerReference } from "./owned-by.ts";
import { hasEnded, isActive, isAvailable, readySinceMs } from "./pod-state.ts";
import { victimsFirst } from "./victim-order.ts";

export interface ReplicaSetWorld {
	readonly replicaSet: ReplicaSet;
	/** Pods that it controls and that match its selector. */
	readonly pods: readonly Pod[];
	/** Active Pods of the same owner group by node: all ReplicaSets of one Deployment are a group. */
	podsOnNode(): ReadonlyMap<string, number>;
	readonly nowMs: number;
}

export interface ReplicaSetPlan {
	/** How many Pods to make from the template. */
	readonly creates: number;
	readonly deletes: readonly Pod[];
}

/** Creates and deletes of one sync, so that a huge ReplicaSet does not hold its worker. Upstream's number. */
const BURST = 500;

export function planReplicaSet(world: ReplicaSetWorld): ReplicaSetPlan {
	const { replicaSet, pods } = world;
	if (replicaSet.metadata.deletionTimestamp !== undefined) return { creates: 0, deletes: [] };
	const active = pods.filter(isActive);
	const missing = (replicaSet.spec.replicas ?? 1) - active.length;
	return {
		creates: Math.max(0, Math.min(missing, BURST)),
		deletes: missing < 0 ? victims(world, active, -missing) : [],
	};
}

/** When every Pod must go, the order does not matter. */
function victims(world: ReplicaSetWorld, active: readonly Pod[], surplus: number): readonly Pod[] {
	const ordered =
		surplus >= active.length ? active : victimsFirst(active, { nowMs: world.nowMs, podsOnNode: world.podsOnNode() });
	return ordered.slice(0, Math.min(surplus, BURST));
}

type ReplicaSetStatus = NonNullable<ReplicaSet["status"]>;
export type StatusWorld = Pick<ReplicaSetWorld, "replicaSet" | "pods" | "nowMs">;

/**
 * The status as it should be.
 * @param failure Why Pods could not be made or deleted in this sync; undefined when all went well.
 */
export function replicaSetStatus(world: StatusWorld, failure: string | undefined): ReplicaSetStatus {
	const { replicaSet } = world;
	const counts = countsOf(world);
	const { replicas, terminatingReplicas, ...optional } = counts;
	const conditions = conditionsOf(world, replicas, failure);
	return {
		replicas,
		...Object.fromEntries(Object.entries(optional).filter(([, count]) => count > 0)),
		// A pointer upstream: 0 is printed.
		terminatingReplicas,
		observedGeneration: replicaSet.metadata.generation ?? 1,
		...(conditions.length === 0 ? {} : { conditions }),
	};
}

/** One pass: a large ReplicaSet is counted with every change of one of its Pods. */
function countsOf({ replicaSet, pods, nowMs }: StatusWorld) {
	const { minReadySeconds = 0, template } = replicaSet.spec;
	const labels = Object.entries(template?.metadata?.labels ?? {});
	const counts = {
		replicas: 0,
		fullyLabeledReplicas: 0,
		readyReplicas: 0,
		availableReplicas: 0,
		terminatingReplicas: 0,
	};
	for (const pod of pods) {
		if (isActive(pod)) {
			counts.replicas++;
			if (labels.every(([key, value]) => pod.metadata.labels?.[key] === value)) counts.fullyLabeledReplicas++;
			if (isReady(pod)) counts.readyReplicas++;
			if (isAvailable(pod, minReadySeconds, nowMs)) counts.availableReplicas++;
		} else if (!hasEnded(pod)) counts.terminatingReplicas++;
	}
	return counts;
}

/** A failure that stays keeps the text of the first time. */
function conditionsOf(
	{ replicaSet, nowMs }: StatusWorld,
	active: number,
	failure: string | undefined,
): readonly Condition[] {
	const before = replicaSet.status?.conditions ?? [];
	if (failure === undefined) return withoutCondition(before, "ReplicaFailure");
	if (before.some(({ type }) => type === "ReplicaFailure")) return before;
	const reason = active < (replicaSet.spec.replicas ?? 1) ? "FailedCreate" : "FailedDelete";
	const change = { type: "ReplicaFailure", status: "True", reason, message: failure } as const;
	return withCondition(before, change, nowMs).map(({ lastUpdateTime: _, ...condition }) => condition);
}

/** When the next ready Pod becomes available by time alone. */
export function recheckOfAvailabilityMs({ replicaSet, pods, nowMs }: StatusWorld): number | undefined {
	const minReadyMs = (replicaSet.spec.minReadySeconds ?? 0) * 1000;
	if (minReadyMs === 0) return undefined;
	let soonest: number | undefined;
	for (const pod of pods) {
		const sinceMs = isActive(pod) ? readySinceMs(pod) : undefined;
		const waitMs = sinceMs === undefined ? 0 : sinceMs + minReadyMs - nowMs;
		if (waitMs > 0) soonest = Math.min(waitMs, soonest ?? waitMs);
	}
	return soonest;
}

/** A Pod from the ReplicaSet's template, as it is sent to the API. */
export function podFromTemplate(replicaSet: ReplicaSet): Draft<Pod> {
	const { metadata = {}, spec } = replicaSet.spec.template ?? { spec: { containers: [] } };
	return {
		metadata: {
			generateName: `${replicaSet.metadata.name}-`,
			...(metadata.labels === undefined ? {} : { labels: metadata.labels }),
			...(metadata.annotations === undefined ? {} : { annotations: metadata.annotations }),
			...(metadata.finalizers === undefined ? {} : { finalizers: metadata.finalizers }),
			ownerReferences: [controllerReference(REPLICA_SETS, replicaSet)],
		},
		spec,
	};
}
