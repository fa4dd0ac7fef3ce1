/** When a Pod has to leave a node that is tainted NoExecute. */
import type { Node, Pod, PodStatus, Taint, Toleration } from "../../api/types/core.ts";
import type { Condition } from "../../api/types/meta.ts";
import { timestamp } from "../timestamp.ts";
import { isTolerated } from "../workloads/scheduling.ts";

export type Eviction =
	/** It may stay as things are. */
	{ readonly kind: "none" } | { readonly kind: "later"; readonly atMs: number } | { readonly kind: "now" };

/** The shortest of the times for which it tolerates the taints; not at all when it does not tolerate one of them. */
export function evictionOf(pod: Pod, node: Node, nowMs: number): Eviction {
	const taints = (node.spec?.taints ?? []).filter(({ effect }) => effect === "NoExecute");
	if (taints.length === 0 || pod.metadata.deletionTimestamp !== undefined) return { kind: "none" };
	const used = taints.map((taint) => tolerationsOf(pod, taint));
	if (used.some((tolerations) => tolerations.length === 0)) return { kind: "now" };
	const seconds = used.flat().map(({ tolerationSeconds }) => tolerationSeconds ?? Number.POSITIVE_INFINITY);
	const atMs = sinceMs(pod, taints) + Math.max(0, Math.min(...seconds)) * 1000;
	if (atMs === Number.POSITIVE_INFINITY) return { kind: "none" };
	return atMs <= nowMs ? { kind: "now" } : { kind: "later", atMs };
}

function tolerationsOf({ spec }: Pod, taint: Taint): readonly Toleration[] {
	return (spec.tolerations ?? []).filter((toleration) => isTolerated(toleration, taint));
}

/** Since when the Pod has borne the taints: it may be younger than they are. */
function sinceMs({ metadata }: Pod, taints: readonly Taint[]): number {
	const times = [metadata.creationTimestamp, ...taints.map(({ timeAdded }) => timeAdded ?? "")];
	return Math.max(...times.map((time) => Date.parse(time)).filter((ms) => !Number.isNaN(ms)));
}

/** The status with the condition that says why the Pod is taken away. */
export function disruptedStatus(
	{ metadata, status }: Pod,
	why: { readonly reason: string; readonly message: string },
	nowMs: number,
): PodStatus {
	const condition: Condition = {
		type: "DisruptionTarget",
		status: "True",
		...why,
		lastProbeTime: null,
		lastTransitionTime: timestamp(nowMs),
		...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
	};
	const others = (status?.conditions ?? []).filter(({ type }) => type !== condition.type);
	return { ...status, conditions: [...others, condition] };
}
