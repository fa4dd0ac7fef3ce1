/** What differs between two states of an object, as paths. */
import { deepEqual } from "../../kernel/json.ts";
import { EMPTY_SET, type FieldSet, fieldSetOf, LEAF, union } from "./field-set.ts";
import { fieldElement } from "./path-element.ts";
import { presentFields } from "./present-fields.ts";
import type { ApplyShape } from "./shape.ts";
import {
	childShape,
	deduced,
	isAlwaysThere,
	isNothing,
	itemsByElement,
	type ListShape,
	listOf,
	membersOf,
} from "./shaped-value.ts";

export interface Comparison {
	/** Added, or given another value. */
	readonly written: FieldSet;
	readonly removed: FieldSet;
}

/** Undefined when nothing differs, which is what costs least. The order of items of sets and keyed lists does not count. */
export function compare(shape: ApplyShape, old: unknown, next: unknown): Comparison | undefined {
	if (old === next) return undefined;
	if (old === undefined) return { written: presentFields(shape, next), removed: EMPTY_SET };
	if (next === undefined) return { written: EMPTY_SET, removed: presentFields(shape, old) };
	const known = deduced(shape, next);
	if (shape.kind === "untyped" && known.kind !== deduced(shape, old).kind) {
		return { written: presentFields(shape, next), removed: presentFields(shape, old) };
	}
	switch (known.kind) {
		case "atom":
			return deepEqual(old, next) || (isNothing(old) && isNothing(next))
				? undefined
				: { written: LEAF, removed: EMPTY_SET };
		case "struct":
		case "map":
			return compareMembers(known, membersOf(old), membersOf(next));
		default:
			return compareItems(known, old, next);
	}
}

function compareMembers(
	shape: Extract<ApplyShape, { kind: "struct" | "map" }>,
	old: Readonly<Record<string, unknown>>,
	next: Readonly<Record<string, unknown>>,
): Comparison | undefined {
	const difference = new Difference();
	const valueIn = (members: Readonly<Record<string, unknown>>, name: string): unknown => {
		const value = Object.hasOwn(members, name) ? members[name] : undefined;
		return value === undefined && isAlwaysThere(shape, name) ? null : value;
	};
	for (const name of Object.keys(next)) {
		const value = next[name];
		if (value === old[name]) continue;
		const child = compare(childShape(shape, name), valueIn(old, name), valueIn(next, name));
		if (child !== undefined) difference.add(fieldElement(name), child);
	}
	for (const name of Object.keys(old)) {
		if (Object.hasOwn(next, name)) continue;
		const child = compare(childShape(shape, name), valueIn(old, name), valueIn(next, name));
		if (child !== undefined) difference.add(fieldElement(name), child);
	}
	return difference.result();
}

function compareItems(shape: ListShape, oldList: unknown, nextList: unknown): Comparison | undefined {
	const difference = new Difference();
	const old = itemsByElement(shape, oldList);
	const next = itemsByElement(shape, nextList);
	for (const [element, items] of next) {
		const child = compareItem(shape, old.get(element), items);
		if (child !== undefined) difference.add(element, child);
	}
	for (const [element, items] of old) {
		if (next.has(element)) continue;
		difference.add(element, { written: EMPTY_SET, removed: itemFields(shape, items) });
	}
	// A list that becomes empty is one thing that was written; its items are gone.
	if (next.size === 0 && old.size === 0 && listOf(oldList).length !== listOf(nextList).length) return undefined;
	return difference.result();
}

function compareItem(
	shape: ListShape,
	old: readonly unknown[] | undefined,
	next: readonly unknown[],
): Comparison | undefined {
	if (old === undefined) return { written: itemFields(shape, next), removed: EMPTY_SET };
	if (old.length > 1 || next.length > 1) {
		return deepEqual(old, next) ? undefined : { written: LEAF, removed: EMPTY_SET };
	}
	return shape.kind === "set" ? undefined : compare(shape.of, old[0], next[0]);
}

function itemFields(shape: ListShape, items: readonly unknown[]): FieldSet {
	return shape.kind === "set" || items.length > 1 ? LEAF : presentFields(shape.of, items[0]);
}

/** Collects what differs below one node. */
class Difference {
	#written: Map<string, FieldSet> | undefined;
	#removed: Map<string, FieldSet> | undefined;

	add(element: string, { written, removed }: Comparison): void {
		if (written !== EMPTY_SET) {
			this.#written ??= new Map();
			this.#written.set(element, union(this.#written.get(element) ?? EMPTY_SET, written));
		}
		if (removed !== EMPTY_SET) {
			this.#removed ??= new Map();
			this.#removed.set(element, union(this.#removed.get(element) ?? EMPTY_SET, removed));
		}
	}

	result(): Comparison | undefined {
		if (this.#written === undefined && this.#removed === undefined) return undefined;
		return {
			written: this.#written === undefined ? EMPTY_SET : fieldSetOf(false, this.#written),
			removed: this.#removed === undefined ? EMPTY_SET : fieldSetOf(false, this.#removed),
		};
	}
}
