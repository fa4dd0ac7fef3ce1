/**
 * Which zone or node should use an endpoint: a pass of its own over the slices of one family, after
 * packing and before writing. It may only set `hints`, and move unchanged slices to the updates.
 */
import type { Service } from "../../api/types/core.ts";
import type { Endpoint, EndpointSlice } from "../../api/types/discovery.ts";
import type { Draft } from "../../api/types/meta.ts";
import { TOPOLOGY_AWARE_HINTS_ANNOTATION, TOPOLOGY_MODE_ANNOTATION } from "../../api/well-known.ts";

/** The slices of one address family as they are going to be, those to be deleted left out. */
export interface FamilySlices {
	readonly creates: readonly Draft<EndpointSlice>[];
	readonly updates: readonly EndpointSlice[];
	readonly unchanged: readonly EndpointSlice[];
}

export type HintsPass = (slices: FamilySlices, service: Service) => FamilySlices;

const TRAFFIC_DISTRIBUTIONS: ReadonlySet<string> = new Set(["PreferClose", "PreferSameZone", "PreferSameNode"]);

/** Whether the annotation asks for hints by the zones' CPU; it outranks `trafficDistribution`. */
export function wantsTopologyHints(service: Service): boolean {
	const annotations = service.metadata.annotations ?? {};
	const mode = annotations[TOPOLOGY_AWARE_HINTS_ANNOTATION] ?? annotations[TOPOLOGY_MODE_ANNOTATION];
	return mode === "Auto" || mode === "auto";
}

/** The field's value if it is one that asks for hints. */
export function trafficDistributionOf(service: Service): string | undefined {
	const wanted = service.spec.trafficDistribution;
	return wanted !== undefined && TRAFFIC_DISTRIBUTIONS.has(wanted) ? wanted : undefined;
}

/** Takes hints away where nothing asks for them; otherwise changes nothing. */
export const withoutUnwantedHints: HintsPass = (slices, service) =>
	wantsTopologyHints(service) || trafficDistributionOf(service) !== undefined ? slices : withoutHints(slices);

export function withoutHints({ creates, updates, unchanged }: FamilySlices): FamilySlices {
	const hinted = unchanged.filter(hasHints);
	return {
		creates: creates.map(stripped),
		updates: [...updates, ...hinted].map(stripped),
		unchanged: hinted.length === 0 ? unchanged : unchanged.filter((slice) => !hasHints(slice)),
	};
}

function hasHints({ endpoints }: Pick<EndpointSlice, "endpoints">): boolean {
	return (endpoints ?? []).some((endpoint) => endpoint.hints !== undefined);
}

function stripped<S extends Pick<EndpointSlice, "endpoints">>(slice: S): S {
	if (!hasHints(slice)) return slice;
	return { ...slice, endpoints: (slice.endpoints ?? []).map(withoutHint) };
}

function withoutHint({ hints: _, ...endpoint }: Endpoint): Endpoint {
	return endpoint;
}
