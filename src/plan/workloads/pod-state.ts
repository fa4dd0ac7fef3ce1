/** What workloads ask of their Pods. */
import type { Pod } from "../../api/types/core.ts";
import { readyConditionOf } from "../pod-facts.ts";

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
	const sinceMs = readySinceMs(pod);
	return sinceMs !== undefined && (minReadySeconds === 0 || sinceMs + minReadySeconds * 1000 <= nowMs);
}
