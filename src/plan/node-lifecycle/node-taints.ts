/**
 * The taints that say what a node's conditions mean for Pods: NoSchedule keeps new ones away, NoExecute drives
 * away those that are there.
 *
 * @see https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/#taint-based-evictions
 */
import type { Node, Taint } from "../../api/types/core.ts";
import type { Condition } from "../../api/types/meta.ts";
import { deepEqual } from "../../kernel/json.ts";
import { timestamp } from "../timestamp.ts";
import { readyStatusOf } from "./node-health.ts";

const NOT_READY = "node.kubernetes.io/not-ready";
const UNREACHABLE = "node.kubernetes.io/unreachable";
const UNSCHEDULABLE = "node.kubernetes.io/unschedulable";

const PRESSURES: Readonly<Record<string, string>> = {
	MemoryPressure: "node.kubernetes.io/memory-pressure",
	DiskPressure: "node.kubernetes.io/disk-pressure",
	NetworkUnavailable: "node.kubernetes.io/network-unavailable",
	PIDPressure: "node.kubernetes.io/pid-pressure",
};

/** Taints of others are not touched. */
const NO_SCHEDULE_KEYS: ReadonlySet<string> = new Set([
	NOT_READY,
	UNREACHABLE,
	UNSCHEDULABLE,
	...Object.values(PRESSURES),
]);
const NO_EXECUTE_KEYS: ReadonlySet<string> = new Set([NOT_READY, UNREACHABLE]);

export interface TaintPolicy {
	/** False while no node at all is ready: then the fault is likely to be elsewhere, and nobody is driven away. */
	readonly evicts: boolean;
	readonly nowMs: number;
}

/** The node's taints as they should be; undefined when they are. One that stays keeps its time. */
export function wantedTaints(node: Node, { evicts, nowMs }: TaintPolicy): readonly Taint[] | undefined {
	const before = node.spec?.taints ?? [];
	const foreign = before.filter((taint) => !isOwn(taint));
	const own = [...noScheduleKeys(node).map((key) => noSchedule(key)), ...noExecute(node, evicts)].map((taint) => {
		const known = before.find(({ key, effect }) => key === taint.key && effect === taint.effect);
		return known ?? { ...taint, timeAdded: timestamp(nowMs) };
	});
	const ordered = [...before.filter((taint) => foreign.includes(taint) || own.includes(taint))];
	const wanted = [...ordered, ...own.filter((taint) => !ordered.includes(taint))];
	return deepEqual(wanted, before) ? undefined : wanted;
}

function isOwn({ key, effect }: Taint): boolean {
	if (effect === "NoSchedule") return NO_SCHEDULE_KEYS.has(key);
	return effect === "NoExecute" && NO_EXECUTE_KEYS.has(key);
}

function noSchedule(key: string): Taint {
	return { key, effect: "NoSchedule" };
}

function noScheduleKeys({ spec, status }: Node): readonly string[] {
	const conditions = status?.conditions ?? [];
	const ready = conditions.find(({ type }) => type === "Ready");
	return [
		...(ready === undefined ? [] : readinessKeys(ready.status)),
		...conditions.filter((condition) => condition.status === "True").flatMap(pressureKey),
		...(spec?.unschedulable === true ? [UNSCHEDULABLE] : []),
	];
}

function pressureKey({ type }: Condition): readonly string[] {
	const key = Object.hasOwn(PRESSURES, type) ? PRESSURES[type] : undefined;
	return key === undefined ? [] : [key];
}

/** A node that says it is not ready, and one that says nothing. */
function readinessKeys(status: Condition["status"]): readonly string[] {
	if (status === "True") return [];
	return [status === "False" ? NOT_READY : UNREACHABLE];
}

function noExecute(node: Node, evicts: boolean): readonly Taint[] {
	return evicts ? readinessKeys(readyStatusOf(node)).map((key) => ({ key, effect: "NoExecute" })) : [];
}
