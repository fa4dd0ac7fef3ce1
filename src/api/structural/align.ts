/**
 * The order of lists that are sets or maps does not count. Whoever compares an old value with a new one item by item
 * sees that when the old one is brought into the order of the new one.
 */
import { isObject, ownValue, setOwn } from "../../kernel/json.ts";
import { schemaOf } from "./prune.ts";
import { additionalOf, itemsOf, type SchemaProps } from "./schema-props.ts";
import { canonicalText, keyOfItem } from "./validate.ts";

/** `old` in the order of `next`, as far as the same items are in both. The same value when nothing moves. */
export function aligned(old: unknown, next: unknown, schema: SchemaProps): unknown {
	if (old === next) return old;
	if (Array.isArray(old) && Array.isArray(next)) return alignedList(old, next, schema);
	if (!isObject(old) || !isObject(next)) return old;
	const additional = additionalOf(schema);
	let result: Record<string, unknown> | undefined;
	for (const key of Object.keys(old)) {
		const inner = schemaOf(schema, key) ?? additional;
		if (inner === undefined) continue;
		const moved = aligned(old[key], ownValue(next, key), inner);
		if (moved === old[key]) continue;
		result ??= { ...old };
		setOwn(result, key, moved);
	}
	return result ?? old;
}

function alignedList(old: readonly unknown[], next: readonly unknown[], schema: SchemaProps): readonly unknown[] {
	const type = schema["x-kubernetes-list-type"];
	if ((type !== "set" && type !== "map") || old.length !== next.length) return old;
	const keys = schema["x-kubernetes-list-map-keys"] ?? [];
	const identity = (item: unknown): string => canonicalText(type === "set" ? item : keyOfItem(item, keys));
	const known = new Map(old.map((item) => [identity(item), item]));
	const inner = itemsOf(schema) ?? {};
	const moved: unknown[] = [];
	for (const item of next) {
		const text = identity(item);
		if (!known.has(text)) return old;
		moved.push(aligned(known.get(text), item, inner));
	}
	return moved;
}
