/** Which node a Pod goes to: the one with the fewest Pods of the same workload, then the fewest of all. */
import { controllerOf } from "../../api/resource.ts";
import type { Node, Pod, Taint, Toleration } from "../../api/types/core.ts";
import { compareStrings, groupBy } from "../../kernel/order.ts";
import { matchesNodeAffinity } from "./node-affinity.ts";
import { type Demand, demandOf, hasPortConflict, insufficientOf } from "./pod-demand.ts";
import { hasEnded } from "./pod-state.ts";

export interface SchedulingWorld {
	readonly pod: Pod;
	readonly nodes: readonly Node[];
	/** Pods that are bound to the node and have not ended. */
	readonly podsOn: (nodeName: string) => NodeLoad;
}

export interface NodeLoad {
	readonly count: number;
	/** Those of the same controller as the Pod's. */
	readonly siblings: number;
	/** What they all ask of the node together; undefined when nothing. */
	readonly demand?: Demand | undefined;
}

export type Placement =
	| { readonly kind: "bind"; readonly nodeName: string }
	/** Why no node takes it, as kube-scheduler words it. */
	| { readonly kind: "unschedulable"; readonly message: string };

/** Pods of a node that says nothing of its own capacity. */
const DEFAULT_MAX_PODS = 110;

/** Spreads siblings first, then all Pods; among equals the node that is first by name. */
export function placePod(world: SchedulingWorld): Placement {
	const wish: Wish = { pod: world.pod, demand: demandOf(world.pod) };
	let best: Fit | undefined;
	for (const node of world.nodes) {
		const load = world.podsOn(node.metadata.name);
		if (refusalsOf(node, wish, load).length > 0) continue;
		if (best === undefined || compareFits({ node, load }, best) < 0) best = { node, load };
	}
	if (best !== undefined) return { kind: "bind", nodeName: best.node.metadata.name };
	return { kind: "unschedulable", message: messageOf(world, wish) };
}

interface Wish {
	readonly pod: Pod;
	readonly demand: Demand | undefined;
}

interface Fit {
	readonly node: Node;
	readonly load: NodeLoad;
}

function compareFits(a: Fit, b: Fit): number {
	return (
		a.load.siblings - b.load.siblings ||
		a.load.count - b.load.count ||
		compareStrings(a.node.metadata.name, b.node.metadata.name)
	);
}

function messageOf({ nodes, podsOn }: SchedulingWorld, wish: Wish): string {
	if (nodes.length === 0) return "no nodes available to schedule pods";
	const refusals = nodes.flatMap((node) => refusalsOf(node, wish, podsOn(node.metadata.name)));
	const reasons = [...groupBy(refusals, (why) => why)]
		.map(([why, refused]) => `${refused.length} ${why}`)
		.sort(compareStrings);
	return `0/${nodes.length} nodes are available: ${reasons.join(", ")}.`;
}

const NO_REFUSALS: readonly string[] = [];

/** What a node is short of is told in full; of all else the first reason is enough. */
function refusalsOf(node: Node, { pod, demand }: Wish, load: NodeLoad): readonly string[] {
	const refusal = refusalOf(node, pod);
	if (refusal !== undefined) return [refusal];
	if (demand !== undefined && hasPortConflict(demand, load.demand)) {
		return ["node(s) didn't have free ports for the requested pod ports"];
	}
	const isFull = load.count >= maxPods(node);
	if (demand === undefined) return isFull ? ["Too many pods"] : NO_REFUSALS;
	const insufficient = insufficientOf(demand, load.demand, node.status?.allocatable);
	return isFull ? ["Too many pods", ...insufficient] : insufficient;
}

function refusalOf(node: Node, pod: Pod): string | undefined {
	if (node.metadata.deletionTimestamp !== undefined) return "node(s) were being deleted";
	if (node.spec?.unschedulable === true && !tolerates(pod, UNSCHEDULABLE)) return "node(s) were unschedulable";
	const taint = (node.spec?.taints ?? []).find((t) => t.effect !== "PreferNoSchedule" && !tolerates(pod, t));
	if (taint !== undefined) return "node(s) had untolerated taint(s)";
	const isChosen = matchesNodeSelector(node, pod) && matchesNodeAffinity(node, pod);
	return isChosen ? undefined : "node(s) didn't match Pod's node affinity/selector";
}

const UNSCHEDULABLE: Taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

function tolerates(pod: Pod, taint: Taint): boolean {
	return (pod.spec.tolerations ?? []).some((toleration) => isTolerated(toleration, taint));
}

/** An empty key with Exists tolerates everything, an empty effect every effect. */
export function isTolerated(
	{ key = "", operator = "Equal", value = "", effect = "" }: Toleration,
	taint: Taint,
): boolean {
	if (effect !== "" && effect !== taint.effect) return false;
	if (key !== "" && key !== taint.key) return false;
	return operator === "Exists" || (key !== "" && value === (taint.value ?? ""));
}

function matchesNodeSelector({ metadata }: Node, { spec }: Pod): boolean {
	return Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => metadata.labels?.[key] === value);
}

function maxPods({ status }: Node): number {
	const pods = Number(status?.allocatable?.["pods"] ?? status?.capacity?.["pods"] ?? DEFAULT_MAX_PODS);
	return Number.isFinite(pods) ? pods : DEFAULT_MAX_PODS;
}

/** Whether the scheduler has something to do for this Pod. */
export function wantsNode(pod: Pod): boolean {
	const { nodeName = "", schedulingGates = [], schedulerName = "default-scheduler" } = pod.spec;
	if (nodeName !== "" || schedulingGates.length > 0 || schedulerName !== "default-scheduler") return false;
	return pod.metadata.deletionTimestamp === undefined && !hasEnded(pod);
}

/** Pods of one controller are spread; a Pod without one has no siblings. */
export function siblingGroupOf(pod: Pod): string {
	return controllerOf(pod)?.uid ?? pod.metadata.uid;
}
