/** Which node a Pod goes to: the one with the fewest Pods of the same workload, then the fewest of all. */
import { controllerOf } from "../../api/resource.ts";
import type { Node, Pod, Taint, Toleration } from "../../api/types/core.ts";
import { compareStrings, groupBy } from "../../kernel/order.ts";
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
}

export type Placement =
	| { readonly kind: "bind"; readonly nodeName: string }
	/** Why no node takes it, as kube-scheduler words it. */
	| { readonly kind: "unschedulable"; readonly message: string };

/** Pods of a node that says nothing of its own capacity. */
const DEFAULT_MAX_PODS = 110;

/** Spreads siblings first, then all Pods; among equals the node that is first by name. */
export function placePod(world: SchedulingWorld): Placement {
	let best: Fit | undefined;
	for (const node of world.nodes) {
		const load = world.podsOn(node.metadata.name);
		if (refusalOf(node, world.pod, load) !== undefined) continue;
		if (best === undefined || compareFits({ node, load }, best) < 0) best = { node, load };
	}
	if (best !== undefined) return { kind: "bind", nodeName: best.node.metadata.name };
	return { kind: "unschedulable", message: messageOf(world) };
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

function messageOf({ nodes, pod, podsOn }: SchedulingWorld): string {
	if (nodes.length === 0) return "no nodes available to schedule pods";
	const refusals = groupBy(nodes, (node) => refusalOf(node, pod, podsOn(node.metadata.name)) ?? "");
	const reasons = [...refusals].map(([why, refused]) => `${refused.length} ${why}`).sort(compareStrings);
	return `0/${nodes.length} nodes are available: ${reasons.join(", ")}.`;
}

function refusalOf(node: Node, pod: Pod, { count }: NodeLoad): string | undefined {
	if (node.metadata.deletionTimestamp !== undefined) return "node(s) were being deleted";
	if (node.spec?.unschedulable === true && !tolerates(pod, UNSCHEDULABLE)) return "node(s) were unschedulable";
	const taint = (node.spec?.taints ?? []).find((t) => t.effect !== "PreferNoSchedule" && !tolerates(pod, t));
	if (taint !== undefined) return "node(s) had untolerated taint(s)";
	if (!matchesNodeSelector(node, pod)) return "node(s) didn't match Pod's node affinity/selector";
	return count >= maxPods(node) ? "Too many pods" : undefined;
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
