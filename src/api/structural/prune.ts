/**
 * Drops what the schema does not name. Values are frozen and may be shared, so what does not change stays the same
 * object: an object that fits its schema costs no copy.
 */
import { isObject, ownValue, setOwn } from "../../kernel/json.ts";
import { decodePart } from "../schema/decode.ts";
import { additionalOf, itemsOf, type SchemaProps } from "./schema-props.ts";

export interface PruneReport {
	/** Called with the path of each field that is dropped: `spec.foo`. */
	readonly dropped?: (path: string) => void;
	/** Called with why metadata of an embedded resource cannot be read. */
	readonly wrong?: (why: string) => void;
}

/** What every object has, whether its schema names it or not. */
const RESOURCE_FIELDS: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

export function pruned(
	value: unknown,
	schema: SchemaProps,
	report: PruneReport = {},
	path = "",
	isResource = true,
): unknown {
	if (Array.isArray(value)) return prunedList(value, schema, report, path);
	if (!isObject(value)) return value;
	const result: Record<string, unknown> = {};
	let isSame = true;
	for (const key of Object.keys(value)) {
		const given = value[key];
		const below = path === "" ? key : `${path}.${key}`;
		const kept =
			isResource && RESOURCE_FIELDS.has(key)
				? resourceField(key, given, report, below, path)
				: field(key, given, schema, report, below);
		isSame &&= kept === given;
		if (kept !== undefined) setOwn(result, key, kept);
	}
	return isSame ? value : result;
}

/** What stays of one field; undefined when it goes. */
function field(key: string, given: unknown, schema: SchemaProps, report: PruneReport, below: string): unknown {
	const inner = schemaOf(schema, key) ?? additionalOf(schema);
	if (inner !== undefined) return pruned(given, inner, report, below, inner["x-kubernetes-embedded-resource"] === true);
	if (schema["x-kubernetes-preserve-unknown-fields"] === true || schema.additionalProperties === true) return given;
	report.dropped?.(below);
	return undefined;
}

/** The top-level metadata is the server's affair; that of an embedded resource has the same fields. */
function resourceField(key: string, given: unknown, report: PruneReport, below: string, path: string): unknown {
	if (key !== "metadata" || path === "" || !isObject(given)) return given;
	const metadata = decodePart("meta.ObjectMeta", given, below);
	for (const text of metadata.unknown) report.dropped?.(text.slice('unknown field "'.length, -1));
	if (metadata.wrong !== undefined) report.wrong?.(metadata.wrong);
	return metadata.unknown.length === 0 || metadata.wrong !== undefined ? given : metadata.value;
}

function prunedList(
	value: readonly unknown[],
	schema: SchemaProps,
	report: PruneReport,
	path: string,
): readonly unknown[] {
	const inner = itemsOf(schema);
	if (inner === undefined) return value;
	const isResource = inner["x-kubernetes-embedded-resource"] === true;
	let isSame = true;
	const items = value.map((item, index) => {
		const kept = pruned(item, inner, report, `${path}[${index}]`, isResource);
		isSame &&= kept === item;
		return kept;
	});
	return isSame ? value : items;
}

export function schemaOf({ properties }: SchemaProps, key: string): SchemaProps | undefined {
	return properties === undefined ? undefined : (ownValue(properties, key) as SchemaProps | undefined);
}
