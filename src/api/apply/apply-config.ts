/** One server-side apply, without its transport: merge, remove what is given up, find out who objects. */
import { deepEqual } from "../../kernel/json.ts";
import { type Comparison, compare } from "./compare.ts";
import { difference, EMPTY_SET, type FieldSet, intersection, union, withoutSubtrees } from "./field-set.ts";
import { checkedFields, givenFields } from "./given-fields.ts";
import { type Owners, type Ownership, ownerKey, withFields } from "./managed-fields.ts";
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
	| { readonly kind: "conflicts"; readonly conflicts: readonly Conflict[] }
	/** The configuration does not fit the schema. */
	| { readonly kind: "wrong"; readonly message: string };

/** @param live {} when there is no object yet. */
export function applyConfig(
	owners: Owners,
	live: unknown,
	config: unknown,
	writer: Writer,
	isForced: boolean,
): Applied {
	const { shape, manager, apiVersion, subresource } = writer;
	const checked = checkedFields(shape, config);
	if (checked.kind === "wrong") return checked;
	const self: Omit<Ownership, "fields" | "time"> = { manager, operation: "Apply", apiVersion, subresource };
	const key = ownerKey(self);
	const before = owners.get(key);
	const given = withoutSubtrees(checked.fields, writer.ignored);
	const now = new Map(owners).set(key, { ...self, time: before?.time, fields: given });
	const object = pruned(shape, merged(shape, live, config), now, before?.fields ?? EMPTY_SET) ?? {};
	const found = compare(shape, live, object) ?? NO_DIFFERENCE;
	const written = withoutSubtrees(found.written, writer.ignored);
	const removed = withoutSubtrees(found.removed, writer.ignored);
	const conflicts = conflictsWith(owners, key, written);
	if (conflicts.length > 0 && !isForced) return { kind: "conflicts", conflicts };
	const isChanged = !deepEqual(live, object);
	const lost = union(written, removed);
	const others = withFields(now, ({ fields, ...of }) =>
		ownerKey(of) === key ? ownable(fields) : difference(fields, lost),
	);
	const own = others.get(key);
	const after = own === undefined || !isChanged ? others : new Map(others).set(key, { ...own, time: writer.now });
	return { kind: "applied", object: isChanged ? object : undefined, owners: after };
}

const NO_DIFFERENCE: Comparison = { written: EMPTY_SET, removed: EMPTY_SET };

function conflictsWith(owners: Owners, key: string, written: FieldSet): readonly Conflict[] {
	return [...owners]
		.filter(([other]) => other !== key)
		.map(([, owner]) => ({ owner, fields: intersection(owner.fields, written) }))
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
	const owned = named([...owners.values()].reduce((set, { fields }) => union(set, fields), EMPTY_SET));
	const withoutLast = withoutFields(shape, object, lastNamed);
	const withOwned = withoutFields(shape, object, difference(all, union(fieldsIn(withoutLast), owned)));
	return withoutFields(shape, object, intersection(difference(all, fieldsIn(withOwned)), lastNamed));
}
