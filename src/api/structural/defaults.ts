/** Fills in the defaults of a schema. What does not change stays the same object, as in `prune.ts`. */
import { isObject, ownValue, setOwn } from "../../kernel/json.ts";
import { ApiError } from "../status.ts";
import { schemaOf } from "./prune.ts";
import { additionalOf, itemsOf, type SchemaMap, type SchemaProps } from "./schema-props.ts";

/** Characters of JSON that are filled in: more than any object may have. */
const FILLED_MAX = 1_572_864;

/** @throws {ApiError} `RequestEntityTooLarge` when there is too much to fill in. */
export function withSchemaDefaults(value: unknown, schema: SchemaProps): unknown {
	const filling = new Filling();
	const filled = filling.filled(value, schema);
	if (filling.isFull) {
		const limit = `limit is ${FILLED_MAX} characters of defaults that the schema fills in`;
		throw new ApiError("RequestEntityTooLarge", `Request entity too large: ${limit}`);
	}
	return filled;
}

/** What is stored is shown, though a newer schema may have too much to fill in: what is beyond is left out. */
export function withManySchemaDefaults(value: unknown, schema: SchemaProps): unknown {
	return new Filling().filled(value, schema);
}

class Filling {
	#left = FILLED_MAX;

	get isFull(): boolean {
		return this.#left < 0;
	}

	filled(value: unknown, schema: SchemaProps): unknown {
		if (!hasDefaults(schema)) return value;
		if (Array.isArray(value)) {
			const inner = itemsOf(schema);
			return inner === undefined ? value : mapped(value, (item) => this.filled(item, inner));
		}
		return isObject(value) ? this.#members(value, schema) : value;
	}

	#members(value: Readonly<Record<string, unknown>>, schema: SchemaProps): unknown {
		const additional = additionalOf(schema);
		const result: Record<string, unknown> = {};
		let isSame = true;
		for (const key of Object.keys(value)) {
			const inner = schemaOf(schema, key) ?? additional;
			const given = value[key];
			const filled = inner === undefined ? given : this.#member(given, inner, schemaOf(schema, key) !== undefined);
			isSame &&= filled === given;
			if (filled !== undefined) setOwn(result, key, filled);
		}
		for (const { key, inner, size } of defaulted(schema)) {
			if (Object.hasOwn(value, key)) continue;
			this.#left -= size;
			if (this.isFull) break;
			isSame = false;
			setOwn(result, key, this.filled(inner.default, inner));
		}
		return isSame ? value : result;
	}

	/** A null that the schema does not allow counts as absent: it is replaced by the default, or goes (undefined). */
	#member(given: unknown, schema: SchemaProps, isProperty: boolean): unknown {
		if (given !== null || schema.nullable === true) return this.filled(given, schema);
		if (schema.default === undefined) return isProperty ? undefined : given;
		this.#left -= sizeOf(schema.default);
		return this.isFull ? given : this.filled(schema.default, schema);
	}
}

function sizeOf(value: unknown): number {
	return JSON.stringify(value).length;
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

interface Defaulted {
	readonly key: string;
	readonly inner: SchemaProps;
	/** Characters of the member as JSON. */
	readonly size: number;
}

const defaultedOf = new WeakMap<SchemaProps, readonly Defaulted[]>();

/** The properties that have a default. */
function defaulted(schema: SchemaProps): readonly Defaulted[] {
	const known = defaultedOf.get(schema);
	if (known !== undefined) return known;
	const found = Object.entries(schema.properties ?? {})
		.filter(([, inner]) => inner.default !== undefined)
		.map(([key, inner]) => ({ key, inner, size: key.length + '"":,'.length + sizeOf(inner.default) }));
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
