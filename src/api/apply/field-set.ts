/**
 * A set of paths into an object, which is what `fieldsV1` shows of it:
 * `{"f:metadata":{"f:labels":{".":{},"f:app":{}}}}`. A path is in the set when nothing or a `.` is below it.
 *
 * A set never changes, and equal sets are one object as far as the table below remembers: hundreds of thousands of
 * like objects share what says who owns their fields, and most questions end at `===`. Whether two sets are equal
 * `===` alone does not tell: the table learns a set when it comes again, and forgets.
 */
import { isObject, setOwn } from "../../kernel/json.ts";
import { canonicalElement, inElementOrder } from "./path-element.ts";
import { RecentMap } from "./recent-map.ts";

export interface FieldSet {
	readonly [element: string]: FieldSet;
}

/** Sets; about half a kilobyte each with their keys. A plane of many kinds has a few thousand. */
const KNOWN_MAX = 8_192;
/** Elements of a set that is remembered. Longer ones are of few objects, and their keys would fill the memory. */
const KNOWN_ELEMENTS_MAX = 256;
const known = new RecentMap<FieldSet>(KNOWN_MAX);
const ITSELF = ".";

/** The sets that were made here: of any other object it must be found out whether it is one. */
class Trie {
	/** In the keys of the table. */
	readonly #id: number;
	/** It is below another: whatever has it below may be known already. */
	#isBelow = false;
	static #lastId = 0;

	private constructor() {
		Trie.#lastId++;
		this.#id = Trie.#lastId;
	}

	static make(elements: readonly string[], below: readonly FieldSet[]): FieldSet {
		const made = new Trie();
		for (let index = 0; index < elements.length; index++) {
			const set = below[index] ?? LEAF;
			if (#isBelow in set) set.#isBelow = true;
			setOwn(made, elements[index] ?? "", set);
		}
		return Object.freeze(made) as Trie & FieldSet;
	}

	static idOf(set: object): number {
		return #id in set ? set.#id : 0;
	}

	static isNew(set: object): boolean {
		return set !== LEAF && set !== EMPTY_SET && #isBelow in set && !set.#isBelow;
	}
}

export const EMPTY_SET: FieldSet = Trie.make([], []);
/** A path that is in the set, with nothing below it. */
export const LEAF: FieldSet = Trie.make([], []);

/** The number stands for the set; 0 for an object that is not known to be one. */
export function idOf(set: object): number {
	return Trie.idOf(set);
}

/** Fields for one question only, such as what a write changed: cheap to make, and not worth remembering. */
export class LooseFields {
	readonly elements: readonly string[];
	readonly sets: readonly Fields[];
	#places: ReadonlyMap<string, number> | undefined;

	/** None of `sets` is empty. */
	constructor(elements: readonly string[], sets: readonly Fields[]) {
		this.elements = elements;
		this.sets = sets;
	}

	below(element: string): Fields {
		const place = this.elements.length > SCANNED_MAX ? this.#placeOf(element) : this.elements.indexOf(element);
		return place === undefined ? EMPTY_SET : (this.sets[place] ?? EMPTY_SET);
	}

	#placeOf(element: string): number | undefined {
		this.#places ??= new Map(this.elements.map((each, place) => [each, place]));
		return this.#places.get(element);
	}
}

/** Elements that are looked through; of more, a table of their places is made. */
const SCANNED_MAX = 16;

export type Fields = FieldSet | LooseFields;

/** Whether the path that leads here is in the set. */
export function isMember(set: Fields): boolean {
	return set === LEAF || (!(set instanceof LooseFields) && Object.hasOwn(set, ITSELF));
}

/** In the order in which they are shown, without the `.`. */
export function elementsOf(set: Fields): readonly string[] {
	if (set instanceof LooseFields) return set.elements;
	const keys = Object.keys(set);
	return keys[0] === ITSELF ? keys.slice(1) : keys;
}

export function below(set: FieldSet, element: string): FieldSet {
	return Object.hasOwn(set, element) ? (set[element] ?? EMPTY_SET) : EMPTY_SET;
}

function fieldsBelow(set: Fields, element: string): Fields {
	return set instanceof LooseFields ? set.below(element) : below(set, element);
}

/** The fields as a set. */
export function settled(fields: Fields): FieldSet {
	return fields instanceof LooseFields ? fieldSet(false, fields.elements, fields.sets.map(settled)) : fields;
}

/** @param elements Unique, in any order. Empty sets below drop out. */
export function fieldSet(asMember: boolean, elements: readonly string[], sets: readonly FieldSet[]): FieldSet {
	// What nothing has below it yet makes a set that is not known. Most of those are of one object alone, such as the
	// addresses of a Pod: the table is not for them.
	if (elements.length > KNOWN_ELEMENTS_MAX || sets.some(Trie.isNew)) return inOrder(asMember, elements, sets);
	let key = asMember ? ITSELF : "";
	for (let index = 0; index < elements.length; index++)
		key += `${elements[index]}\n${idOf(sets[index] ?? EMPTY_SET)}\n`;
	const same = known.get(key);
	if (same !== undefined) return same;
	const made = inOrder(asMember, elements, sets);
	known.set(key, made);
	return made;
}

/** Like objects list their fields alike, so that this is done once for all of them. */
function inOrder(asMember: boolean, elements: readonly string[], sets: readonly FieldSet[]): FieldSet {
	const kept = elements.map((element, index) => ({ element, set: sets[index] ?? EMPTY_SET }));
	const sorted = inElementOrder(kept.filter(({ set }) => set !== EMPTY_SET));
	if (sorted.length === 0) return asMember ? LEAF : EMPTY_SET;
	const isSame = sorted.length === elements.length && sorted.every(({ element }, index) => element === elements[index]);
	const names = sorted.map(({ element }) => element);
	const inside = sorted.map(({ set }) => set);
	const isShared = names.length <= KNOWN_ELEMENTS_MAX && !inside.some(Trie.isNew);
	if (!isSame && isShared) return fieldSet(asMember, names, inside);
	return asMember ? Trie.make([ITSELF, ...names], [LEAF, ...inside]) : Trie.make(names, inside);
}

export function fieldSetOf(asMember: boolean, entries: ReadonlyMap<string, FieldSet>): FieldSet {
	return fieldSet(asMember, [...entries.keys()], [...entries.values()]);
}

export function withMembership(set: FieldSet, asMember: boolean): FieldSet {
	if (isMember(set) === asMember) return set;
	const elements = elementsOf(set);
	return fieldSet(
		asMember,
		elements,
		elements.map((element) => below(set, element)),
	);
}

export function union(a: FieldSet, b: Fields): FieldSet {
	if (a === b || b === EMPTY_SET) return a;
	if (a === EMPTY_SET) return settled(b);
	return changed<Fields>(a, b, isMember(a) || isMember(b), union);
}

/** All at once: one by one, each would be added to all that came before. */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
	const [first = EMPTY_SET, second = EMPTY_SET, ...more] = new Set(sets);
	if (more.length === 0) return union(first, second);
	const deeper = new Map<string, FieldSet[]>();
	for (const set of sets) {
		for (const element of elementsOf(set)) {
			const same = deeper.get(element);
			if (same === undefined) deeper.set(element, [below(set, element)]);
			else same.push(below(set, element));
		}
	}
	return fieldSet(sets.some(isMember), [...deeper.keys()], [...deeper.values()].map(unionOf));
}

/** Keeps what is in `a` and not in `b`, path by path. */
export function difference(a: FieldSet, b: Fields): FieldSet {
	if (a === EMPTY_SET || b === EMPTY_SET) return a;
	if (a === b) return EMPTY_SET;
	return changed<Fields>(a, b, isMember(a) && !isMember(b), difference);
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
	if (a === b) return a;
	if (a === EMPTY_SET || b === EMPTY_SET) return EMPTY_SET;
	const elements = elementsOf(a).filter((element) => Object.hasOwn(b, element));
	const sets = elements.map((element) => intersection(below(a, element), below(b, element)));
	return fieldSet(isMember(a) && isMember(b), elements, sets);
}

/** Keeps what is in `a` and neither in `b` nor below a path of `b`. */
export function withoutSubtrees(a: FieldSet, b: FieldSet): FieldSet {
	if (a === EMPTY_SET || b === EMPTY_SET) return a;
	return isMember(b) ? EMPTY_SET : changed(a, b, isMember(a), withoutSubtrees);
}

/** `a` with what `change` makes of what is below each element of `b`; `a` itself when that changes nothing. */
function changed<B extends Fields>(
	a: FieldSet,
	b: B,
	asMember: boolean,
	change: (a: FieldSet, b: B) => FieldSet,
): FieldSet {
	let entries: Map<string, FieldSet> | undefined;
	for (const element of elementsOf(b)) {
		const before = below(a, element);
		const after = change(before, fieldsBelow(b, element) as B);
		if (after === before) continue;
		entries ??= new Map(elementsOf(a).map((each) => [each, below(a, each)]));
		entries.set(element, after);
	}
	return entries === undefined ? withMembership(a, asMember) : fieldSetOf(asMember, entries);
}

/** Every path of the set, as its elements from the top. */
export function pathsOf(set: FieldSet, above: readonly string[] = []): readonly (readonly string[])[] {
	const deeper = elementsOf(set).flatMap((element) => pathsOf(below(set, element), [...above, element]));
	return isMember(set) ? [above, ...deeper] : deeper;
}

export function pathSet(...paths: readonly (readonly string[])[]): FieldSet {
	const single = (path: readonly string[]): FieldSet =>
		path.reduceRight((deeper, element) => fieldSet(false, [element], [deeper]), LEAF);
	return paths.reduce((set, path) => union(set, single(path)), EMPTY_SET);
}

/** What anybody sends as fieldsV1, as a set; undefined for what is none. */
export function readFieldSet(value: unknown): FieldSet | undefined {
	const set = isObject(value) ? readBelow(value) : undefined;
	return set === LEAF ? EMPTY_SET : set;
}

function readBelow(value: Readonly<Record<string, unknown>>): FieldSet | undefined {
	if (idOf(value) > 0) return value as FieldSet;
	const entries = new Map<string, FieldSet>();
	const keys = Object.keys(value);
	for (const key of keys) {
		if (key === ITSELF) continue;
		const element = canonicalElement(key);
		const child = value[key];
		const deeper = isObject(child) ? readBelow(child) : undefined;
		if (element === undefined || deeper === undefined) return undefined;
		entries.set(element, union(entries.get(element) ?? EMPTY_SET, deeper));
	}
	return fieldSetOf(keys.length === 0 || Object.hasOwn(value, ITSELF), entries);
}
