/**
 * Packs the endpoints of one port group into slices, with as few writes as can be found cheaply:
 *
 *  1. Match: each endpoint stays in the slice that holds it.
 *  2. Fill: newcomers go into slices that are written anyway, fullest first.
 *  3. Spill: if one untouched slice can take all that are left, the fullest such one does; otherwise
 *     new slices are made.
 *
 * Endpoints never move between slices, and slices are never merged: each move would be two more writes
 * to every watcher.
 */
import type { Service } from "../../api/types/core.ts";
import type { Endpoint, EndpointPort, EndpointSlice } from "../../api/types/discovery.ts";
import { identityOf, sameEndpoint } from "./endpoint.ts";
import { sortedPorts } from "./port-group.ts";
import { labelsDiffer, sliceLabels } from "./slice-metadata.ts";

export interface GroupWorld {
	readonly service: Service;
	/** By identity, in the order in which newcomers are placed. */
	readonly desired: ReadonlyMap<string, Endpoint>;
	/** The group's slices that the Service owns, in a fixed order that settles ties. */
	readonly existing: readonly EndpointSlice[];
	readonly endpointsPerSliceMax: number;
}

export interface PackedGroup {
	/** The endpoints of each new slice. */
	readonly creates: readonly (readonly Endpoint[])[];
	readonly updates: readonly EndpointSlice[];
	readonly deletes: readonly EndpointSlice[];
	readonly unchanged: readonly EndpointSlice[];
	/** Endpoints that no slice held, and endpoints that slices held but are not wanted. */
	readonly added: number;
	readonly removed: number;
}

/** A slice, with the endpoints that it is to have. */
export interface Bin {
	readonly slice: EndpointSlice;
	readonly endpoints: Endpoint[];
	readonly removed: number;
	readonly isRelabelled: boolean;
	fate: "unchanged" | "update" | "delete";
}

export function packGroup({ service, desired, existing, endpointsPerSliceMax }: GroupWorld): PackedGroup {
	const homeless = new Map(desired);
	// Taken only once, so that a second copy of an endpoint is dropped.
	const take = (identity: string): Endpoint | undefined => {
		const wanted = homeless.get(identity);
		homeless.delete(identity);
		return wanted;
	};
	const bins = existing.map((slice) => matched(slice, take, service));
	return packBins(bins, [...homeless.values()], service, endpointsPerSliceMax);
}

/** Places newcomers, in their order; `bins` are the group's slices, in the order that settles ties. */
export function packBins(
	bins: readonly Bin[],
	newcomers: Endpoint[],
	service: Service,
	endpointsPerSliceMax: number,
): PackedGroup {
	const added = newcomers.length;
	const updated = bins.filter((bin) => bin.fate === "update");
	updated.sort((a, b) => b.endpoints.length - a.endpoints.length);
	for (const bin of updated) fill(bin.endpoints, newcomers, endpointsPerSliceMax);

	const creates: Endpoint[][] = [];
	while (newcomers.length > 0) {
		const roomy =
			newcomers.length < endpointsPerSliceMax ? bestFit(bins, newcomers.length, endpointsPerSliceMax) : undefined;
		if (roomy !== undefined) roomy.fate = "update";
		const endpoints = roomy?.endpoints ?? [];
		if (roomy === undefined) creates.push(endpoints);
		fill(endpoints, newcomers, endpointsPerSliceMax);
	}
	const withFate = (fate: Bin["fate"]): readonly Bin[] => bins.filter((bin) => bin.fate === fate);
	return {
		creates,
		updates: withFate("update").map((bin) => rewritten(bin, service)),
		deletes: withFate("delete").map((bin) => bin.slice),
		unchanged: withFate("unchanged").map((bin) => bin.slice),
		added,
		removed: bins.reduce((sum, bin) => sum + bin.removed, 0),
	};
}

/** What becomes of a slice before newcomers; `wantedOf` finds what an endpoint is to be, undefined when it must go. */
export function matched(
	slice: EndpointSlice,
	wantedOf: (identity: string) => Endpoint | undefined,
	service: Service,
): Bin {
	const stored = slice.endpoints ?? [];
	const kept: Endpoint[] = [];
	let hasChanged = false;
	for (const endpoint of stored) {
		const wanted = wantedOf(identityOf(endpoint));
		if (wanted === undefined) continue;
		kept.push(wanted);
		hasChanged ||= !sameEndpoint(wanted, endpoint);
	}
	const removed = stored.length - kept.length;
	const isRelabelled = labelsDiffer(slice, service);
	if (hasChanged || removed > 0) {
		return { slice, endpoints: kept, removed, isRelabelled: true, fate: kept.length === 0 ? "delete" : "update" };
	}
	// The stored endpoints stay as they are, with their hints.
	return isRelabelled ? { ...untouched(slice), isRelabelled, fate: "update" } : untouched(slice);
}

export function untouched(slice: EndpointSlice): Bin {
	return { slice, endpoints: [...(slice.endpoints ?? [])], removed: 0, isRelabelled: false, fate: "unchanged" };
}

/** Moves newcomers, first come first, until the slice is full. A slice that has too many takes none. */
function fill(endpoints: Endpoint[], newcomers: Endpoint[], endpointsPerSliceMax: number): void {
	endpoints.push(...newcomers.splice(0, Math.max(0, endpointsPerSliceMax - endpoints.length)));
}

/** The fullest untouched slice that can take all of them. One that could take a part is never used. */
function bestFit(bins: readonly Bin[], count: number, endpointsPerSliceMax: number): Bin | undefined {
	let best: Bin | undefined;
	for (const bin of bins) {
		if (bin.fate !== "unchanged" || bin.endpoints.length + count > endpointsPerSliceMax) continue;
		if (best === undefined || bin.endpoints.length > best.endpoints.length) best = bin;
	}
	return best;
}

/** A slice that only takes newcomers keeps its labels: those that are compared are right already. */
function rewritten({ slice, endpoints, isRelabelled }: Bin, service: Service): EndpointSlice {
	const ports: readonly EndpointPort[] | null = slice.ports === null ? null : sortedPorts(slice.ports);
	const metadata = isRelabelled ? { ...slice.metadata, labels: sliceLabels(service) } : slice.metadata;
	return { ...slice, metadata, endpoints, ports };
}
