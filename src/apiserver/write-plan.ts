/**
 * A write as data: the object itself, and what must change with it in one commit.
 *
 * A Service claims its cluster IPs and node ports in the very commit that stores it, so there is no
 * allocator beside the store that could disagree with it, also not after a crash or between servers.
 */
import type { ResourceType } from "../api/resource.ts";
import type { KubeObject } from "../api/types/meta.ts";
import { assertDefined } from "../kernel/assert.ts";
import type { Entry, Place, Precondition, Write } from "../store/entry.ts";
import type { ServerPorts } from "./ports.ts";
import { type ClaimPorts, claimsOf, isService, writesOfRemoval } from "./service-claims.ts";
import { shownForm, storedForm } from "./stored-form.ts";

export interface WritePlan {
	/** The object as it is to be stored (or as it was, for a removal). */
	readonly object: KubeObject;
	readonly place: Place;
	readonly writes: readonly Write[];
	readonly preconditions: readonly Precondition[];
}

/** @throws {ApiError} `Invalid` when a Service asks for an address or port that it cannot have. */
export function planCreate(
	ports: ClaimPorts,
	type: ResourceType,
	key: string,
	object: KubeObject,
	isDryRun: boolean,
): WritePlan {
	const place = { space: type.storagePrefix, key };
	const claims = isService(type)
		? claimsOf(ports, object, undefined, isDryRun)
		: { object, writes: [], preconditions: [] };
	return {
		object: claims.object,
		place,
		writes: [{ kind: "put", ...place, object: storedForm(type, claims.object) }, ...claims.writes],
		preconditions: [{ ...place, expected: 0 }, ...claims.preconditions],
	};
}

/** @throws {ApiError} `Invalid`, as for {@link planCreate}. */
export function planUpdate(
	ports: ClaimPorts,
	type: ResourceType,
	stored: Entry,
	next: KubeObject,
	isDryRun: boolean,
): WritePlan {
	const place = { space: type.storagePrefix, key: stored.key };
	// A status write leaves the stored spec in place: nothing to claim, and what it reports is not to be wiped but judged.
	const claims =
		isService(type) && specOf(next) !== specOf(stored.object)
			? claimsOf(ports, next, stored.object, isDryRun)
			: { object: next, writes: [], preconditions: [] };
	return {
		object: claims.object,
		place,
		writes: [{ kind: "put", ...place, object: storedForm(type, claims.object) }, ...claims.writes],
		preconditions: [{ ...place, expected: stored.modRevision }, ...claims.preconditions],
	};
}

function specOf(object: KubeObject): unknown {
	return "spec" in object ? object.spec : undefined;
}

/** `last` is what watchers see as the final state. */
export function planRemoval(ports: ClaimPorts, type: ResourceType, stored: Entry, last: KubeObject): WritePlan {
	const place = { space: type.storagePrefix, key: stored.key };
	return {
		object: last,
		place,
		writes: [
			{ kind: "delete", ...place, last: storedForm(type, last) },
			...(isService(type) ? writesOfRemoval(ports, stored.object) : []),
		],
		preconditions: [{ ...place, expected: stored.modRevision }],
	};
}

export type PlanResult =
	| { readonly kind: "committed"; readonly object: KubeObject }
	/** The object itself was changed, or made, by someone else meanwhile. */
	| { readonly kind: "conflict"; readonly stored: KubeObject | undefined }
	/** Something that the plan claims was taken meanwhile: plan again. */
	| { readonly kind: "outdated" };

export async function commitPlan(
	{ store }: Pick<ServerPorts, "store">,
	type: ResourceType,
	plan: WritePlan,
): Promise<PlanResult> {
	const result = await store.commit(plan.writes, plan.preconditions);
	if (result.kind === "committed") {
		const { object } = assertDefined(result.entries[0], `${type.kind} just written`);
		return { kind: "committed", object: shownForm(type, object) };
	}
	const isOwn = result.place.space === plan.place.space && result.place.key === plan.place.key;
	return isOwn ? { kind: "conflict", stored: result.actual?.object } : { kind: "outdated" };
}
