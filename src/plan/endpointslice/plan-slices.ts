/**
 * Decides how the EndpointSlices of one Service must change.
 *
 * Pure: no I/O, no clock, no randomness, no logging. The same world, in any order, gives the same
 * plan, and planning again after the plan was applied gives an empty plan.
 *
 * @see https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/
 */
import type { Node, Pod, Service } from "../../api/types/core.ts";
import type { EndpointSlice } from "../../api/types/discovery.ts";
import type { IPFamily } from "../../api/types/meta.ts";
import { assert } from "../../kernel/assert.ts";
import { compareStrings, groupBy, sortedBy } from "../../kernel/order.ts";
import { endpointSelectorOf } from "../service-selector.ts";
import { familiesOf } from "./families.ts";
import { forgotten, type HintsMemory, NO_HINTS } from "./hints.ts";
import { type FamilyPlan, type MissingNode, planFamily, type WantedEndpoints } from "./plan-family.ts";
import { type PodEntries, RememberedEntries } from "./pod-entry.ts";
import type { SliceIndex } from "./slice-index.ts";
import { wantedEndpoints } from "./wanted-endpoints.ts";
import type { ZoneRatios } from "./zone-ratios.ts";

/** Everything the decision depends on, read once, before planning starts. */
export interface SliceWorld extends SlicesOfService {
	/** The Pods that the Service selects. */
	readonly pods: readonly Pod[];
	/** Nodes by name. */
	readonly nodes: { get(name: string): Node | undefined };
	/** Entries of earlier plans for the same Service object, to be used again. */
	readonly entries?: PodEntries;
}

/** The world but for the Pods. */
export interface SlicesOfService {
	readonly service: Service;
	/** The slices that this controller manages for the Service, without those that are being deleted. */
	readonly existing: readonly EndpointSlice[];
	/** What written slices are annotated with; see trigger-time.ts. */
	readonly triggerTime?: string | undefined;
	/** The zones' shares of CPU, for `topology-mode: Auto`. Default: not looked at yet. */
	readonly ratios?: ZoneRatios;
	/** What an earlier plan of the Service remembered of its hints. */
	readonly hintsMemory?: HintsMemory;
}

export interface SliceLimits {
	/** Endpoints per slice, 1 to 1000. Kubernetes' default is 100 (`--max-endpoints-per-slice`). */
	readonly endpointsPerSliceMax: number;
}

export interface SlicePlan {
	/** One after the other; a failure of one does not stop the next. */
	readonly families: readonly FamilyPlan[];
	/** Slices of families that the Service does not have. Deleted last. */
	readonly unsupported: readonly EndpointSlice[];
	readonly hintsMemory: HintsMemory;
}

export function planEndpointSlices(world: SliceWorld, limits: SliceLimits): SlicePlan {
	const { service, nodes, entries = new RememberedEntries(service) } = world;
	const pods = sortedBy(world.pods, (pod) => pod.metadata.name);
	return planFamilies(world, limits, (family) => wantedEndpoints({ service, pods, entries, nodes }, family));
}

/** The same plan, without a look at Pods that have not changed. `index` is the Service's. */
export function planIndexedSlices(
	world: Omit<SlicesOfService, "service">,
	limits: SliceLimits,
	index: SliceIndex,
): SlicePlan {
	return planFamilies({ ...world, service: index.service }, limits, (family) => index.wanted(family));
}

function planFamilies(
	world: SlicesOfService,
	limits: SliceLimits,
	wantedOf: (family: IPFamily) => WantedEndpoints,
): SlicePlan {
	assert(limits.endpointsPerSliceMax >= 1, "endpointsPerSliceMax must be >= 1");
	const { service, triggerTime } = world;
	const { hintsMemory: before = NO_HINTS } = world;
	if (endpointSelectorOf(service) === undefined) return { families: [], unsupported: [], hintsMemory: before };

	const byFamily = groupBy(world.existing.toSorted(byAge), (slice) => slice.addressType);
	const families = familiesOf(service);
	const unsupported = [...byFamily].flatMap(([type, slices]) => (families.some((f) => f === type) ? [] : slices));
	let hintsMemory = unsupported.reduce((memory, { addressType }) => forgotten(memory, addressType), before);
	const ratios = "ratios" in world ? world.ratios : new Map<string, number>();
	const plans = families.map((family) => {
		const existing = byFamily.get(family) ?? [];
		const wanted = wantedOf(family);
		const plan = planFamily({ service, family, wanted, existing, triggerTime, ratios, hintsMemory }, limits);
		hintsMemory = plan.hintsMemory;
		return plan;
	});
	return { families: plans, unsupported, hintsMemory };
}

function byAge(a: EndpointSlice, b: EndpointSlice): number {
	return (
		compareStrings(a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? "") ||
		compareStrings(a.metadata.name, b.metadata.name)
	);
}

/** The error that a left-out Pod ends the sync with, in upstream's words. */
export function describeProblem(service: Service, { pod, node }: MissingNode): string {
	const { namespace, name } = service.metadata;
	return `skipping Pod ${pod} for Service ${namespace}/${name}: Node ${node} Not Found`;
}
