/** `metadata.managedFields`: who owns which fields, as entries of an object and as something to reckon with. */
import { deepEqual } from "../../kernel/json.ts";
import { compareStrings } from "../../kernel/order.ts";
import type { ManagedFieldsEntry } from "../types/meta.ts";
import { EMPTY_SET, type FieldSet, idOf, readFieldSet } from "./field-set.ts";
import { RecentMap } from "./recent-map.ts";

/** An entry that the server has written: frozen, its fields known as a set. */
export interface Ownership extends ManagedFieldsEntry {
	readonly operation: "Apply" | "Update";
	readonly apiVersion: string;
	readonly fieldsType: "FieldsV1";
	readonly fieldsV1: FieldSet;
}

/** One for each owner; an object's own entries when nothing has changed. */
export type Owners = readonly Ownership[];

export const NO_OWNERS: Owners = Object.freeze([]);

export type Owner = Pick<Ownership, "manager" | "operation" | "apiVersion" | "subresource">;

/** Who applies stays the same over versions, who updates does not; time is no part of it. */
export function isSameOwner(a: Owner, b: Owner): boolean {
	return (
		a.operation === b.operation &&
		(a.manager ?? "") === (b.manager ?? "") &&
		(a.subresource ?? "") === (b.subresource ?? "") &&
		(a.operation === "Apply" || a.apiVersion === b.apiVersion)
	);
}

/** Undefined when an entry is not what a server would write. */
export function ownersOf(entries: readonly ManagedFieldsEntry[] | undefined): Owners | undefined {
	if (entries === undefined || entries.length === 0) return NO_OWNERS;
	if (isOwnManagedFields(entries)) return entries;
	const owners = new Map<string, Ownership>();
	for (const entry of entries) {
		const ownership = ownershipOf(entry);
		if (ownership === undefined) return undefined;
		owners.set(ownerText(ownership), ownership);
	}
	return [...owners.values()];
}

/** The same for the same owner. */
export function ownerText({ operation, manager = "", subresource = "", apiVersion }: Owner): string {
	return JSON.stringify([operation, manager, subresource, operation === "Apply" ? "" : apiVersion]);
}

/** Whether the entries are as {@link entriesOf} makes them, so that nothing about them needs checking. */
export function isOwnManagedFields(value: readonly unknown[]): value is Owners {
	if (!Object.isFrozen(value)) return false;
	for (const entry of value as readonly ManagedFieldsEntry[]) {
		const fields = entry.fieldsV1;
		if (fields === undefined || idOf(fields) === 0) return false;
	}
	return true;
}

function ownershipOf(entry: ManagedFieldsEntry): Ownership | undefined {
	const { operation, apiVersion = "", fieldsType, fieldsV1 = {} } = entry;
	if (operation !== "Apply" && operation !== "Update") return undefined;
	if (apiVersion === "" || fieldsType !== "FieldsV1") return undefined;
	const fields = readFieldSet(fieldsV1);
	return fields === undefined ? undefined : ownership({ ...entry, operation, apiVersion }, entry.time, fields);
}

/** @param time RFC 3339, whole seconds; undefined for an applier that has not changed anything yet. */
export function ownership(
	{ manager = "", operation, apiVersion, subresource = "" }: Owner,
	time: string | undefined,
	fieldsV1: FieldSet,
): Ownership {
	const made: Ownership =
		time === undefined
			? { manager, operation, apiVersion, fieldsType: "FieldsV1", fieldsV1 }
			: { manager, operation, apiVersion, time, fieldsType: "FieldsV1", fieldsV1 };
	return Object.freeze(subresource === "" ? made : { ...made, subresource });
}

/** Entries of new objects: those that are made alike in one second share them. */
const KNOWN_MAX = 512;
const known = new RecentMap<Owners>(KNOWN_MAX);

/** Of an object that only one has written. */
export function soleOwner(owner: Owner, time: string, fieldsV1: FieldSet): Owners {
	const { manager = "", operation, apiVersion, subresource = "" } = owner;
	const key = `${manager}\n${operation}\n${apiVersion}\n${time}\n${subresource}\n${idOf(fieldsV1)}`;
	const same = known.get(key) ?? Object.freeze([ownership(owner, time, fieldsV1)]);
	known.set(key, same);
	return same;
}

/** In the order of a real server, frozen. Undefined when nobody owns anything. */
export function entriesOf(owners: Owners): Owners | undefined {
	if (owners.length === 0) return undefined;
	return isOwnManagedFields(owners) ? owners : Object.freeze([...owners].sort(compareOwnerships));
}

function compareOwnerships(a: Ownership, b: Ownership): number {
	return (
		compareStrings(a.operation, b.operation) ||
		compareStrings(a.time ?? "", b.time ?? "") ||
		compareStrings(a.manager ?? "", b.manager ?? "") ||
		compareStrings(a.apiVersion, b.apiVersion) ||
		compareStrings(a.subresource ?? "", b.subresource ?? "")
	);
}

/** Whether both say the same but for the times. */
export function sameOwners(
	a: readonly ManagedFieldsEntry[] | undefined,
	b: readonly ManagedFieldsEntry[] | undefined,
): boolean {
	if (a === b) return true;
	const [ownersA, ownersB] = [ownersOf(a), ownersOf(b)];
	if (ownersA === undefined || ownersB === undefined || ownersA.length !== ownersB.length) return false;
	const byOwner = new Map(ownersB.map((other) => [ownerText(other), other]));
	return ownersA.every((one) => {
		const other = byOwner.get(ownerText(one));
		return one.apiVersion === other?.apiVersion && deepEqual(one.fieldsV1, other.fieldsV1);
	});
}

/** The owners with other fields each; who is left with none is gone. The same owners when nothing changes. */
export function withFields(owners: Owners, change: (owner: Ownership) => FieldSet): Owners {
	const changed = owners.map((owner) => {
		const fields = change(owner);
		return fields === owner.fieldsV1 ? owner : ownership(owner, owner.time, fields);
	});
	if (changed.every((owner, index) => owner === owners[index])) return owners;
	return changed.filter(({ fieldsV1 }) => fieldsV1 !== EMPTY_SET);
}

/** The owners with this one in the place of the same one before. */
export function withOwner(owners: Owners, owner: Ownership): Owners {
	return [...owners.filter((other) => !isSameOwner(other, owner)), owner];
}
