/** One server-side apply, without its transport: merge, remove what is given up, find out who objects. */
import { deepEqual } from "../../kernel/json.ts";
import { compare } from "./compare.ts";
import { difference, EMPTY_SET, type FieldSet, intersection, union, unionOf, withoutSubtrees } from "./field-set.ts";
import { givenFields } from "./given-fields.ts";
import {
	isSameOwner,
	type Owner,
	type Owners,
	type Ownership,
	ownership,
	withFields,
	withOwner,
} from "./managed-fields.ts";
import { merged } from "./merge.ts";
import { withNamedFields, withoutFields } from "./remove.ts";
import type { ApplyShape } from "./shape.ts";
import { ownable, type Writer } from "./track-update.ts";

export interface Conflict {
	readonly owner: Ownership;
	/** What the configuration would change, though the other owns it. */
	readonly fields: FieldSet;
}

export type Applied =
	| {
			readonly kind: "applied";
			/** Undefined when nothing changes but, at most, who owns what. */
			readonly object: unknown;
			readonly owners: Owners;
	  }
	| { readonly kind: "conflicts"; readonly conflicts: readonly Conflict[] };

/** What somebody applies, and the fields that it gives. */
export interface GivenConfig {
	readonly value: Readonly<Record<string, unknown>>;
	/** As {@link checkedFields} finds them. */
	readonly fields: FieldSet;
}

/** @param live {} when there is no object yet. */
export function applyConfig(
	owners: Owners,
	live: unknown,
	config: GivenConfig,
	writer: Writer,
	isForced: boolean,
): Applied {
	const { shape, manager, apiVersion, subresource } = writer;
	const self: Owner = { manager, operation: "Apply", apiVersion, subresource };
	const before = owners.find((owner) => isSameOwner(owner, self));
	const given = ownable(withoutSubtrees(config.fields, writer.ignored));
	const now = withOwner(owners, ownership(self, before?.time, given));
	const object = pruned(shape, merged(shape, live, config.value), now, before?.fieldsV1 ?? EMPTY_SET) ?? {};
	const found = compare(shape, live, object);
	const written = withoutSubtrees(found.written, writer.ignored);
	const removed = withoutSubtrees(found.removed, writer.ignored);
	const conflicts = conflictsWith(owners, self, written);
	if (conflicts.length > 0 && !isForced) return { kind: "conflicts", conflicts };
	const isChanged = !deepEqual(live, object);
	const lost = union(written, removed);
	const after = withFields(now, (owner) => (isSameOwner(owner, self) ? given : difference(owner.fieldsV1, lost)));
	if (given === EMPTY_SET) {
		const others = after.filter((owner) => !isSameOwner(owner, self));
		return { kind: "applied", object: isChanged ? object : undefined, owners: others };
	}
	if (!isChanged) return { kind: "applied", object: undefined, owners: after };
	return { kind: "applied", object, owners: withOwner(after, ownership(self, writer.now(), given)) };
}

function conflictsWith(owners: Owners, self: Owner, written: FieldSet): readonly Conflict[] {
	return owners
		.filter((other) => !isSameOwner(other, self))
		.map((owner) => ({ owner, fields: intersection(owner.fieldsV1, written) }))
		.filter(({ fields }) => fields !== EMPTY_SET);
}

/**
 * The merged object without what the applier gave up: what it owned by its last apply and nobody owns now. An item
 * or a map goes with the last of its fields, unless somebody who does not apply put it there.
 */
function pruned(shape: ApplyShape, object: unknown, owners: Owners, last: FieldSet): unknown {
	if (last === EMPTY_SET) return object;
	const named = (fields: FieldSet): FieldSet => withNamedFields(shape, fields);
	const fieldsIn = (value: unknown): FieldSet => (value === undefined ? EMPTY_SET : named(givenFields(shape, value)));
	const all = fieldsIn(object);
	const lastNamed = named(last);
	const owned = named(unionOf(owners.map(({ fieldsV1 }) => fieldsV1)));
	const withoutLast = withoutFields(shape, object, lastNamed);
	const withOwned = withoutFields(shape, object, difference(all, union(fieldsIn(withoutLast), owned)));
	return withoutFields(shape, object, intersection(difference(all, fieldsIn(withOwned)), lastNamed));
}
