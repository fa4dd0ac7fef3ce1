/** Fills in the defaults of a schema. What does not change stays the same object, as in `prune.ts`. */
import { isObject, ownValue, setOwn } from "../../kernel/json.ts";
import { schemaOf } from "./prune.ts";
import { additionalOf, itemsOf, type SchemaMap, type SchemaProps } from "./schema-props.ts";

export function withSchemaDefaults(value: unknown, schema: SchemaProps): unknown {
	if (!hasDefaults(schema)) return value;
	if (Array.isArray(value)) {
		const inner = itemsOf(schema);
		return inner === undefined ? value : mapped(value, (item) => withSchemaDefaults(item, inner));
	}
	if (!isObject(value)) return value;
	const additional = additionalOf(schema);
	const result: Record<string, unknown> = {};
	let isSame = true;
	for (const key of Object.keys(value)) {
		const inner = schemaOf(schema, key) ?? additional;
		const given = value[key];
		const filled = inner === undefined ? given : filledIn(given, inner, schemaOf(schema, key) !== undefined);
		isSame &&= filled === given;
		if (filled !== undefined) setOwn(result, key, filled);
	}
	for (const [key, inner] of defaulted(schema)) {
		if (Object.hasOwn(value, key)) continue;
		isSame = false;
		setOwn(result, key, withSchemaDefaults(inner.default, inner));
	}
	return isSame ? value : result;
}

/** A null that the schema does not allow counts as absent: it is replaced by the default, or goes (undefined). */
function filledIn(given: unknown, schema: SchemaProps, isProperty: boolean): unknown {
	if (given !== null || schema.nullable === true) return withSchemaDefaults(given, schema);
	if (schema.default !== undefined) return withSchemaDefaults(schema.default, schema);
	return isProperty ? undefined : given;
}

function mapped(list: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
	let isSame = true;
	const items = list.map((item) => {
		const changed = change(item);
		isSame &&= changed === item;
		return changed;
	});
	return isSame ? list : items;
}

const defaultedOf = new WeakMap<SchemaProps, readonly (readonly [string, SchemaProps])[]>();

/** The properties that have a default. */
function defaulted(schema: SchemaProps): readonly (readonly [string, SchemaProps])[] {
	const known = defaultedOf.get(schema);
	if (known !== undefined) return known;
	const found = Object.entries(schema.properties ?? {}).filter(([, inner]) => inner.default !== undefined);
	defaultedOf.set(schema, found);
	return found;
}

const hasDefaultsOf = new WeakMap<SchemaProps, boolean>();

/** Whether there is anything to do for values of this schema: a default, or a null that must go. */
function hasDefaults(schema: SchemaProps): boolean {
	const known = hasDefaultsOf.get(schema);
	if (known !== undefined) return known;
	const properties: SchemaMap = schema.properties ?? {};
	const inner = [itemsOf(schema), additionalOf(schema)].filter((each) => each !== undefined);
	// Any property may come as null.
	const found =
		Object.keys(properties).length > 0 || inner.some((each) => each.default !== undefined || hasDefaults(each));
	hasDefaultsOf.set(schema, found);
	return found;
}

/** The value under `key` of a value that may be anything. */
export function memberOf(value: unknown, key: string): unknown {
	return isObject(value) ? ownValue(value, key) : undefined;
}
