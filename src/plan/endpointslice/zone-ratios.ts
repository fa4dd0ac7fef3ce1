/** How much of the cluster's CPU each zone has: what `topology-mode: Auto` shares endpoints out by. */
import { nanosOfQuantity } from "../../api/quantity.ts";
import type { Node } from "../../api/types/core.ts";
import type { HintsMemory } from "./hints.ts";

/** Shares of the zones, adding up to 1; undefined when the nodes do not tell enough. Empty before the first look. */
export type ZoneRatios = ReadonlyMap<string, number> | undefined;

/** No zone gets so few endpoints that each would carry more than a fifth above its share. */
export const OVERLOAD_THRESHOLD = 0.2;

const ZONE_LABEL = "topology.kubernetes.io/zone";
const CONTROL_PLANE_LABELS = ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"];

export function zoneRatiosOf(nodes: Iterable<Node>): ZoneRatios {
	const nanoCPU = new Map<string, bigint>();
	let total = 0n;
	for (const node of nodes) {
		if (!takesPart(node)) continue;
		const zone = node.metadata.labels?.[ZONE_LABEL] ?? "";
		const cpu = nanosOfQuantity(node.status?.allocatable?.["cpu"] ?? "0") ?? 0n;
		if (zone === "" || cpu === 0n) return undefined;
		nanoCPU.set(zone, (nanoCPU.get(zone) ?? 0n) + cpu);
		total += cpu;
	}
	if (total === 0n || nanoCPU.size < 2) return undefined;
	const sorted = [...nanoCPU].sort(([a], [b]) => (a < b ? -1 : 1));
	return new Map(sorted.map(([zone, cpu]) => [zone, milliOf(cpu) / milliOf(total)]));
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

/** Thousandths of a CPU, a part of one counts as one. */
function milliOf(nanoCPU: bigint): number {
	return Number((nanoCPU + 999_999n) / 1_000_000n);
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
