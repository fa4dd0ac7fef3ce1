/** Rules for what one version of a custom resource adds to its schema: columns, scale, selectable fields. */
import { duplicate, type FieldError, invalid, required, tooMany } from "../field-error.ts";
import { fieldNames, parseJsonPath } from "../structural/json-path.ts";
import { schemaOf } from "../structural/prune.ts";
import type { SchemaProps } from "../structural/schema-props.ts";
import type { CustomResourceVersion, PrinterColumn, ScalePaths } from "../types/apiextensions.ts";

const COLUMN_TYPES = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
const SELECTABLE_MAX = 8;

export function columnErrors(columns: readonly PrinterColumn[], place: string): readonly FieldError[] {
	return columns.flatMap((column, index) => {
		const at = `${place}[${index}]`;
		const { name = "", type = "", format = "", jsonPath = "" } = column;
		const types = `must be one of ${COLUMN_TYPES.join(",")}`;
		return [
			...(name === "" ? [required(`${at}.name`, "")] : []),
			...(type === ""
				? [required(`${at}.type`, types)]
				: COLUMN_TYPES.includes(type)
					? []
					: [invalid(`${at}.type`, type, types)]),
			...(format === "" || COLUMN_FORMATS.includes(format)
				? []
				: [invalid(`${at}.format`, format, `must be one of ${COLUMN_FORMATS.join(",")}`)]),
			...pathErrors(jsonPath, `${at}.JSONPath`),
		];
	});
}

export function scaleErrors(scale: ScalePaths | undefined, place: string): readonly FieldError[] {
	if (scale === undefined) return [];
	const { specReplicasPath = "", statusReplicasPath = "", labelSelectorPath = "" } = scale;
	const below = (field: string, text: string, roots: readonly string[], where: string): readonly FieldError[] => {
		const errors = fieldPathErrors(text, field);
		if (errors.length > 0 || roots.some((root) => text.startsWith(root))) return errors;
		return [invalid(field, text, `should be a json path under ${where}`)];
	};
	return [
		...below(`${place}.scale.specReplicasPath`, specReplicasPath, [".spec."], ".spec"),
		...below(`${place}.scale.statusReplicasPath`, statusReplicasPath, [".status."], ".status"),
		...(labelSelectorPath === ""
			? []
			: below(
					`${place}.scale.labelSelectorPath`,
					labelSelectorPath,
					[".spec.", ".status."],
					"either .spec or .status",
				)),
	];
}

function pathErrors(text: string, field: string): readonly FieldError[] {
	if (text === "") return [required(field, "")];
	if (!text.startsWith(".")) return [invalid(field, text, "must be a simple json path starting with .")];
	const parsed = parseJsonPath(text);
	return parsed.kind === "path" ? [] : [invalid(field, text, `is an invalid path: ${parsed.why}`)];
}

function fieldPathErrors(text: string, field: string): readonly FieldError[] {
	const errors = pathErrors(text, field);
	if (errors.length > 0) return errors;
	return namesOf(text) === undefined ? [invalid(field, text, "must be a json path in the dot notation")] : [];
}

function namesOf(text: string): readonly string[] | undefined {
	const parsed = parseJsonPath(text);
	return parsed.kind === "path" ? fieldNames(parsed.path) : undefined;
}

export function selectableErrors(
	{ selectableFields = [], schema }: CustomResourceVersion,
	place: string,
): readonly FieldError[] {
	const field = `${place}.selectableFields`;
	const seen = new Set<string>();
	const errors = selectableFields.flatMap(({ jsonPath = "" }, index) => {
		const at = `${field}[${index}].jsonPath`;
		if (jsonPath === "") return [required(at, "")];
		const found = schemaAt(schema?.openAPIV3Schema ?? {}, jsonPath);
		if (found === undefined) return [invalid(at, jsonPath, `is an invalid path: does not refer to a valid field`)];
		if (seen.has(jsonPath)) return [duplicate(at, jsonPath)];
		seen.add(jsonPath);
		if (jsonPath.startsWith(".metadata")) return [invalid(at, jsonPath, "must not point to fields in metadata")];
		if (["string", "boolean", "integer"].includes(found.type ?? "")) return [];
		const why =
			"must point to a field of type string, boolean or integer. " +
			"Enum string fields and strings with formats are allowed.";
		return [invalid(at, jsonPath, why)];
	});
	return seen.size > SELECTABLE_MAX ? [...errors, tooMany(field, seen.size, SELECTABLE_MAX)] : errors;
}

function schemaAt(schema: SchemaProps, text: string): SchemaProps | undefined {
	let inner: SchemaProps | undefined = schema;
	const names = namesOf(text);
	if (names === undefined || names.length === 0) return undefined;
	for (const name of names) inner = inner === undefined ? undefined : schemaOf(inner, name);
	return inner;
}
