/** Whether a node is heard of, and what is said of one that is not. */
import type { Lease } from "../../api/types/coordination.ts";
import type { Node, Pod, PodStatus } from "../../api/types/core.ts";
import type { Condition } from "../../api/types/meta.ts";
import { timestamp } from "../timestamp.ts";

/** What a node's last sign of life was, and when it was noticed. */
export interface NodeProbe {
	/** Monotonic: a jump of the wall clock makes no node sick. */
	readonly seenMs: number;
	readonly renewTime: string | undefined;
	readonly heartbeat: string | undefined;
	/** Has had a Lease or a heartbeat: some kubelet, real or simulated, stands for it, and can be missed. */
	readonly hasReporter: boolean;
}

/** A renewed Lease, or a newer heartbeat in the Node, is a sign of life; whatever its clock says. */
export function nextProbe(
	known: NodeProbe | undefined,
	node: Node,
	lease: Lease | undefined,
	nowMs: number,
): NodeProbe {
	const renewTime = lease?.spec?.renewTime;
	const heartbeat = readyOf(node)?.lastHeartbeatTime;
	const isSame = known !== undefined && known.renewTime === renewTime && !isNewer(heartbeat, known.heartbeat);
	const hasReporter = known?.hasReporter === true || lease !== undefined || heartbeat !== undefined;
	return isSame ? known : { seenMs: nowMs, renewTime, heartbeat, hasReporter };
}

function isNewer(heartbeat: string | undefined, known: string | undefined): boolean {
	return heartbeat !== undefined && (known === undefined || heartbeat > known);
}

export function readyOf({ status }: Node): Condition | undefined {
	return status?.conditions?.find(({ type }) => type === "Ready");
}

/** A node without the condition was never heard of. */
export function readyStatusOf(node: Node): Condition["status"] {
	return readyOf(node)?.status ?? "Unknown";
}

/** In upstream's order. */
const WATCHED = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"] as const;

/** The conditions of a node that fell silent: nothing is known any more. undefined when they say so already. */
export function silentConditions(node: Node, nowMs: number): readonly Condition[] | undefined {
	const before = node.status?.conditions ?? [];
	const now = timestamp(nowMs);
	const missing = WATCHED.filter((type) => !before.some((condition) => condition.type === type));
	const isTold = WATCHED.every((type) => before.some((known) => known.type === type && known.status === "Unknown"));
	if (isTold) return undefined;
	return [
		...before.map((condition) => (isWatched(condition) ? silenced(condition, now) : condition)),
		...missing.map(
			(type): Condition => ({
				type,
				status: "Unknown",
				reason: "NodeStatusNeverUpdated",
				message: "Kubelet never posted node status.",
				lastHeartbeatTime: node.metadata.creationTimestamp,
				lastTransitionTime: now,
			}),
		),
	];
}

function isWatched({ type }: Condition): boolean {
	return WATCHED.some((watched) => watched === type);
}

function silenced(condition: Condition, now: string): Condition {
	if (condition.status === "Unknown") return condition;
	return {
		...condition,
		status: "Unknown",
		reason: "NodeStatusUnknown",
		message: "Kubelet stopped posting node status.",
		lastTransitionTime: now,
	};
}

/** The status of a Pod whose node is not ready; undefined when it says that it is not ready anyway. */
export function unreadyStatus({ status }: Pod, nowMs: number): PodStatus | undefined {
	const conditions = status?.conditions ?? [];
	if (!conditions.some(({ type, status: value }) => type === "Ready" && value !== "False")) return undefined;
	return {
		...status,
		conditions: conditions.map((condition) =>
			condition.type === "Ready" ? { ...condition, status: "False", lastTransitionTime: timestamp(nowMs) } : condition,
		),
	};
}
