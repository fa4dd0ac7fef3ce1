/** What the walks over values share: what a shape means for the value at hand, and the items of lists. */
import { isObject } from "../../kernel/json.ts";
import { fieldElement, keyElement, setElement } from "./path-element.ts";
import type { ApplyShape, KeyedListShape, StructShape } from "./shape.ts";

type MapShape = Extract<ApplyShape, { kind: "map" }>;
export type ListShape = KeyedListShape | Extract<ApplyShape, { kind: "set" }>;

const UNTYPED_MAP: MapShape = { kind: "map", of: { kind: "untyped" } };
const ONE_VALUE: ApplyShape = { kind: "atom" };

/** The shape without `untyped`: that is deduced from the value. */
export function deduced(shape: ApplyShape, value: unknown): Exclude<ApplyShape, { kind: "untyped" }> {
	if (shape.kind !== "untyped") return shape;
	return isObject(value) ? UNTYPED_MAP : (ONE_VALUE as Extract<ApplyShape, { kind: "atom" }>);
}

/** The shape of a field, or of a map's entry. What a struct does not declare is one value. */
export function childShape(shape: StructShape | MapShape, name: string): ApplyShape {
	return shape.kind === "map" ? shape.of : (shape.fieldOf(name) ?? ONE_VALUE);
}

export function isAlwaysThere(shape: StructShape | MapShape, name: string): boolean {
	return shape.kind === "struct" && shape.alwaysThere?.includes(name) === true;
}

/** Null and what is empty are the same to whoever compares. */
export function isNothing(value: unknown): boolean {
	if (value === null || value === undefined) return true;
	if (Array.isArray(value)) return value.length === 0;
	return isObject(value) && Object.keys(value).length === 0;
}

export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
	return isObject(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
}

/** The element of an item of a stored list: a key that is not there counts as empty. */
export function itemElement(shape: ListShape, item: unknown): string {
	if (shape.kind === "set") return setElement(item);
	return keyElement(shape, item) ?? keyElement({ ...shape, keys: withEmpty(shape) }, item) ?? setElement(item);
}

function withEmpty({ keys }: KeyedListShape): KeyedListShape["keys"] {
	return keys.map((key) => (key.default === undefined ? { ...key, default: "" } : key));
}

/** Items with their elements, in order. More than one item under an element: the list has duplicates. */
export function itemsByElement(shape: ListShape, value: unknown): ReadonlyMap<string, readonly unknown[]> {
	const items = new Map<string, unknown[]>();
	for (const item of listOf(value)) {
		const element = itemElement(shape, item);
		const others = items.get(element);
		if (others === undefined) items.set(element, [item]);
		else others.push(item);
	}
	return items;
}

export function fieldPath(...names: readonly string[]): readonly string[] {
	return names.map(fieldElement);
}
