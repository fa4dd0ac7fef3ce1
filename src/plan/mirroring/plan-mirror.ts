/**
 * Decides how the slices of hand-made Endpoints must change. Pure, like every planner.
 *
 * Unlike slices of Pods there is at most one slice for each address family and set of ports, and any change
 * writes it whole: whoever keeps Endpoints by hand does not keep thousands.
 */
import type { Endpoints } from "../../api/types/core.ts";
import type { Endpoint, EndpointSlice } from "../../api/types/discovery.ts";
import type { Draft } from "../../api/types/meta.ts";
import { assert } from "../../kernel/assert.ts";
import { compareStrings, groupBy } from "../../kernel/order.ts";
import { identityOf, sameEndpoint } from "../endpointslice/endpoint.ts";
import { portGroupKey } from "../endpointslice/port-group.ts";
import { renamed } from "../endpointslice/recycle.ts";
import { hasMetadataOf, mirrorMetadata } from "./mirror-metadata.ts";
import { groupKey, type MirroredGroup, mirroredGroups } from "./mirrored-groups.ts";

export interface MirrorWorld {
	readonly endpoints: Endpoints;
	/** The slices that this controller keeps for the name, also those that are being deleted. */
	readonly existing: readonly EndpointSlice[];
}

export interface MirrorLimits {
	/** `--mirroring-max-endpoints-per-subset`, 1 to 1000. */
	readonly addressesPerSubsetMax: number;
}

/** What to write, in the order creates, updates, deletes. */
export interface MirrorPlan {
	readonly creates: readonly Draft<EndpointSlice>[];
	/** Without a resourceVersion: they overwrite whatever is there under the name. */
	readonly updates: readonly EndpointSlice[];
	readonly deletes: readonly EndpointSlice[];
	/** Slices that are right as they are. */
	readonly unchanged: readonly EndpointSlice[];
	readonly counts: MirrorCounts;
}

export interface MirrorCounts {
	readonly added: number;
	readonly updated: number;
	readonly removed: number;
	readonly invalid: number;
	/** The invalid ones included. */
	readonly skipped: number;
	readonly endpoints: number;
	/** Slices after the plan. */
	readonly slices: number;
	readonly slicesMin: number;
}

interface Draw {
	readonly creates: Draft<EndpointSlice>[];
	readonly updates: EndpointSlice[];
	readonly deletes: EndpointSlice[];
	readonly unchanged: EndpointSlice[];
	added: number;
	updated: number;
	removed: number;
}

export function planMirror({ endpoints, existing }: MirrorWorld, limits: MirrorLimits): MirrorPlan {
	const max = limits.addressesPerSubsetMax;
	assert(max >= 1, "addressesPerSubsetMax must be >= 1");
	const { groups, invalid, skipped } = mirroredGroups(endpoints, max);
	const byGroup = groupBy(existing.toSorted(byAge), (slice) => groupKey(slice.addressType, portGroupKey(slice.ports)));
	const draw: Draw = { creates: [], updates: [], deletes: [], unchanged: [], added: 0, updated: 0, removed: 0 };
	for (const [key, group] of groups) drawGroup(draw, endpoints, group, byGroup.get(key) ?? [], max);
	for (const [key, slices] of byGroup) {
		if (groups.has(key)) continue;
		draw.deletes.push(...slices);
		draw.removed += slices.reduce((sum, slice) => sum + (slice.endpoints ?? []).length, 0);
	}
	const slices = existing.length + draw.creates.length - draw.deletes.length;
	const { creates, updates, deletes } = recycled(draw);
	const sizes = [...groups.values()].map((group) => group.endpoints.size);
	return {
		// Nothing can be created for Endpoints that are going.
		creates: endpoints.metadata.deletionTimestamp === undefined ? creates : [],
		updates,
		deletes,
		unchanged: draw.unchanged,
		counts: {
			added: draw.added,
			updated: draw.updated,
			removed: draw.removed,
			invalid,
			skipped,
			endpoints: sizes.reduce((sum, size) => sum + size, 0),
			slices,
			slicesMin: sizes.reduce((sum, size) => sum + Math.ceil(size / max), 0),
		},
	};
}

function drawGroup(
	draw: Draw,
	source: Endpoints,
	group: MirroredGroup,
	existing: readonly EndpointSlice[],
	endpointsMax: number,
): void {
	const [kept, ...others] = existing;
	draw.deletes.push(...others);
	const changes = changesOf(kept?.endpoints ?? [], group.endpoints);
	draw.added += changes.added;
	draw.updated += changes.updated;
	draw.removed += changes.removed;
	const isSame = changes.added + changes.updated + changes.removed === 0;
	if (kept !== undefined && isSame && hasMetadataOf(kept, source)) {
		draw.unchanged.push(kept);
		return;
	}
	const draft: Draft<EndpointSlice> = {
		metadata: mirrorMetadata(source),
		addressType: group.family,
		endpoints: [...group.endpoints.values()].slice(0, endpointsMax),
		ports: group.ports,
	};
	if (kept === undefined) draw.creates.push(draft);
	else draw.updates.push(renamed(draft, kept));
}

function changesOf(
	stored: readonly Endpoint[],
	desired: ReadonlyMap<string, Endpoint>,
): Pick<MirrorCounts, "added" | "updated" | "removed"> {
	const missing = new Map(desired);
	let updated = 0;
	let removed = 0;
	for (const endpoint of stored) {
		const identity = identityOf(endpoint);
		const wanted = missing.get(identity);
		if (wanted === undefined) removed++;
		else if (!sameEndpoint(wanted, endpoint)) updated++;
		missing.delete(identity);
	}
	return { added: missing.size, updated, removed };
}

/** A slice that is not needed any more lends its name to one that is: one write instead of two. */
function recycled({ creates, updates, deletes }: Draw): Pick<MirrorPlan, "creates" | "updates" | "deletes"> {
	const free = groupBy(deletes, (slice) => slice.addressType);
	const kept: Draft<EndpointSlice>[] = [];
	const renewed: EndpointSlice[] = [];
	for (const draft of creates) {
		const slice = free.get(draft.addressType)?.shift();
		if (slice === undefined) kept.push(draft);
		else renewed.push(renamed(draft, slice));
	}
	return { creates: kept, updates: [...updates, ...renewed], deletes: [...free.values()].flat() };
}

/** Older ones are kept rather than newer ones. */
function byAge(a: EndpointSlice, b: EndpointSlice): number {
	return (
		compareStrings(a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? "") ||
		compareStrings(a.metadata.name, b.metadata.name)
	);
}
