/** Which node a Pod goes to: the one with the fewest Pods of the same workload, then the fewest of all. */

import { controllerOf } from "../../api/resource.ts";
import type { Node, Pod, Taint, Toleration } from "../../api/types/core.ts";
import { compareStrings } from "../../kernel/order.ts";
import { hasEnded } from "./pod-state.ts";

export interface SchedulingWorld {
	readonly pod: Pod;
	readonly nodes: readonly Node[];
	/** Pods that are bound to the node and have not ended. */
	podsOn(nodeName: string): NodeLoad;
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

export function placePod(world: SchedulingWorld): Placement {
	const refusals = new Map<string, number>();
	const fits: { readonly node: Node; readonly load: NodeLoad }[] = [];
	for (const node of world.nodes) {
		const load = world.podsOn(node.metadata.name);
		const why = refusalOf(node, world.pod, load);
		if (why === undefined) fits.push({ node, load });
		else refusals.set(why, (refusals.get(why) ?? 0) + 1);
	}
	const [best] = fits.sort(
		(a, b) =>
			a.load.siblings - b.load.siblings ||
			a.load.count - b.load.count ||
			compareStrings(a.node.metadata.name, b.node.metadata.name),
	);
	if (best !== undefined) return { kind: "bind", nodeName: best.node.metadata.name };
	return { kind: "unschedulable", message: messageOf(world.nodes.length, refusals) };
}

function messageOf(nodes: number, refusals: ReadonlyMap<string, number>): string {
	if (nodes === 0) return "0/0 nodes are available: no nodes available to schedule pods.";
	const reasons = [...refusals].map(([why, count]) => `${count} ${why}`).sort();
	return `0/${nodes} nodes are available: ${reasons.join(", ")}.`;
}

function refusalOf(node: Node, pod: Pod, { count }: NodeLoad): string | undefined {
	if (node.metadata.deletionTimestamp !== undefined) return "node(s) were being deleted";
	if (node.spec?.unschedulable === true && !tolerates(pod, UNSCHEDULABLE)) return "node(s) were unschedulable";
	const taint = (node.spec?.taints ?? []).find((t) => t.effect !== "PreferNoSchedule" && !tolerates(pod, t));
	if (taint !== undefined) return `node(s) had untolerated taint(s)`;
	if (!matchesNodeSelector(node, pod)) return "node(s) didn't match Pod's node affinity/selector";
	return count >= maxPods(node) ? "Too many pods" : undefined;
}

const UNSCHEDULABLE: Taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

function tolerates(pod: Pod, taint: Taint): boolean {
	return (pod.spec.tolerations ?? []).some((toleration) => isTolerated(toleration, taint));
}

/** An empty key with Exists tolerates everything, an empty effect every effect. */
function isTolerated({ key = "", operator = "Equal", value = "", effect = "" }: Toleration, taint: Taint): boolean {
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
