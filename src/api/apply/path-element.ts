/**
 * One step of a path into an object, written as fieldsV1 writes it: `f:spec` a field, `k:{"port":80}` the item of
 * a list with these keys, `v:"x"` the item of a set, `i:0` an item by its place.
 */
import { isObject, ownValue } from "../../kernel/json.ts";
import { compareStrings } from "../../kernel/order.ts";
import { goText } from "../patch/go-text.ts";
import type { KeyedListShape } from "./shape.ts";

/** Fields come first, then items by key, by value, by place. */
const ORDER = "fkvi";

export function fieldElement(name: string): string {
	return `f:${name}`;
}

/** The name that the element gives a field, or undefined when it is none. */
export function fieldNameOf(element: string): string | undefined {
	return element.startsWith("f:") ? element.slice(2) : undefined;
}

export function setElement(item: unknown): string {
	return `v:${jsonOf(item)}`;
}

/** Undefined when the item is no object or lacks a key that has no default. */
export function keyElement({ keys }: KeyedListShape, item: unknown): string | undefined {
	if (!isObject(item)) return undefined;
	const parts: string[] = [];
	for (const { name, default: fallback } of sortedKeys(keys)) {
		const value = ownValue(item, name) ?? fallback;
		if (value === undefined) return undefined;
		parts.push(`"${name}":${jsonOf(value)}`);
	}
	return `k:{${parts.join(",")}}`;
}

const NEEDS_ESCAPE = /["\\\p{Cc}\p{Cs}]/u;

/** As JSON.stringify, which takes long for what keys most often are. */
function jsonOf(value: unknown): string {
	return typeof value === "string" && !NEEDS_ESCAPE.test(value) ? `"${value}"` : JSON.stringify(value);
}

const sortedByKeys = new WeakMap<KeyedListShape["keys"], KeyedListShape["keys"]>();

function sortedKeys(keys: KeyedListShape["keys"]): KeyedListShape["keys"] {
	if (keys.length < 2) return keys;
	const known = sortedByKeys.get(keys) ?? [...keys].sort((a, b) => compareStrings(a.name, b.name));
	sortedByKeys.set(keys, known);
	return known;
}

/** Things in the order in which fieldsV1 lists their elements; numbers in keys compare as numbers. */
export function inElementOrder<T extends { readonly element: string }>(things: readonly T[]): readonly T[] {
	// Each value is read once, and not for each comparison.
	const ranked = things.map((thing) => ({ thing, ...rankOf(thing.element) }));
	const sorted = ranked.sort(
		(a, b) => a.kind - b.kind || compareValues(a.value, b.value) || compareStrings(a.thing.element, b.thing.element),
	);
	return sorted.map(({ thing }) => thing);
}

function rankOf(element: string): { readonly kind: number; readonly value: unknown } {
	const kind = ORDER.indexOf(element.charAt(0));
	return { kind, value: element.startsWith("f:") ? undefined : parsedValue(element.slice(2)) };
}

function compareValues(a: unknown, b: unknown): number {
	if (typeof a === "number" && typeof b === "number") return a - b;
	if (typeof a === "string" && typeof b === "string") return compareStrings(a, b);
	if (!isObject(a) || !isObject(b)) return 0;
	for (const key of Object.keys(a)) {
		const order = compareValues(a[key], ownValue(b, key));
		if (order !== 0) return order;
	}
	return 0;
}

/** The element in its one form, keys sorted; undefined for what is none. */
export function canonicalElement(text: string): string | undefined {
	switch (text.slice(0, 2)) {
		case "f:":
			return text;
		case "v:": {
			const value = parsedValue(text.slice(2));
			return value === undefined ? undefined : setElement(value);
		}
		case "i:":
			return /^i:\d+$/.test(text) ? text : undefined;
		case "k:": {
			const value = parsedValue(text.slice(2));
			if (!isObject(value)) return undefined;
			const keys = Object.keys(value).sort(compareStrings);
			return `k:{${keys.map((key) => `${JSON.stringify(key)}:${JSON.stringify(value[key])}`).join(",")}}`;
		}
		default:
			return undefined;
	}
}

/** As conflicts show it: `.spec`, `[port=80,protocol="TCP"]`, `[="x"]`, `[0]`. */
export function elementText(element: string): string {
	const rest = element.slice(2);
	switch (element.charAt(0)) {
		case "f":
			return `.${rest}`;
		case "i":
			return `[${rest}]`;
		case "v":
			return `[=${valueText(parsedValue(rest))}]`;
		default: {
			const keys = parsedValue(rest);
			if (!isObject(keys)) return `[${rest}]`;
			const parts = Object.keys(keys).map((key) => `${key}=${valueText(keys[key])}`);
			return `[${parts.join(",")}]`;
		}
	}
}

function valueText(value: unknown): string {
	return typeof value === "string" ? JSON.stringify(value) : value === null ? "null" : goText(value);
}

function parsedValue(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
