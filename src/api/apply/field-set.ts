/**
 * A set of paths into an object, as a trie that never changes.
 *
 * Equal sets are one object, as far as the table below remembers: hundreds of thousands of like objects share what
 * says who owns their fields, and most questions of this module end at `===`.
 */
import { compareElements } from "./path-element.ts";
import { RecentMap } from "./recent-map.ts";

export interface FieldSet {
	/** Of this very trie, in the keys of the table. */
	readonly id: number;
	/** The path that leads here is in the set. */
	readonly isMember: boolean;
	/** In the order of {@link compareElements}. */
	readonly elements: readonly string[];
	/** What is below each element; none of them is empty. */
	readonly below: readonly FieldSet[];
}

/** Tries; about 300 bytes each. A plane of many kinds has a few thousand. */
const KNOWN_MAX = 16_384;

let lastId = 1;
const known = new RecentMap<FieldSet>(KNOWN_MAX);

export const EMPTY_SET: FieldSet = { id: 0, isMember: false, elements: [], below: [] };
/** A path that is in the set, with nothing below it. */
export const LEAF: FieldSet = { id: 1, isMember: true, elements: [], below: [] };

export function isEmpty(set: FieldSet): boolean {
	return set === EMPTY_SET;
}

/** `elements` must be in order and unique. Empty sets below drop out. */
export function fieldSet(isMember: boolean, elements: readonly string[], below: readonly FieldSet[]): FieldSet {
	if (below.includes(EMPTY_SET)) {
		const kept = below.map((set) => set !== EMPTY_SET);
		const keep = (_: unknown, index: number): boolean => kept[index] === true;
		return fieldSet(isMember, elements.filter(keep), below.filter(keep));
	}
	if (elements.length === 0) return isMember ? LEAF : EMPTY_SET;
	let key = isMember ? "." : "";
	for (let index = 0; index < elements.length; index++) key += `${elements[index]}\n${below[index]?.id}\n`;
	const same = known.get(key);
	if (same !== undefined) return same;
	lastId++;
	const made: FieldSet = { id: lastId, isMember, elements, below };
	known.set(key, made);
	return made;
}

/** As {@link fieldSet}, from elements in any order; of one that comes twice the sets are united. */
export function fieldSetOf(isMember: boolean, entries: ReadonlyMap<string, FieldSet>): FieldSet {
	const elements = [...entries.keys()].sort(compareElements);
	return fieldSet(
		isMember,
		elements,
		elements.map((element) => entries.get(element) ?? EMPTY_SET),
	);
}

/** Elements up to which looking at each is quicker than comparing. */
const FEW = 16;

export function below(set: FieldSet, element: string): FieldSet {
	const { elements } = set;
	const index = elements.length <= FEW ? elements.indexOf(element) : placeOf(elements, element);
	return set.below[index] ?? EMPTY_SET;
}

/** By halves; -1 when it is not there. */
function placeOf(elements: readonly string[], element: string): number {
	let [low, high] = [0, elements.length - 1];
	while (low <= high) {
		const middle = (low + high) >> 1;
		const order = compareElements(elements[middle] ?? "", element);
		if (order === 0) return middle;
		if (order < 0) low = middle + 1;
		else high = middle - 1;
	}
	return -1;
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
	if (a === b || b === EMPTY_SET) return a;
	if (a === EMPTY_SET) return b;
	const sets = a.elements.map((element, index) => union(a.below[index] ?? EMPTY_SET, below(b, element)));
	const isMember = a.isMember || b.isMember;
	const more = b.elements.filter((element) => below(a, element) === EMPTY_SET);
	if (more.length === 0) return same(a, isMember, a.elements, sets);
	const entries = new Map(a.elements.map((element, index) => [element, sets[index] ?? EMPTY_SET]));
	for (const element of more) entries.set(element, below(b, element));
	return fieldSetOf(isMember, entries);
}

/** Keeps what is in `a` and not in `b`, path by path. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
	if (a === EMPTY_SET || b === EMPTY_SET) return a;
	if (a === b) return EMPTY_SET;
	const sets = a.elements.map((element, index) => difference(a.below[index] ?? EMPTY_SET, below(b, element)));
	return same(a, a.isMember && !b.isMember, a.elements, sets);
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
	if (a === b) return a;
	if (a === EMPTY_SET || b === EMPTY_SET) return EMPTY_SET;
	const sets = a.elements.map((element, index) => intersection(a.below[index] ?? EMPTY_SET, below(b, element)));
	return same(a, a.isMember && b.isMember, a.elements, sets);
}

/** Keeps what is in `a` and neither in `b` nor below a path of `b`. */
export function withoutSubtrees(a: FieldSet, b: FieldSet): FieldSet {
	if (a === EMPTY_SET || b === EMPTY_SET) return a;
	if (b.isMember) return EMPTY_SET;
	const sets = a.elements.map((element, index) => withoutSubtrees(a.below[index] ?? EMPTY_SET, below(b, element)));
	return same(a, a.isMember, a.elements, sets);
}

/** `a` itself when nothing has changed. */
function same(a: FieldSet, isMember: boolean, elements: readonly string[], sets: readonly FieldSet[]): FieldSet {
	if (isMember === a.isMember && sets.length === a.below.length && sets.every((set, index) => set === a.below[index])) {
		return a;
	}
	return fieldSet(isMember, elements, sets);
}

/** Every path of the set, as its elements from the top. */
export function pathsOf(set: FieldSet, above: readonly string[] = []): readonly (readonly string[])[] {
	const deeper = set.elements.flatMap((element, index) => pathsOf(set.below[index] ?? EMPTY_SET, [...above, element]));
	return set.isMember ? [above, ...deeper] : deeper;
}

export function pathSet(...paths: readonly (readonly string[])[]): FieldSet {
	return paths.reduce(
		(set, path) =>
			union(
				set,
				path.reduceRight((deeper, element) => fieldSet(false, [element], [deeper]), LEAF),
			),
		EMPTY_SET,
	);
}
