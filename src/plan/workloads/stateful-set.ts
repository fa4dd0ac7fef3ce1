/**
 * Decides how the pods of one StatefulSet must change.
 *
 * In order, by default: a pod is made when those before it are available, and goes when those behind it have
 * gone; one is replaced at a time, the last first. A pod is never made while an older one of its name is there.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/
 */
import type { ControllerRevision, StatefulSet, StatefulSetStatus } from "../../api/types/apps.ts";
import type { Pod } from "../../api/types/core.ts";
import type { Draft, StringMap } from "../../api/types/meta.ts";
import { deepEqual } from "../../kernel/json.ts";
import { isTerminating } from "../pod-facts.ts";
import { hasEnded, isActive, readySinceMs } from "./pod-state.ts";
import { missingIdentity, ordinalOf, podOf, revisionNameOf } from "./stateful-set-pod.ts";
import { outdatedRevisions, type RevisionChange, type Revisions, revisionsOf } from "./stateful-set-revisions.ts";
import { isRunningAndAvailable, isRunningAndReady, statefulSetStatus } from "./stateful-set-status.ts";

export interface StatefulSetWorld {
	readonly set: StatefulSet;
	/** Pods that the set controls. Those whose name is none of the set's play no part. */
	readonly pods: readonly Pod[];
	/** ControllerRevisions that the set controls. */
	readonly revisions: readonly ControllerRevision[];
	readonly nowMs: number;
}

export interface StatefulSetPlan {
	/** Written first: pods carry the revision's name. */
	readonly revision: RevisionChange;
	/** Labels that a pod lacks, such as one that was taken over. */
	readonly relabels: readonly { readonly pod: Pod; readonly labels: StringMap }[];
	readonly creates: readonly Draft<Pod>[];
	readonly deletes: readonly Pod[];
	/** Revisions beyond the history limit. */
	readonly outdated: readonly ControllerRevision[];
	/** undefined when the stored status is right. */
	readonly status: StatefulSetStatus | undefined;
	/** A ready pod becomes available by time alone. */
	readonly recheckAfterMs: number | undefined;
}

interface Members {
	/** By number, from the first on; undefined where there is none. */
	readonly replicas: readonly (Pod | undefined)[];
	/** Pods with numbers that are not wanted, highest first. */
	readonly condemned: readonly Pod[];
}

interface Steps {
	/** Ordinals. */
	readonly creates: readonly number[];
	readonly deletes: readonly Pod[];
}

const NO_STEPS: Steps = { creates: [], deletes: [] };

export function planStatefulSet(world: StatefulSetWorld): StatefulSetPlan {
	const { set, nowMs } = world;
	const isDeleted = set.metadata.deletionTimestamp !== undefined;
	const pods = world.pods.filter((pod) => ordinalOf(set, pod) !== undefined);
	const revisions = revisionsOf(set, world.revisions);
	const members = membersOf(set, pods);
	const steps = isDeleted ? NO_STEPS : stepsOf(world, members, revisions);
	const status = statefulSetStatus(set, pods, revisions, nowMs);
	const used = [status.currentRevision, status.updateRevision, revisions.currentName, ...pods.map(revisionNameOf)];
	return {
		revision: isDeleted ? { kind: "none" } : revisions.change,
		relabels: isDeleted ? [] : pods.flatMap(relabel),
		creates: steps.creates.map((ordinal) => newPod(set, ordinal, revisions)),
		deletes: steps.deletes,
		outdated: isDeleted ? [] : outdatedRevisions(set, world.revisions, new Set(used.map((name) => name ?? ""))),
		status: deepEqual(status, set.status) ? undefined : status,
		recheckAfterMs: recheckAfterMs(set, pods, nowMs),
	};
}

function relabel(pod: Pod): StatefulSetPlan["relabels"] {
	const labels = missingIdentity(pod);
	return labels === undefined || !isRunningAndReady(pod) || isTerminating(pod) ? [] : [{ pod, labels }];
}

function firstOrdinal({ spec }: StatefulSet): number {
	return spec.ordinals?.start ?? 0;
}

function membersOf(set: StatefulSet, pods: readonly Pod[]): Members {
	const replicas: (Pod | undefined)[] = Array.from({ length: set.spec.replicas ?? 1 }, () => undefined);
	const condemned: { readonly pod: Pod; readonly ordinal: number }[] = [];
	for (const pod of pods) {
		const ordinal = ordinalOf(set, pod) ?? -1;
		const index = ordinal - firstOrdinal(set);
		if (index >= 0 && index < replicas.length) replicas[index] = pod;
		else condemned.push({ pod, ordinal });
	}
	condemned.sort((a, b) => b.ordinal - a.ordinal);
	return { replicas, condemned: condemned.map(({ pod }) => pod) };
}

function newPod(set: StatefulSet, ordinal: number, revisions: Revisions): Draft<Pod> {
	const isHeldBack = ordinal < firstOrdinal(set) + partitionOf(set);
	return podOf(
		set,
		ordinal,
		isHeldBack
			? { template: revisions.currentTemplate, revisionName: revisions.currentName }
			: { template: set.spec.template, revisionName: revisions.updateName },
	);
}

/** Pods below this number stay at the current revision. */
function partitionOf({ spec }: StatefulSet): number {
	return spec.updateStrategy?.type === "OnDelete" ? 0 : (spec.updateStrategy?.rollingUpdate?.partition ?? 0);
}

function stepsOf(world: StatefulSetWorld, members: Members, { updateName }: Revisions): Steps {
	return world.set.spec.podManagementPolicy === "Parallel"
		? parallelSteps(world, members, updateName)
		: orderedStep(world, members, updateName);
}

/** One step, or none while something must be waited for. */
function orderedStep(world: StatefulSetWorld, members: Members, updateName: string): Steps {
	const { set, nowMs } = world;
	const replicaStep = firstReplicaStep(world, members);
	if (replicaStep !== undefined) return replicaStep;
	const [victim] = members.condemned;
	if (victim === undefined) return deleting(outdatedPod(world, members, updateName));
	// Nothing else may go while a pod is not healthy, unless it is that one.
	const mayGo = isRunningAndAvailable(victim, set, nowMs) || victim === firstUnhealthy(members);
	return deleting(!isTerminating(victim) && mayGo ? victim : undefined);
}

/** What the first pod that is not as it should be needs; undefined when all of them are available. */
function firstReplicaStep({ set, nowMs }: StatefulSetWorld, { replicas }: Members): Steps | undefined {
	for (const [index, pod] of replicas.entries()) {
		if (pod === undefined) return { creates: [firstOrdinal(set) + index], deletes: [] };
		if (hasEnded(pod)) return deleting(isTerminating(pod) ? undefined : pod);
		if (isTerminating(pod) || !isRunningAndAvailable(pod, set, nowMs)) return NO_STEPS;
	}
	return undefined;
}

function deleting(pod: Pod | undefined): Steps {
	return pod === undefined ? NO_STEPS : { creates: [], deletes: [pod] };
}

/** Of those that are wanted, from the first on, then of the others in the same order. */
function firstUnhealthy({ replicas, condemned }: Members): Pod | undefined {
	return [...replicas, ...condemned.toReversed()].find(
		(pod) => pod !== undefined && (!isRunningAndReady(pod) || isTerminating(pod)),
	);
}

/** Everything at once; only replacing goes on one by one. */
function parallelSteps(world: StatefulSetWorld, members: Members, updateName: string): Steps {
	const { set } = world;
	const creates = members.replicas.flatMap((pod, index) => (pod === undefined ? [firstOrdinal(set) + index] : []));
	const ended = members.replicas.filter((pod): pod is Pod => pod !== undefined && hasEnded(pod));
	const gone = [...ended, ...members.condemned].filter((pod) => !isTerminating(pod));
	const replaced = outdatedPod(world, members, updateName);
	return { creates, deletes: replaced === undefined || gone.includes(replaced) ? gone : [...gone, replaced] };
}

/** The pod to be replaced next, from the last one down to the partition; each waits for the one before it. */
function outdatedPod({ set, nowMs }: StatefulSetWorld, { replicas }: Members, updateName: string): Pod | undefined {
	if (set.spec.updateStrategy?.type === "OnDelete") return undefined;
	for (let index = replicas.length - 1; index >= partitionOf(set); index--) {
		const pod = replicas[index];
		if (pod === undefined) return undefined;
		if (revisionNameOf(pod) !== updateName && !isTerminating(pod)) return pod;
		if (isTerminating(pod) || !isRunningAndAvailable(pod, set, nowMs)) return undefined;
	}
	return undefined;
}

function recheckAfterMs({ spec }: StatefulSet, pods: readonly Pod[], nowMs: number): number | undefined {
	const minReadyMs = (spec.minReadySeconds ?? 0) * 1000;
	if (minReadyMs === 0) return undefined;
	const waits = pods
		.filter(isActive)
		.map((pod) => readySinceMs(pod))
		.filter((sinceMs) => sinceMs !== undefined)
		.map((sinceMs) => sinceMs + minReadyMs - nowMs)
		.filter((waitMs) => waitMs > 0);
	return waits.length === 0 ? undefined : Math.min(...waits);
}
