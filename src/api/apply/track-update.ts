/** Who owns what after a write that is not an apply. */
import { withFewUpdaters } from "./ancient-changes.ts";
import { compareLoosely } from "./compare.ts";
import { difference, EMPTY_SET, type FieldSet, pathSet, settled, union } from "./field-set.ts";
import { isSameOwner, type Owner, type Owners, ownership, soleOwner, withFields, withOwner } from "./managed-fields.ts";
import type { ApplyShape } from "./shape.ts";
import { fieldPath } from "./shaped-value.ts";

export interface Writer {
	readonly shape: ApplyShape;
	readonly apiVersion: string;
	readonly manager: string;
	readonly subresource: string;
	/** What a write at this place does not change whatever it says: `status` at the main resource. */
	readonly ignored: FieldSet;
	/** RFC 3339, whole seconds. */
	now(): string;
}

const METADATA = [
	"name",
	"namespace",
	"creationTimestamp",
	"selfLink",
	"uid",
	"clusterName",
	"generation",
	"managedFields",
	"resourceVersion",
];

/** Nobody owns what says which object this is, nor what the server keeps itself. */
const NEVER_LOOKED_AT = pathSet(
	fieldPath("apiVersion"),
	fieldPath("kind"),
	...METADATA.map((name) => fieldPath("metadata", name)),
);
const NEVER_OWNED = union(NEVER_LOOKED_AT, pathSet(fieldPath("metadata")));

/** What may have an owner. */
export function ownable(fields: FieldSet): FieldSet {
	return difference(fields, NEVER_OWNED);
}

const untrackedBeside = new WeakMap<FieldSet, FieldSet>();

/** What a write is not looked at for. */
function untracked(ignored: FieldSet): FieldSet {
	const known = untrackedBeside.get(ignored) ?? union(NEVER_LOOKED_AT, ignored);
	untrackedBeside.set(ignored, known);
	return known;
}

/**
 * The writer gains what it wrote, and everybody else loses that and what is gone.
 *
 * @param live {} for a new object.
 */
export function trackUpdate(owners: Owners, live: unknown, next: unknown, writer: Writer): Owners {
	const found = compareLoosely(writer.shape, live, next, untracked(writer.ignored));
	if (found === undefined) return withFewUpdaters(owners);
	const { written, removed } = found;
	const { manager, apiVersion, subresource } = writer;
	const self: Owner = { manager, operation: "Update", apiVersion, subresource };
	if (owners.length === 0) return written === EMPTY_SET ? owners : soleOwner(self, writer.now(), settled(written));
	const others = withFields(owners, (owner) =>
		isSameOwner(owner, self)
			? difference(owner.fieldsV1, removed)
			: difference(difference(owner.fieldsV1, written), removed),
	);
	if (written === EMPTY_SET) return withFewUpdaters(others);
	const before = others.find((owner) => isSameOwner(owner, self))?.fieldsV1 ?? EMPTY_SET;
	return withFewUpdaters(withOwner(others, ownership(self, writer.now(), union(before, written))));
}
