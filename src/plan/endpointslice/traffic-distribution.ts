/** Hints by `spec.trafficDistribution`: every ready endpoint names its own zone, or its own node too. */
import type { Endpoint, EndpointHints, EndpointSlice } from "../../api/types/discovery.ts";
import { deepEqual } from "../../kernel/json.ts";
import type { FamilySlices } from "./hints.ts";

const VALUES = ["PreferClose", "PreferSameZone", "PreferSameNode"] as const;
export type TrafficDistribution = (typeof VALUES)[number];

export function isTrafficDistribution(value: string): value is TrafficDistribution {
	return VALUES.some((known) => known === value);
}

/** Stored slices are frozen: one whose hints are right need not be looked at again. */
const KNOWN_RIGHT = new WeakMap<EndpointSlice, TrafficDistribution>();

export function distributionHints(slices: FamilySlices, distribution: TrafficDistribution): FamilySlices {
	const isRight = (slice: EndpointSlice): boolean => {
		if (KNOWN_RIGHT.get(slice) === distribution) return true;
		const found = (slice.endpoints ?? []).every(
			(endpoint) => !isReady(endpoint) || sameHints(endpoint.hints, hintsFor(endpoint, distribution)),
		);
		if (found) KNOWN_RIGHT.set(slice, distribution);
		return found;
	};
	const hinted = <S extends Pick<EndpointSlice, "endpoints">>(slice: S): S => ({
		...slice,
		endpoints: (slice.endpoints ?? []).map((endpoint) => withHints(endpoint, distribution)),
	});
	return {
		creates: slices.creates.map(hinted),
		updates: [...slices.updates, ...slices.unchanged.filter((slice) => !isRight(slice))].map(hinted),
		unchanged: slices.unchanged.filter(isRight),
	};
}

/** Endpoints that are not ready are left as they are: nobody is sent there. */
function withHints(endpoint: Endpoint, distribution: TrafficDistribution): Endpoint {
	if (!isReady(endpoint)) return endpoint;
	const { hints: _, ...bare } = endpoint;
	const hints = hintsFor(endpoint, distribution);
	return hints === undefined ? bare : { ...bare, hints };
}

function hintsFor(
	{ zone = "", nodeName = "" }: Endpoint,
	distribution: TrafficDistribution,
): EndpointHints | undefined {
	const forZones = zone === "" ? {} : { forZones: [{ name: zone }] };
	const forNodes = nodeName === "" || distribution !== "PreferSameNode" ? {} : { forNodes: [{ name: nodeName }] };
	const hints = { ...forZones, ...forNodes };
	return Object.keys(hints).length === 0 ? undefined : hints;
}

/** No hints, empty hints and empty lists in them say the same. */
function sameHints(a: EndpointHints = {}, b: EndpointHints = {}): boolean {
	return deepEqual(a.forZones ?? [], b.forZones ?? []) && deepEqual(a.forNodes ?? [], b.forNodes ?? []);
}

export function isReady({ conditions }: Endpoint): boolean {
	return conditions.ready === true;
}
