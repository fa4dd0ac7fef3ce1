/**
 * `topology-mode: Auto`: hints in proportion to the CPU of the zones. An endpoint serves its own zone, unless that
 * has more endpoints than its share and another has fewer.
 */
import type { Endpoint, EndpointSlice } from "../../api/types/discovery.ts";
import { assertDefined } from "../../kernel/assert.ts";
import type { FamilySlices } from "./hints.ts";
import { isReady } from "./traffic-distribution.ts";
import { minimumOf, type ZoneRatios } from "./zone-ratios.ts";

export type TopologyHints =
	| { readonly kind: "hinted"; readonly slices: FamilySlices; readonly allocated: ReadonlyMap<string, number> }
	/** No hints at all; `why` in upstream's words. */
	| { readonly kind: "failed"; readonly why: string };

interface Allocation {
	readonly desired: number;
	readonly maximum: number;
}

type Allocations = ReadonlyMap<string, Allocation>;
type Counts = Map<string, number>;

const NO_NODE_DATA = "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes";

export function topologyHints(slices: FamilySlices, ratios: ZoneRatios): TopologyHints {
	const every = [...slices.creates, ...slices.updates, ...slices.unchanged];
	const ready = every.reduce((count, slice) => count + readyOf(slice).length, 0);
	const allocations = allocationsFor(ready, ratios);
	if (typeof allocations === "string") return { kind: "failed", why: allocations };

	const allocated: Counts = new Map();
	const { kept, outdated } = keptSlices(slices.unchanged, allocations, allocated);
	const work = [...slices.creates, ...slices.updates, ...outdated];
	if (work.some((slice) => readyOf(slice).some(({ zone = "" }) => zone === ""))) {
		return { kind: "failed", why: "One or more endpoints do not have a zone specified" };
	}
	for (const slice of work) for (const { zone = "" } of readyOf(slice)) add(allocated, zone, 1);
	const moves = new Moves(allocations, allocated);
	const creates = slices.creates.map((slice) => hinted(slice, moves));
	const updates = [...slices.updates, ...outdated].map((slice) => hinted(slice, moves));
	if (allocated.size === 0) return { kind: "failed", why: "No hints allocated for zones" };
	return { kind: "hinted", slices: { creates, updates, unchanged: kept }, allocated };
}

function readyOf({ endpoints }: Pick<EndpointSlice, "endpoints">): readonly Endpoint[] {
	return (endpoints ?? []).filter(isReady);
}

function add(counts: Counts, zone: string, by: number): void {
	counts.set(zone, (counts.get(zone) ?? 0) + by);
}

/** How many endpoints each zone should have, or why that cannot be said. */
function allocationsFor(ready: number, ratios: ZoneRatios): Allocations | string {
	if (ratios === undefined) return NO_NODE_DATA;
	const zones = ratios.size;
	if (zones < 2) return "Nodes only ready in one zone";
	if (zones > ready) return `Insufficient number of endpoints (${ready} endpoints, ${zones} zones)`;
	const minimums = [...ratios].map(([zone, ratio]) => ({
		zone,
		desired: ratio * ready,
		minimum: minimumOf(ratio * ready),
	}));
	const spare = ready - minimums.reduce((sum, { minimum }) => sum + minimum, 0);
	if (spare < 0) {
		const counts = `(${ready} endpoints, ${zones} zones)`;
		return `Unable to allocate minimum required endpoints to each zone without exceeding overload threshold ${counts}`;
	}
	return new Map(
		minimums.map(({ zone, desired, minimum }) => [
			zone,
			{ desired: Math.max(desired, minimum), maximum: minimum + spare },
		]),
	);
}

/** Slices whose hints still fit stay unwritten; their hints count. */
function keptSlices(
	unchanged: readonly EndpointSlice[],
	allocations: Allocations,
	allocated: Counts,
): { readonly kept: readonly EndpointSlice[]; readonly outdated: readonly EndpointSlice[] } {
	const kept: EndpointSlice[] = [];
	const outdated: EndpointSlice[] = [];
	for (const slice of unchanged) {
		const counts = hintsByZone(slice);
		if (counts === undefined || !fits(counts, allocations, allocated)) outdated.push(slice);
		else {
			kept.push(slice);
			for (const [zone, count] of counts) add(allocated, zone, count);
		}
	}
	return { kept, outdated };
}

/** undefined when a ready endpoint has no hint. */
function hintsByZone(slice: EndpointSlice): Counts | undefined {
	const counts: Counts = new Map();
	for (const { hints } of readyOf(slice)) {
		const zones = hints?.forZones ?? [];
		if (zones.length === 0) return undefined;
		for (const { name } of zones) add(counts, name, 1);
	}
	return counts;
}

function fits(counts: Counts, allocations: Allocations, allocated: Counts): boolean {
	return [...counts].every(([zone, count]) => {
		const allocation = allocations.get(zone);
		return allocation !== undefined && (allocated.get(zone) ?? 0) + count <= allocation.maximum;
	});
}

function hinted<S extends Pick<EndpointSlice, "endpoints">>(slice: S, moves: Moves): S {
	const endpoints = (slice.endpoints ?? []).map((endpoint) => {
		if (!isReady(endpoint)) return endpoint;
		return { ...endpoint, hints: { forZones: [{ name: moves.zoneFor(endpoint.zone ?? "") }] } };
	});
	return { ...slice, endpoints };
}

/** Endpoints that zones above their share give to zones below it. */
class Moves {
	readonly #giving: Counts = new Map();
	readonly #receiving: Counts = new Map();
	readonly #allocated: Counts;

	constructor(allocations: Allocations, allocated: Counts) {
		this.#allocated = allocated;
		const surplus: Counts = new Map();
		const deficit: Counts = new Map();
		for (const [zone, { desired }] of allocations) {
			const difference = (allocated.get(zone) ?? 0) - desired;
			if (difference > 0) surplus.set(zone, difference);
			if (difference < 0) deficit.set(zone, -difference);
		}
		this.#pair(surplus, deficit);
	}

	/** The zone that an endpoint of this zone is to serve. */
	zoneFor(own: string): string {
		if ((this.#giving.get(own) ?? 0) <= 0) return own;
		const receiver = [...this.#receiving].find(([, left]) => left > 0)?.[0];
		if (receiver === undefined) return own;
		add(this.#giving, own, -1);
		add(this.#receiving, receiver, -1);
		add(this.#allocated, own, -1);
		add(this.#allocated, receiver, 1);
		return receiver;
	}

	/** Whole endpoints, from the largest surplus to the largest deficit, while it brings both nearer to their share. */
	#pair(surplus: Counts, deficit: Counts): void {
		for (;;) {
			const [giver, receiver] = [largest(surplus), largest(deficit)];
			if (giver === undefined || receiver === undefined) return;
			const [more, less] = [
				assertDefined(surplus.get(giver), "surplus"),
				assertDefined(deficit.get(receiver), "deficit"),
			];
			if ((more < 1 && less < 1) || more < 0.5 || less < 0.5) return;
			add(surplus, giver, -1);
			add(deficit, receiver, -1);
			add(this.#giving, giver, 1);
			add(this.#receiving, receiver, 1);
		}
	}
}

/** Ties go to the first zone by name. */
function largest(counts: Counts): string | undefined {
	let found: string | undefined;
	let most = Number.NEGATIVE_INFINITY;
	for (const [zone, count] of counts) {
		if (count <= most) continue;
		found = zone;
		most = count;
	}
	return found;
}
