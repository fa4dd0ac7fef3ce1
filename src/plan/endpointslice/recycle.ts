/** A slice that is not needed any more lends its name to one that is: one write instead of two. */
import type { Service } from "../../api/types/core.ts";
import type { EndpointSlice } from "../../api/types/discovery.ts";
import type { Draft, ObjectMeta } from "../../api/types/meta.ts";
import { assertDefined } from "../../kernel/assert.ts";
import { isOwnedBy } from "./slice-metadata.ts";

interface Changes {
	readonly creates: readonly Draft<EndpointSlice>[];
	readonly updates: readonly EndpointSlice[];
	readonly deletes: readonly EndpointSlice[];
}

/** The last to be created goes onto the first that can be taken: of the same family, owned by the Service. */
export function recycled(changes: Changes, service: Service): Changes {
	const creates = [...changes.creates];
	const updates = [...changes.updates];
	const deletes = changes.deletes.filter((unneeded) => {
		const next = creates.at(-1);
		if (next?.addressType !== unneeded.addressType || !isOwnedBy(unneeded, service)) return true;
		updates.push(renamed(assertDefined(creates.pop(), "a slice to create"), unneeded));
		return false;
	});
	return { creates, updates, deletes };
}

/**
 * The new slice under the old name. Nothing else of the old one survives, its resourceVersion included:
 * the update is unconditional, and the server fills in what every stored object has.
 */
export function renamed(draft: Draft<EndpointSlice>, old: EndpointSlice): EndpointSlice {
	const { generateName: _, ...metadata } = draft.metadata;
	return {
		...draft,
		apiVersion: old.apiVersion,
		kind: old.kind,
		metadata: { ...metadata, name: old.metadata.name } as ObjectMeta,
	};
}
