/** What workloads ask of their Pods. */
import type { Pod } from "../../api/types/core.ts";
import { deepEqual } from "../../kernel/json.ts";
import { isReady, readyConditionOf } from "../pod-facts.ts";

export function hasEnded(pod: Pod): boolean {
	return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

/** Counts towards the size of a workload: neither ended nor being deleted. */
export function isActive(pod: Pod): boolean {
	return !hasEnded(pod) && pod.metadata.deletionTimestamp === undefined;
}

/** Wall time since when the Pod has been Ready; undefined while it is not. */
export function readySinceMs(pod: Pod): number | undefined {
	const condition = readyConditionOf(pod);
	if (condition?.status !== "True") return undefined;
	return Date.parse(condition.lastTransitionTime ?? pod.metadata.creationTimestamp);
}

/** Ready for at least `minReadySeconds`. */
export function isAvailable(pod: Pod, minReadySeconds: number, nowMs: number): boolean {
	if (minReadySeconds === 0) return isReady(pod);
	const sinceMs = readySinceMs(pod);
	return sinceMs !== undefined && sinceMs + minReadySeconds * 1000 <= nowMs;
}

/** Whether a change of a Pod may change what its workload counts, claims or does. */
export function mattersToWorkload(old: Pod, pod: Pod): boolean {
	return (
		isActive(old) !== isActive(pod) ||
		hasEnded(old) !== hasEnded(pod) ||
		!deepEqual(readyConditionOf(old), readyConditionOf(pod)) ||
		!deepEqual(old.metadata.labels, pod.metadata.labels) ||
		!deepEqual(old.metadata.ownerReferences, pod.metadata.ownerReferences)
	);
}
