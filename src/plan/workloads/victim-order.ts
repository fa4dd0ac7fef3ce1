/** Which Pods a ReplicaSet gives up first; each rule counts only where the ones before it tie. */
import type { Pod, PodPhase } from "../../api/types/core.ts";
import { compareStrings } from "../../kernel/order.ts";
import { readySinceMs } from "./pod-state.ts";

export interface VictimContext {
	readonly nowMs: number;
	/** Active Pods of the same owner group on a node: the fuller node gives first. */
	readonly podsOnNode: ReadonlyMap<string, number>;
}

/** What the rules ask of a Pod, found out once. Where it says "rank", smaller goes first. */
interface Candidate {
	readonly pod: Pod;
	readonly assignedRank: number;
	readonly phaseRank: number;
	readonly readySinceMs: number | undefined;
	readonly deletionCost: number;
	readonly podsOnNode: number;
	readonly restarts: number;
	readonly sidecarRestarts: number;
	readonly createdMs: number;
}

const PHASE_RANK: Readonly<Record<PodPhase, number>> = { Pending: 0, Unknown: 1, Running: 2, Succeeded: 2, Failed: 2 };
const DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";

/** The Pods in the order in which they go. */
export function victimsFirst(pods: readonly Pod[], context: VictimContext): readonly Pod[] {
	return pods
		.map((pod) => candidateOf(pod, context))
		.sort((a, b) => compareCandidates(a, b, context.nowMs))
		.map(({ pod }) => pod);
}

function candidateOf(pod: Pod, { podsOnNode }: VictimContext): Candidate {
	const { nodeName = "" } = pod.spec;
	return {
		pod,
		assignedRank: nodeName === "" ? 0 : 1,
		phaseRank: PHASE_RANK[pod.status?.phase ?? "Pending"],
		readySinceMs: readySinceMs(pod),
		deletionCost: deletionCost(pod),
		podsOnNode: podsOnNode.get(nodeName) ?? 0,
		restarts: maxRestarts(pod.status?.containerStatuses),
		sidecarRestarts: maxRestarts(sidecarStatuses(pod)),
		createdMs: Date.parse(pod.metadata.creationTimestamp),
	};
}

function compareCandidates(a: Candidate, b: Candidate, nowMs: number): number {
	return (
		a.assignedRank - b.assignedRank ||
		a.phaseRank - b.phaseRank ||
		readyRank(a) - readyRank(b) ||
		a.deletionCost - b.deletionCost ||
		b.podsOnNode - a.podsOnNode ||
		compareTimes(a, b, a.readySinceMs, b.readySinceMs, nowMs) ||
		b.restarts - a.restarts ||
		b.sidecarRestarts - a.sidecarRestarts ||
		compareTimes(a, b, a.createdMs, b.createdMs, nowMs) ||
		compareStrings(a.pod.metadata.uid, b.pod.metadata.uid)
	);
}

function readyRank(candidate: Candidate): number {
	return candidate.readySinceMs === undefined ? 0 : 1;
}

/** An int32; a text that is none (also one with a plus sign or leading zeros) counts as 0. */
function deletionCost(pod: Pod): number {
	const text = pod.metadata.annotations?.[DELETION_COST] ?? "0";
	const cost = /^(0|[1-9]\d*|-\d+)$/.test(text) ? Number(text) : 0;
	return cost === (cost | 0) ? cost : 0;
}

function maxRestarts(statuses: readonly { readonly restartCount: number }[] | undefined): number {
	return (statuses ?? []).reduce((most, { restartCount }) => Math.max(most, restartCount), 0);
}

function sidecarStatuses({ spec, status }: Pod): readonly { readonly restartCount: number }[] {
	const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
	if (sidecars.length === 0) return [];
	return (status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.some((sidecar) => sidecar.name === name));
}

/**
 * The younger one first, on a log scale, so that among Pods of about one age it is not always the youngest:
 * times that differ and are of one rank are told apart by uid. Only equal times leave it to the next rule.
 */
function compareTimes(
	a: Candidate,
	b: Candidate,
	aSinceMs: number | undefined,
	bSinceMs: number | undefined,
	nowMs: number,
): number {
	if (aSinceMs === undefined || bSinceMs === undefined || aSinceMs === bSinceMs) return 0;
	const difference = ageRank(nowMs - aSinceMs) - ageRank(nowMs - bSinceMs);
	return difference || compareStrings(a.pod.metadata.uid, b.pod.metadata.uid);
}

function ageRank(ageMs: number): number {
	return ageMs <= 0 ? -1 : Math.floor(Math.log2(ageMs * 1_000_000));
}
