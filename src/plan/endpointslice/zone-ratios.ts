/** How much of the cluster's CPU each zone has: what `topology-mode: Auto` shares endpoints out by. */
import type { Node } from "../../api/types/core.ts";
import type { HintsMemory } from "./hints.ts";

/** Shares of the zones, adding up to 1; undefined when the nodes do not tell enough. Empty before the first look. */
export type ZoneRatios = ReadonlyMap<string, number> | undefined;

/** No zone gets so few endpoints that each would carry more than a fifth above its share. */
export const OVERLOAD_THRESHOLD = 0.2;

const ZONE_LABEL = "topology.kubernetes.io/zone";
const CONTROL_PLANE_LABELS = ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"];

export function zoneRatiosOf(nodes: Iterable<Node>): ZoneRatios {
	const milliCPU = new Map<string, number>();
	let total = 0;
	for (const node of nodes) {
		if (!takesPart(node)) continue;
		const zone = node.metadata.labels?.[ZONE_LABEL] ?? "";
		const cpu = milliCPUOf(node.status?.allocatable?.["cpu"]);
		if (zone === "" || cpu === 0) return undefined;
		milliCPU.set(zone, (milliCPU.get(zone) ?? 0) + cpu);
		total += cpu;
	}
	if (total === 0 || milliCPU.size < 2) return undefined;
	return new Map([...milliCPU].sort(([a], [b]) => (a < b ? -1 : 1)).map(([zone, cpu]) => [zone, cpu / total]));
}

function takesPart(node: Node): boolean {
	const labels = node.metadata.labels ?? {};
	return isReadyNode(node) && !CONTROL_PLANE_LABELS.some((label) => Object.hasOwn(labels, label));
}

function isReadyNode({ status }: Node): boolean {
	return (status?.conditions ?? []).some(({ type, status: value }) => type === "Ready" && value === "True");
}

/** Whether a change of the node can change the ratios that are looked at: CPU alone is not. */
export function changesTopology(old: Node, node: Node): boolean {
	return (
		isReadyNode(old) !== isReadyNode(node) || old.metadata.labels?.[ZONE_LABEL] !== node.metadata.labels?.[ZONE_LABEL]
	);
}

const UNITS: Readonly<Record<string, number>> = { "": 1000, m: 1, k: 1_000_000 };

/** Thousandths of a CPU; 0 for what is missing or no quantity. */
function milliCPUOf(quantity: string | undefined): number {
	const [, number, unit = ""] = /^(\d+(?:\.\d+)?)(m|k)?$/.exec(quantity ?? "") ?? [];
	return number === undefined ? 0 : Math.ceil(Number(number) * (UNITS[unit] ?? 0));
}

/** Whether hints that were given before would now load a zone too much: then the Service is planned again. */
export function isOverloaded({ allocated }: HintsMemory, ratios: ZoneRatios): boolean {
	return [...allocated.values()].some((byZone) => {
		if (ratios === undefined || ratios.size === 0) return true;
		const total = [...byZone.values()].reduce((sum, count) => sum + count, 0);
		return [...ratios].some(([zone, ratio]) => {
			const count = byZone.get(zone);
			return count === undefined || count < minimumOf(total * ratio);
		});
	});
}

/** The fewest endpoints that may serve what `desired` endpoints should. */
export function minimumOf(desired: number): number {
	return Math.ceil(desired * (1 / (1 + OVERLOAD_THRESHOLD)));
}
