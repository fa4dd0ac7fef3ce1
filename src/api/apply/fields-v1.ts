/** Field sets as `fieldsV1` shows them: `{"f:metadata":{"f:labels":{".":{},"f:app":{}}}}`. */
import { isObject, setOwn } from "../../kernel/json.ts";
import { EMPTY_SET, type FieldSet, fieldSetOf, LEAF, union } from "./field-set.ts";
import { canonicalElement } from "./path-element.ts";

export type FieldsV1 = Readonly<Record<string, unknown>>;

const NOTHING_BELOW: FieldsV1 = Object.freeze({});
const texts = new WeakMap<FieldSet, FieldsV1>();
const sets = new WeakMap<object, FieldSet>();

/** Frozen, and the same for the same set: objects whose fields are owned alike share it. */
export function fieldsV1Of(set: FieldSet): FieldsV1 {
	if (set.elements.length === 0) return NOTHING_BELOW;
	const known = texts.get(set);
	if (known !== undefined) return known;
	const made: Record<string, unknown> = {};
	if (set.isMember) made["."] = NOTHING_BELOW;
	for (const [index, element] of set.elements.entries()) {
		setOwn(made, element, fieldsV1Of(set.below[index] ?? EMPTY_SET));
	}
	Object.freeze(made);
	texts.set(set, made);
	sets.set(made, set);
	return made;
}

/** Whether the value came from {@link fieldsV1Of}, so that nothing about it needs checking. */
export function isOwnFieldsV1(value: unknown): boolean {
	return typeof value === "object" && value !== null && (value === NOTHING_BELOW || sets.has(value));
}

/** Undefined for what is no field set. */
export function fieldSetOfV1(value: unknown): FieldSet | undefined {
	if (!isObject(value)) return undefined;
	const known = sets.get(value);
	if (known !== undefined) return known;
	const read = readBelow(value, false);
	return read;
}

function readBelow(value: Readonly<Record<string, unknown>>, isMemberAnyway: boolean): FieldSet | undefined {
	const known = sets.get(value);
	if (known !== undefined) return known;
	const entries = new Map<string, FieldSet>();
	const keys = Object.keys(value);
	let isMember = isMemberAnyway && keys.length === 0;
	for (const key of keys) {
		if (key === ".") {
			isMember = true;
			continue;
		}
		const element = canonicalElement(key);
		const child = value[key];
		const deeper = isObject(child) ? readBelow(child, true) : undefined;
		if (element === undefined || deeper === undefined) return undefined;
		entries.set(element, union(entries.get(element) ?? EMPTY_SET, deeper));
	}
	return entries.size === 0 ? (isMember ? LEAF : EMPTY_SET) : fieldSetOf(isMember, entries);
}
