/** Pods that nobody will ever finish: their node is gone, or they never had one, or they ended long ago. */
import type { Node, Pod } from "../../api/types/core.ts";
import { compareStrings } from "../../kernel/order.ts";
import { hasEnded } from "../workloads/pod-state.ts";
import { readyStatusOf } from "./node-health.ts";

export interface PodGarbageWorld {
	readonly pods: readonly Pod[];
	/** undefined when there is no such Node. */
	readonly node: (name: string) => Node | undefined;
	/** Whether a Node has been absent for so long that it will not come back. */
	readonly isGone: (name: string) => boolean;
	/** Pods that have ended and may stay. */
	readonly endedMax: number;
}

export interface PodGarbage {
	/** Marked as failed, then removed without grace. */
	readonly orphaned: readonly Pod[];
	/** Removed without grace. */
	readonly removed: readonly Pod[];
}

const OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";

export function planPodGarbage(world: PodGarbageWorld): PodGarbage {
	const { pods } = world;
	const orphaned = pods.filter(({ spec }) => (spec.nodeName ?? "") !== "" && world.isGone(spec.nodeName ?? ""));
	const stuck = pods.filter((pod) => !orphaned.includes(pod) && isStuck(pod, world));
	const ended = pods.filter((pod) => hasEnded(pod) && pod.metadata.deletionTimestamp === undefined);
	const excess = ended.length - world.endedMax;
	const oldest = excess > 0 ? [...ended].sort(byAge).slice(0, excess) : [];
	return { orphaned, removed: [...new Set([...stuck, ...oldest])].filter((pod) => !orphaned.includes(pod)) };
}

/** Being deleted, and without a kubelet that could finish it. */
function isStuck({ metadata, spec }: Pod, { node }: PodGarbageWorld): boolean {
	if (metadata.deletionTimestamp === undefined) return false;
	if ((spec.nodeName ?? "") === "") return true;
	const runner = node(spec.nodeName ?? "");
	return (
		runner !== undefined &&
		readyStatusOf(runner) !== "True" &&
		(runner.spec?.taints ?? []).some(({ key }) => key === OUT_OF_SERVICE)
	);
}

function byAge(a: Pod, b: Pod): number {
	return (
		compareStrings(a.metadata.creationTimestamp, b.metadata.creationTimestamp) ||
		compareStrings(a.metadata.name, b.metadata.name)
	);
}

/** What the garbage collector says of a Pod whose node is gone. */
export const NODE_GONE = { reason: "DeletionByPodGC", message: "PodGC: node no longer exists" } as const;
