/** `metadata.managedFields`: who owns which fields, as entries of an object and as something to reckon with. */
import { compareStrings } from "../../kernel/order.ts";
import type { ManagedFieldsEntry } from "../types/meta.ts";
import { EMPTY_SET, type FieldSet } from "./field-set.ts";
import { fieldSetOfV1, fieldsV1Of } from "./fields-v1.ts";
import { RecentMap } from "./recent-map.ts";

export interface Ownership {
	readonly manager: string;
	readonly operation: "Apply" | "Update";
	readonly apiVersion: string;
	readonly subresource: string;
	/** RFC 3339, whole seconds; undefined for an applier that has not changed anything yet. */
	readonly time: string | undefined;
	readonly fields: FieldSet;
}

/** By {@link ownerKey}. */
export type Owners = ReadonlyMap<string, Ownership>;

export const NO_OWNERS: Owners = new Map();

/** Who an entry is of. One who applies stays the same over versions, one who updates does not; time is no part. */
export function ownerKey(of: Pick<Ownership, "manager" | "operation" | "apiVersion" | "subresource">): string {
	const apiVersion = of.operation === "Apply" ? "" : of.apiVersion;
	return `${of.manager}\n${of.operation}\n${apiVersion}\n${of.subresource}`;
}

const decoded = new WeakMap<readonly ManagedFieldsEntry[], Owners>();

/** Undefined when an entry is not what a server would write. */
export function ownersOf(entries: readonly ManagedFieldsEntry[] | undefined): Owners | undefined {
	if (entries === undefined || entries.length === 0) return NO_OWNERS;
	const known = decoded.get(entries);
	if (known !== undefined) return known;
	const owners = new Map<string, Ownership>();
	for (const entry of entries) {
		const ownership = ownershipOf(entry);
		if (ownership === undefined) return undefined;
		owners.set(ownerKey(ownership), ownership);
	}
	if (Object.isFrozen(entries)) decoded.set(entries, owners);
	return owners;
}

function ownershipOf(entry: ManagedFieldsEntry): Ownership | undefined {
	const { manager = "", operation, apiVersion = "", subresource = "", time, fieldsType, fieldsV1 = {} } = entry;
	if (operation !== "Apply" && operation !== "Update") return undefined;
	if (apiVersion === "" || fieldsType !== "FieldsV1") return undefined;
	const fields = fieldSetOfV1(fieldsV1);
	return fields === undefined ? undefined : { manager, operation, apiVersion, subresource, time, fields };
}

/** Entries that were made lately: objects that were written alike in one second share them. */
const KNOWN_ENTRIES_MAX = 4_096;
const knownEntries = new RecentMap<ManagedFieldsEntry>(KNOWN_ENTRIES_MAX);
const knownLists = new RecentMap<readonly ManagedFieldsEntry[]>(KNOWN_ENTRIES_MAX);

/** In the order of a real server, frozen. Undefined when nobody owns anything. */
export function entriesOf(owners: Owners): readonly ManagedFieldsEntry[] | undefined {
	if (owners.size === 0) return undefined;
	const sorted = [...owners.values()].sort(compareOwnerships);
	const key = sorted.map(entryKey).join("\n\n");
	const known = knownLists.get(key);
	if (known !== undefined) return known;
	const entries = Object.freeze(sorted.map(entryOf));
	decoded.set(entries, owners);
	knownLists.set(key, entries);
	return entries;
}

function entryKey(ownership: Ownership): string {
	return `${ownerKey(ownership)}\n${ownership.apiVersion}\n${ownership.time}\n${ownership.fields.id}`;
}

function entryOf(ownership: Ownership): ManagedFieldsEntry {
	const key = entryKey(ownership);
	const known = knownEntries.get(key);
	if (known !== undefined) return known;
	const { manager, operation, apiVersion, subresource, time, fields } = ownership;
	const entry: ManagedFieldsEntry = Object.freeze({
		...(manager === "" ? {} : { manager }),
		operation,
		apiVersion,
		...(time === undefined ? {} : { time }),
		fieldsType: "FieldsV1",
		fieldsV1: fieldsV1Of(fields),
		...(subresource === "" ? {} : { subresource }),
	});
	knownEntries.set(key, entry);
	return entry;
}

function compareOwnerships(a: Ownership, b: Ownership): number {
	return (
		compareStrings(a.operation, b.operation) ||
		compareStrings(a.time ?? "", b.time ?? "") ||
		compareStrings(a.manager, b.manager) ||
		compareStrings(a.apiVersion, b.apiVersion) ||
		compareStrings(a.subresource, b.subresource)
	);
}

/** Whether both say the same but for the times. */
export function sameOwners(
	a: readonly ManagedFieldsEntry[] | undefined,
	b: readonly ManagedFieldsEntry[] | undefined,
): boolean {
	if (a === b) return true;
	const [ownersA, ownersB] = [ownersOf(a), ownersOf(b)];
	if (ownersA === undefined || ownersB === undefined || ownersA.size !== ownersB.size) return false;
	for (const [key, { fields, apiVersion }] of ownersA) {
		const other = ownersB.get(key);
		if (other?.fields.id !== fields.id || other.apiVersion !== apiVersion) return false;
	}
	return true;
}

/** The owners with other fields each; who is left with none is gone. */
export function withFields(owners: Owners, change: (ownership: Ownership) => FieldSet): Owners {
	let changed: Map<string, Ownership> | undefined;
	for (const [key, ownership] of owners) {
		const fields = change(ownership);
		if (fields === ownership.fields) continue;
		changed ??= new Map(owners);
		if (fields === EMPTY_SET) changed.delete(key);
		else changed.set(key, { ...ownership, fields });
	}
	return changed ?? owners;
}
