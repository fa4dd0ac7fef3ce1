/** Plans the slices of one Service for one address family. */
import type { Service } from "../../api/types/core.ts";
import type { EndpointSlice } from "../../api/types/discovery.ts";
import type { Draft, IPFamily } from "../../api/types/meta.ts";
import { groupBy } from "../../kernel/order.ts";
import { type HintsEvent, type HintsMemory, planHints } from "./hints.ts";
import type { PackedGroup } from "./pack-group.ts";
import { type PortGroup, portGroupKey } from "./port-group.ts";
import { recycled } from "./recycle.ts";
import { isOwnedBy, isPlaceholder, newSlice, withTriggerTime } from "./slice-metadata.ts";
import type { ZoneRatios } from "./zone-ratios.ts";

export interface FamilyWorld {
	readonly service: Service;
	readonly family: IPFamily;
	/** What the Service's Pods want. */
	readonly wanted: WantedEndpoints;
	/** The family's slices, in a fixed order. */
	readonly existing: readonly EndpointSlice[];
	readonly triggerTime: string | undefined;
	readonly ratios: ZoneRatios;
	readonly hintsMemory: HintsMemory;
}

export interface FamilyLimits {
	readonly endpointsPerSliceMax: number;
}

/** A Pod that was left out because the Node that it names is not there. */
export interface MissingNode {
	readonly kind: "node-missing";
	readonly pod: string;
	readonly node: string;
}

/** What to write for one family, in the order creates, updates, deletes. */
export interface FamilyPlan {
	readonly family: IPFamily;
	readonly creates: readonly Draft<EndpointSlice>[];
	/** Those without a resourceVersion overwrite whatever is there under the name. */
	readonly updates: readonly EndpointSlice[];
	readonly deletes: readonly EndpointSlice[];
	readonly problems: readonly MissingNode[];
	readonly counts: FamilyCounts;
	/** What to remember of the hints, and what to tell users of them. */
	readonly hintsMemory: HintsMemory;
	readonly hintsEvents: readonly HintsEvent[];
}

export interface FamilyCounts {
	readonly added: number;
	readonly removed: number;
	readonly endpoints: number;
	/** Creates, updates and deletes; creates count even if the Service is going and gets none. */
	readonly changes: number;
	/** Slices after the plan. */
	readonly slices: number;
	/** Slices that would be enough if all were packed full; at least 1, for the placeholder. */
	readonly slicesMin: number;
}

/** Everything that the Pods of a Service mean to the slices of one family. */
export interface WantedEndpoints {
	/** In the order of the first Pod's name of each. */
	readonly groups: ReadonlyMap<string, WantedGroup>;
	/** In the order of the Pods' names. */
	readonly problems: readonly MissingNode[];
}

export interface WantedGroup extends PortGroup {
	/** Endpoints. */
	readonly size: number;
	/** Packs them into the group's slices that the Service owns, whose fixed order settles ties. */
	pack(existing: readonly EndpointSlice[], endpointsPerSliceMax: number): PackedGroup;
}

interface Draw {
	creates: Draft<EndpointSlice>[];
	readonly updates: EndpointSlice[];
	deletes: EndpointSlice[];
	readonly unchanged: EndpointSlice[];
	added: number;
	removed: number;
}

export function planFamily(world: FamilyWorld, limits: FamilyLimits): FamilyPlan {
	const { service, existing } = world;
	const { groups, problems } = world.wanted;
	const draw = drawGroups(world, groups, limits);
	addPlaceholder(draw, world);
	const slices = existing.length + draw.creates.length - draw.deletes.length;

	const { family, ratios, hintsMemory } = world;
	const hints = planHints(draw, { service, family, ratios, memory: hintsMemory });
	const { creates, updates, deletes } = recycled({ ...hints.slices, deletes: draw.deletes }, service);
	// Nothing can be created for a Service that is going: the garbage collector is on its way.
	const isGoing = service.metadata.deletionTimestamp !== undefined;
	const sizes = [...groups.values()].map(({ size }) => size);
	return {
		family,
		hintsMemory: hints.memory,
		hintsEvents: hints.events,
		creates: isGoing ? [] : creates.map((slice) => withTriggerTime(slice, world.triggerTime)),
		updates: updates.map((slice) => withTriggerTime(slice, world.triggerTime)),
		deletes,
		problems,
		counts: {
			added: draw.added,
			removed: draw.removed,
			endpoints: sizes.reduce((sum, size) => sum + size, 0),
			changes: creates.length + updates.length + deletes.length,
			slices,
			slicesMin: Math.max(
				1,
				sizes.reduce((sum, size) => sum + Math.ceil(size / limits.endpointsPerSliceMax), 0),
			),
		},
	};
}

function drawGroups(world: FamilyWorld, groups: ReadonlyMap<string, WantedGroup>, limits: FamilyLimits): Draw {
	const { service, existing, family } = world;
	const owned = groupBy(
		existing.filter((slice) => isOwnedBy(slice, service)),
		(slice) => portGroupKey(slice.ports),
	);
	const foreign = existing.filter((slice) => !isOwnedBy(slice, service));
	const draw: Draw = { creates: [], updates: [], deletes: foreign, unchanged: [], added: 0, removed: 0 };
	for (const group of groups.values()) {
		const packed = group.pack(owned.get(group.key) ?? [], limits.endpointsPerSliceMax);
		const { ports } = group;
		draw.creates.push(...packed.creates.map((endpoints) => newSlice(service, family, { endpoints, ports })));
		draw.updates.push(...packed.updates);
		draw.deletes.push(...packed.deletes);
		draw.unchanged.push(...packed.unchanged);
		draw.added += packed.added;
		draw.removed += packed.removed;
	}
	for (const [key, slices] of owned) if (!groups.has(key)) draw.deletes.push(...slices);
	return draw;
}

/** A Service without endpoints keeps one slice without endpoints and ports: a sign that it was seen. */
function addPlaceholder(draw: Draw, { service, family, existing }: FamilyWorld): void {
	if (draw.deletes.length !== existing.length || draw.creates.length > 0) return;
	const placeholder = newSlice(service, family, { endpoints: [], ports: [] });
	const [only, ...others] = draw.deletes;
	if (only !== undefined && others.length === 0 && isPlaceholder(only, placeholder)) {
		draw.deletes = [];
		draw.unchanged.push(only);
	} else {
		draw.creates.push(placeholder);
	}
}
