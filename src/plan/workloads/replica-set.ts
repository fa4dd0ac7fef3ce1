/** Decides how the Pods of one ReplicaSet must change. */
import { matchesLabels, requirementsOf } from "../../api/label-selector.ts";
import { controllerOf } from "../../api/resource.ts";
import { REPLICA_SETS } from "../../api/resource-names.ts";
import type { ReplicaSet } from "../../api/types/apps.ts";
import type { Pod } from "../../api/types/core.ts";
import type { Draft } from "../../api/types/meta.ts";
import { deepEqual } from "../../kernel/json.ts";
import { controllerReference } from "./owned-by.ts";
import { isActive, isAvailable, readySinceMs } from "./pod-state.ts";
import { victimsFirst } from "./victim-order.ts";

export interface ReplicaSetWorld {
	readonly replicaSet: ReplicaSet;
	/** Pods of the namespace that the ReplicaSet controls, or that match its selector and nobody controls. */
	readonly pods: readonly Pod[];
	/** Active Pods of the same owner group by node: all ReplicaSets of one Deployment are a group. */
	readonly podsOnNode: ReadonlyMap<string, number>;
	readonly nowMs: number;
}

export interface ReplicaSetPlan {
	/** Pods without a controller that match: they become this ReplicaSet's. */
	readonly adoptions: readonly Pod[];
	/** How many Pods to make from the template. */
	readonly creates: number;
	readonly deletes: readonly Pod[];
	/** undefined when the stored status is right. */
	readonly status: NonNullable<ReplicaSet["status"]> | undefined;
	/** A ready Pod becomes available by time alone. */
	readonly recheckAfterMs: number | undefined;
}

/** Creates and deletes of one sync, so that a huge ReplicaSet does not hold its worker. Upstream's number. */
const BURST = 500;

export function planReplicaSet(world: ReplicaSetWorld): ReplicaSetPlan {
	const { replicaSet, nowMs } = world;
	const owned = world.pods.filter((pod) => controllerOf(pod)?.uid === replicaSet.metadata.uid);
	const isDeleted = replicaSet.metadata.deletionTimestamp !== undefined;
	const adoptions = isDeleted ? [] : world.pods.filter((pod) => isAdoptable(replicaSet, pod));
	const active = [...owned, ...adoptions].filter(isActive);
	const missing = isDeleted ? 0 : (replicaSet.spec.replicas ?? 1) - active.length;
	const status = statusOf(replicaSet, owned, active, nowMs);
	return {
		adoptions,
		creates: Math.max(0, Math.min(missing, BURST)),
		deletes: missing < 0 ? victims(world, active, Math.min(-missing, BURST)) : [],
		status: deepEqual(status, replicaSet.status) ? undefined : status,
		recheckAfterMs: recheckAfterMs(replicaSet, active, nowMs),
	};
}

function isAdoptable({ spec }: ReplicaSet, pod: Pod): boolean {
	if (controllerOf(pod) !== undefined || !isActive(pod)) return false;
	return matchesLabels(requirementsOf(spec.selector), pod.metadata.labels);
}

function victims(world: ReplicaSetWorld, active: readonly Pod[], count: number): readonly Pod[] {
	return count >= active.length ? active : victimsFirst(active, world).slice(0, count);
}

function statusOf(
	replicaSet: ReplicaSet,
	owned: readonly Pod[],
	active: readonly Pod[],
	nowMs: number,
): NonNullable<ReplicaSet["status"]> {
	const minReadySeconds = replicaSet.spec.minReadySeconds ?? 0;
	const labels = replicaSet.spec.template?.metadata?.labels ?? {};
	const isFullyLabeled = (pod: Pod): boolean =>
		Object.entries(labels).every(([key, value]) => pod.metadata.labels?.[key] === value);
	const counts = {
		fullyLabeledReplicas: active.filter(isFullyLabeled).length,
		readyReplicas: active.filter((pod) => readySinceMs(pod) !== undefined).length,
		availableReplicas: active.filter((pod) => isAvailable(pod, minReadySeconds, nowMs)).length,
	};
	return {
		replicas: active.length,
		...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
		// A pointer upstream: 0 is printed.
		terminatingReplicas: owned.filter((pod) => !isActive(pod) && pod.metadata.deletionTimestamp !== undefined).length,
		observedGeneration: replicaSet.metadata.generation ?? 1,
		...(replicaSet.status?.conditions === undefined ? {} : { conditions: replicaSet.status.conditions }),
	};
}

function recheckAfterMs({ spec }: ReplicaSet, active: readonly Pod[], nowMs: number): number | undefined {
	const minReadyMs = (spec.minReadySeconds ?? 0) * 1000;
	if (minReadyMs === 0) return undefined;
	const waits = active
		.map((pod) => readySinceMs(pod))
		.filter((sinceMs) => sinceMs !== undefined)
		.map((sinceMs) => sinceMs + minReadyMs - nowMs)
		.filter((waitMs) => waitMs > 0);
	return waits.length === 0 ? undefined : Math.min(...waits);
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
