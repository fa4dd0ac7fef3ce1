/**
 * Which zone or node should use an endpoint: a pass of its own over the slices of one family, after
 * packing and before writing. It may only set `hints`, and move unchanged slices to the updates.
 *
 * @see https://kubernetes.io/docs/concepts/services-networking/topology-aware-routing/
 * @see https://kubernetes.io/docs/reference/networking/virtual-ips/#traffic-distribution
 */
import type { Service } from "../../api/types/core.ts";
import type { AddressType, Endpoint, EndpointSlice } from "../../api/types/discovery.ts";
import type { Draft, IPFamily } from "../../api/types/meta.ts";
import { TOPOLOGY_AWARE_HINTS_ANNOTATION, TOPOLOGY_MODE_ANNOTATION } from "../../api/well-known.ts";
import { topologyHints } from "./topology-hints.ts";
import { distributionHints, isTrafficDistribution, type TrafficDistribution } from "./traffic-distribution.ts";
import type { ZoneRatios } from "./zone-ratios.ts";

/** The slices of one address family as they are going to be, those to be deleted left out. */
export interface FamilySlices {
	readonly creates: readonly Draft<EndpointSlice>[];
	readonly updates: readonly EndpointSlice[];
	readonly unchanged: readonly EndpointSlice[];
}

/** What is remembered of the hints that a Service got by the CPU of its zones. */
export interface HintsMemory {
	/** Since hints were given until those of any family are taken away; one mark for all families. */
	readonly isPopulated: boolean;
	/** Hints by zone, for each family. */
	readonly allocated: ReadonlyMap<IPFamily, ReadonlyMap<string, number>>;
}

export const NO_HINTS: HintsMemory = { isPopulated: false, allocated: new Map() };

export interface HintsEvent {
	readonly type: "Normal" | "Warning";
	readonly reason: "TopologyAwareHintsEnabled" | "TopologyAwareHintsDisabled";
	readonly message: string;
}

export interface HintsWorld {
	readonly service: Service;
	readonly family: IPFamily;
	readonly memory: HintsMemory;
	readonly ratios: ZoneRatios;
}

export interface HintsPlan {
	readonly slices: FamilySlices;
	readonly memory: HintsMemory;
	/** Told after the writes, whether they succeeded or not. */
	readonly events: readonly HintsEvent[];
}

export function planHints(slices: FamilySlices, world: HintsWorld): HintsPlan {
	const { service, family, memory, ratios } = world;
	if (wantsTopologyHints(service)) {
		const result = topologyHints(slices, ratios);
		if (result.kind === "failed") {
			const events = [disabled(result.why, family)];
			return { slices: withoutHints(slices), memory: forgotten(memory, family), events };
		}
		const enabled: HintsEvent = {
			type: "Normal",
			reason: "TopologyAwareHintsEnabled",
			message: `Topology Aware Hints has been enabled, addressType: ${family}`,
		};
		const allocated = new Map(memory.allocated).set(family, result.allocated);
		const events = memory.isPopulated ? [] : [enabled];
		return { slices: result.slices, memory: { isPopulated: true, allocated }, events };
	}
	// Switched off: whichever family comes first tells it, for the mark is the Service's.
	const events = memory.isPopulated ? [disabled("Topology Aware Hints has been disabled", family)] : [];
	const after = forgotten(memory, family);
	const distribution = trafficDistributionOf(service);
	const hinted = distribution === undefined ? withoutHints(slices) : distributionHints(slices, distribution);
	return { slices: hinted, memory: after, events };
}

function disabled(why: string, family: IPFamily): HintsEvent {
	return { type: "Warning", reason: "TopologyAwareHintsDisabled", message: `${why}, addressType: ${family}` };
}

/** With the family's hints the mark of the whole Service goes, as upstream has it: others are told of anew. */
export function forgotten({ allocated }: HintsMemory, family: AddressType): HintsMemory {
	return { isPopulated: false, allocated: new Map([...allocated].filter(([other]) => other !== family)) };
}

export function wantsTopologyHints(service: Service): boolean {
	return topologyHintsAnnotation(service) !== undefined;
}

/**
 * The annotation that asks for hints by the zones' CPU; it outranks `trafficDistribution`. The old one counts alone as
 * soon as it is there, whatever it says.
 */
export function topologyHintsAnnotation({ metadata }: Service): string | undefined {
	const { annotations = {} } = metadata;
	const isOld = annotations[TOPOLOGY_AWARE_HINTS_ANNOTATION] !== undefined;
	const name = isOld ? TOPOLOGY_AWARE_HINTS_ANNOTATION : TOPOLOGY_MODE_ANNOTATION;
	return annotations[name] === "Auto" || annotations[name] === "auto" ? name : undefined;
}

/** The field's value if it is one that asks for hints. */
export function trafficDistributionOf(service: Service): TrafficDistribution | undefined {
	const wanted = service.spec.trafficDistribution;
	return wanted !== undefined && isTrafficDistribution(wanted) ? wanted : undefined;
}

function withoutHints({ creates, updates, unchanged }: FamilySlices): FamilySlices {
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
