/** Who owns what after a write that is not an apply. */
import { withFewUpdaters } from "./ancient-changes.ts";
import { compare } from "./compare.ts";
import { difference, EMPTY_SET, type FieldSet, pathSet, union, withoutSubtrees } from "./field-set.ts";
import { type Owners, type Ownership, ownerKey, withFields } from "./managed-fields.ts";
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
	readonly now: string;
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
const NEVER_OWNED = pathSet(
	fieldPath("apiVersion"),
	fieldPath("kind"),
	fieldPath("metadata"),
	...METADATA.map((name) => fieldPath("metadata", name)),
);

/** What may have an owner. */
export function ownable(fields: FieldSet): FieldSet {
	return difference(fields, NEVER_OWNED);
}

/**
 * The writer gains what it wrote, and everybody else loses that and what is gone.
 *
 * @param live {} for a new object.
 */
export function trackUpdate(owners: Owners, live: unknown, next: unknown, writer: Writer): Owners {
	const found = compare(writer.shape, live, next);
	if (found === undefined) return owners;
	const written = ownable(withoutSubtrees(found.written, writer.ignored));
	const removed = ownable(withoutSubtrees(found.removed, writer.ignored));
	if (written === EMPTY_SET && removed === EMPTY_SET) return owners;
	const lost = union(written, removed);
	const { manager, apiVersion, subresource, now: time } = writer;
	const self: Omit<Ownership, "fields" | "time"> = { manager, operation: "Update", apiVersion, subresource };
	const key = ownerKey(self);
	const before = owners.get(key);
	const others = withFields(owners, (ownership) => difference(ownership.fields, ownership === before ? removed : lost));
	if (written === EMPTY_SET) return withFewUpdaters(others);
	const fields = union(others.get(key)?.fields ?? EMPTY_SET, written);
	return withFewUpdaters(new Map(others).set(key, { ...self, time, fields }));
}
