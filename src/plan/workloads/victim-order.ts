/** Which Pods a ReplicaSet gives up first; each rule counts only where the ones before it tie. */
import type { Pod, PodPhase } from "../../api/types/core.ts";
import { compareStrings } from "../../kernel/order.ts";
import { readySinceMs } from "./pod-state.ts";

export interface VictimContext {
	readonly nowMs: number;
	/** Active Pods of the same owner group on a node: the fuller node gives first. */
	readonly podsOnNode: ReadonlyMap<string, number>;
}

type Rank = (pod: Pod, context: VictimContext) => number;

const PHASE_RANK: Readonly<Record<PodPhase, number>> = { Pending: 0, Unknown: 1, Running: 2, Succeeded: 2, Failed: 2 };
const DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";

/** Smaller goes first. */
const RULES: readonly Rank[] = [
	(pod) => (pod.spec.nodeName === undefined || pod.spec.nodeName === "" ? 0 : 1),
	(pod) => PHASE_RANK[pod.status?.phase ?? "Pending"],
	(pod) => (readySinceMs(pod) === undefined ? 0 : 1),
	deletionCost,
	(pod, { podsOnNode }) => -(podsOnNode.get(pod.spec.nodeName ?? "") ?? 0),
	(pod, { nowMs }) => logScale(nowMs, readySinceMs(pod)),
	(pod) => -Math.max(0, ...(pod.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount)),
	(pod, { nowMs }) => logScale(nowMs, Date.parse(pod.metadata.creationTimestamp)),
];

/** The Pods in the order in which they go. */
export function victimsFirst(pods: readonly Pod[], context: VictimContext): readonly Pod[] {
	return pods
		.map((pod) => ({ pod, ranks: RULES.map((rule) => rule(pod, context)) }))
		.sort((a, b) => compareRanks(a.ranks, b.ranks) || compareStrings(a.pod.metadata.uid, b.pod.metadata.uid))
		.map(({ pod }) => pod);
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
	for (const [index, rank] of a.entries()) {
		const difference = rank - (b[index] ?? 0);
		if (difference !== 0) return difference;
	}
	return 0;
}

/** An int32; a text that is none (also one with a plus sign or leading zeros) counts as 0. */
function deletionCost(pod: Pod): number {
	const text = pod.metadata.annotations?.[DELETION_COST] ?? "0";
	const cost = Number(text);
	return /^(0|-?[1-9]\d*)$/.test(text) && Math.abs(cost) < 2 ** 31 ? cost : 0;
}

/** Ages on a log scale, so that among Pods of about one age the choice is not always the youngest. */
function logScale(nowMs: number, sinceMs: number | undefined): number {
	if (sinceMs === undefined) return 0;
	const nanoseconds = Math.max(1, (nowMs - sinceMs) * 1_000_000);
	return Math.floor(Math.log2(nanoseconds));
}
