/** Values of custom objects as the CEL library wants them: integers are bigint, times are dates, base64 is bytes. */
import { schemaOf } from "../api/structural/prune.ts";
import { additionalOf, itemsOf, type SchemaProps } from "../api/structural/schema-props.ts";
import { isObject } from "../kernel/json.ts";
import { celDuration } from "./cel-duration.ts";

/** How large the largest parts of a value are: what a rule may cost follows from it. */
export interface Measured {
	itemsMax: number;
	charactersMax: number;
}

export function celValue(value: unknown, schema: SchemaProps | undefined, measured: Measured): unknown {
	if (typeof value === "number") return celNumber(value, schema);
	if (typeof value === "string") {
		measured.charactersMax = Math.max(measured.charactersMax, value.length);
		return celText(value, schema);
	}
	if (Array.isArray(value)) {
		measured.itemsMax = Math.max(measured.itemsMax, value.length);
		const inner = schema === undefined ? undefined : itemsOf(schema);
		return value.map((item) => celValue(item, inner, measured));
	}
	return isObject(value) ? celObject(value, schema, measured) : value;
}

function celNumber(value: number, schema: SchemaProps | undefined): unknown {
	return schema?.type !== "number" && Number.isSafeInteger(value) ? BigInt(value) : value;
}

function celText(value: string, schema: SchemaProps | undefined): unknown {
	if (schema?.format === "date-time" || schema?.format === "date") {
		const atMs = Date.parse(value);
		return Number.isNaN(atMs) ? value : new Date(atMs);
	}
	if (schema?.format === "duration") return celDuration(value) ?? value;
	// A Buffer is no list of bytes to the library.
	return schema?.format === "byte" ? Uint8Array.from(Buffer.from(value, "base64")) : value;
}

function celObject(value: Record<string, unknown>, schema: SchemaProps | undefined, measured: Measured): unknown {
	const keys = Object.keys(value);
	measured.itemsMax = Math.max(measured.itemsMax, keys.length);
	const additional = schema === undefined ? undefined : additionalOf(schema);
	const entries = keys.map((key): [string, unknown] => {
		const inner = schema === undefined ? undefined : schemaOf(schema, key);
		return [inner === undefined ? key : escaped(key), celValue(value[key], inner ?? additional, measured)];
	});
	// The library would take such a key for the class of the object.
	return keys.some((key) => key === "constructor" || key === "__proto__")
		? new Map(entries)
		: Object.fromEntries(entries);
}

/** Words of the language that a field may be called. */
const RESERVED: ReadonlySet<string> = new Set(
	"true false null in as break const continue else for function if import let loop package namespace return var void while".split(
		" ",
	),
);

/** Names of fields that are no names in the language are written in another way. */
function escaped(name: string): string {
	if (RESERVED.has(name)) return `__${name}__`;
	if (/^[A-Za-z_]\w*$/.test(name) && !name.includes("__")) return name;
	return name
		.replaceAll("__", "__underscores__")
		.replaceAll(".", "__dot__")
		.replaceAll("-", "__dash__")
		.replaceAll("/", "__slash__");
}
