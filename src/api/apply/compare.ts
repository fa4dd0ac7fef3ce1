/** What differs between two states of an object, as paths. */
import { deepEqual, isObject } from "../../kernel/json.ts";
import {
	below,
	EMPTY_SET,
	type FieldSet,
	type Fields,
	LEAF,
	LooseFields,
	settled,
	withoutSubtrees,
} from "./field-set.ts";
import { fieldElement } from "./path-element.ts";
import { presentFields } from "./present-fields.ts";
import type { ApplyShape, KeyedListShape } from "./shape.ts";
import {
	childShape,
	deduced,
	isAlwaysThere,
	isNothing,
	itemElement,
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

/** Most writes change little, and few of their fields are looked at twice. */
export interface LooseComparison {
	readonly written: Fields;
	readonly removed: Fields;
}

const NO_DIFFERENCE: Comparison = { written: EMPTY_SET, removed: EMPTY_SET };
const WRITTEN: LooseComparison = { written: LEAF, removed: EMPTY_SET };

/** The order of the items of sets and keyed lists does not count. */
export function compare(shape: ApplyShape, old: unknown, next: unknown): Comparison {
	const found = compareLoosely(shape, old, next);
	if (found === undefined) return NO_DIFFERENCE;
	return { written: settled(found.written), removed: settled(found.removed) };
}

/**
 * Undefined when nothing differs.
 *
 * @param skipped Paths that are not looked into.
 */
export function compareLoosely(
	shape: ApplyShape,
	old: unknown,
	next: unknown,
	skipped: FieldSet = EMPTY_SET,
): LooseComparison | undefined {
	if (old === next) return undefined;
	const whole = (value: unknown): FieldSet => withoutSubtrees(presentFields(shape, value), skipped);
	if (old === undefined) return { written: whole(next), removed: EMPTY_SET };
	if (next === undefined) return { written: EMPTY_SET, removed: whole(old) };
	const known = deduced(shape, next);
	if (shape.kind === "untyped" && known.kind !== deduced(shape, old).kind) {
		return { written: whole(next), removed: whole(old) };
	}
	switch (known.kind) {
		case "atom":
			return deepEqual(old, next) || (isNothing(old) && isNothing(next)) ? undefined : WRITTEN;
		case "struct":
		case "map":
			return compareMembers(known, membersOf(old), membersOf(next), skipped);
		case "set":
			return compareItems(known, old, next);
		case "keyed-list":
			return comparePairs(known, listOf(old), listOf(next)) ?? compareItems(known, old, next);
	}
}

type Members = Readonly<Record<string, unknown>>;
type MembersShape = Extract<ApplyShape, { kind: "struct" | "map" }>;

function compareMembers(
	shape: MembersShape,
	old: Members,
	next: Members,
	skipped: FieldSet,
): LooseComparison | undefined {
	const difference = new Difference();
	let shared = 0;
	for (const name of Object.keys(next)) {
		const isShared = Object.hasOwn(old, name);
		if (isShared) shared++;
		const before = isShared ? old[name] : undefined;
		if (before !== next[name]) compareMember(difference, shape, name, before, next[name], skipped);
	}
	const names = Object.keys(old);
	if (names.length === shared) return difference.result();
	for (const name of names) {
		if (!Object.hasOwn(next, name)) compareMember(difference, shape, name, old[name], undefined, skipped);
	}
	return difference.result();
}

function compareMember(
	difference: Difference,
	shape: MembersShape,
	name: string,
	old: unknown,
	next: unknown,
	skipped: FieldSet,
): void {
	const skippedHere = skipped === EMPTY_SET ? EMPTY_SET : below(skipped, fieldElement(name));
	if (skippedHere === LEAF) return;
	const isThere = (old === undefined || next === undefined) && isAlwaysThere(shape, name);
	const child = compareLoosely(
		childShape(shape, name),
		isThere ? (old ?? null) : old,
		isThere ? (next ?? null) : next,
		skippedHere,
	);
	if (child !== undefined) difference.add(fieldElement(name), child);
}

/** Items that differ, each of which is held against all others. */
const DIFFERING_MAX = 16;

/**
 * Most often lists have the same items in the same order, and a few of them differ: then only those are named.
 * Undefined when the lists are not like that.
 */
function comparePairs(
	shape: KeyedListShape,
	old: readonly unknown[],
	next: readonly unknown[],
): LooseComparison | undefined {
	if (old.length !== next.length) return undefined;
	const difference = new Difference();
	let differing = 0;
	for (let index = 0; index < next.length; index++) {
		const [before, after] = [old[index], next[index]];
		if (before === after) continue;
		const child = compareLoosely(shape.of, before, after);
		if (child === undefined) continue;
		differing++;
		if (differing > DIFFERING_MAX) return undefined;
		const isAlone = next.every((other, place) => place === index || !haveSameKeys(shape, other, after));
		if (!isAlone || !haveSameKeys(shape, before, after)) return undefined;
		difference.add(itemElement(shape, after), child);
	}
	return difference.result() ?? NO_DIFFERENCE;
}

function haveSameKeys({ keys }: KeyedListShape, a: unknown, b: unknown): boolean {
	if (!isObject(a) || !isObject(b)) return false;
	return keys.every(({ name, default: fallback = "" }) => (a[name] ?? fallback) === (b[name] ?? fallback));
}

function compareItems(shape: ListShape, oldList: unknown, nextList: unknown): LooseComparison | undefined {
	const difference = new Difference();
	const old = itemsByElement(shape, oldList);
	const next = itemsByElement(shape, nextList);
	for (const [element, items] of next) {
		const child = compareItem(shape, old.get(element), items);
		if (child !== undefined) difference.add(element, child);
	}
	for (const [element, items] of old) {
		if (!next.has(element)) difference.add(element, { written: EMPTY_SET, removed: itemFields(shape, items) });
	}
	return difference.result();
}

function compareItem(
	shape: ListShape,
	old: readonly unknown[] | undefined,
	next: readonly unknown[],
): LooseComparison | undefined {
	if (old === undefined) return { written: itemFields(shape, next), removed: EMPTY_SET };
	if (old.length > 1 || next.length > 1) return deepEqual(old, next) ? undefined : WRITTEN;
	return shape.kind === "set" ? undefined : compareLoosely(shape.of, old[0], next[0]);
}

function itemFields(shape: ListShape, items: readonly unknown[]): FieldSet {
	return shape.kind === "set" || items.length > 1 ? LEAF : presentFields(shape.of, items[0]);
}

/** Collects what differs below one node; each element comes once. */
class Difference {
	#writtenElements: string[] | undefined;
	#written: Fields[] = [];
	#removedElements: string[] | undefined;
	#removed: Fields[] = [];

	add(element: string, { written, removed }: LooseComparison): void {
		if (written !== EMPTY_SET) {
			this.#writtenElements ??= [];
			this.#writtenElements.push(element);
			this.#written.push(written);
		}
		if (removed !== EMPTY_SET) {
			this.#removedElements ??= [];
			this.#removedElements.push(element);
			this.#removed.push(removed);
		}
	}

	result(): LooseComparison | undefined {
		const [written, removed] = [this.#writtenElements, this.#removedElements];
		if (written === undefined && removed === undefined) return undefined;
		return {
			written: written === undefined ? EMPTY_SET : new LooseFields(written, this.#written),
			removed: removed === undefined ? EMPTY_SET : new LooseFields(removed, this.#removed),
		};
	}
}
