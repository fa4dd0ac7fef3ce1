/**
 * The rules that a schema must keep so that objects can be pruned, defaulted and applied by it: it is "structural".
 *
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 */
import { deepEqual } from "../../kernel/json.ts";
import { type FieldError, forbidden, invalid, notSupported, required } from "../field-error.ts";
import { memberOf, withManySchemaDefaults } from "./defaults.ts";
import { listRuleErrors } from "./list-rules.ts";
import { compilePattern } from "./pattern.ts";
import { pruned } from "./prune.ts";
import { additionalOf, itemsOf, type SchemaMap, type SchemaProps } from "./schema-props.ts";
import { schemaProblems } from "./validate.ts";

type Level = "root" | "item" | "field";

/** All errors of the schema of one version, in the order of their paths. */
export function schemaRuleErrors(schema: SchemaProps, path: string, hasStatus: boolean): readonly FieldError[] {
	const structure = structuralErrors(schema, "root", path);
	const errors = [
		...rootErrors(schema, path, hasStatus),
		...(structure.length > 0 ? sorted(structure) : defaultErrors(schema, path, true)),
		...sorted(openApiErrors(schema, path, "root", undefined)),
	];
	return errors;
}

function sorted(errors: readonly FieldError[]): readonly FieldError[] {
	return [...errors].sort((a, b) => (`${a.field}: ${a.body}` < `${b.field}: ${b.body}` ? -1 : 1));
}

/** Keywords that may stand at the root beside a status subresource, as Go calls them. */
const AT_ROOT: readonly string[] =
	"Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations".split(
		" ",
	);

function rootErrors(schema: SchemaProps, path: string, hasStatus: boolean): readonly FieldError[] {
	const errors: FieldError[] = [];
	if (hasStatus) {
		const other = Object.keys(schema).find((key) => !AT_ROOT.includes(goName(key)) && key !== "nullable");
		if (schema.type !== undefined && schema.type !== "object") {
			const why = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
			errors.push(invalid(`${path}.type`, schema.type, why));
		} else if (other !== undefined) {
			const why = `only [${AT_ROOT.join(" ")}] fields are allowed at the root of the schema if the status subresource is enabled`;
			errors.push(invalid(path, schema, why));
		}
	}
	if (schema.nullable === true) errors.push(forbidden(`${path}.nullable`, "nullable cannot be true at the root"));
	return errors;
}

function goName(key: string): string {
	if (key === "x-kubernetes-preserve-unknown-fields") return "XPreserveUnknownFields";
	if (key === "x-kubernetes-validations") return "XValidations";
	return key.charAt(0).toUpperCase() + key.slice(1);
}

function structuralErrors(schema: SchemaProps, level: Level, path: string): readonly FieldError[] {
	const errors: FieldError[] = [];
	const items = itemsOf(schema);
	if (schema.type === "array" && schema.items === undefined)
		errors.push(required(`${path}.items`, "must be specified"));
	if (items !== undefined) errors.push(...structuralErrors(items, "item", `${path}.items`));
	for (const [name, inner] of Object.entries(schema.properties ?? {})) {
		errors.push(...structuralErrors(inner, "field", `${path}.properties[${name}]`));
	}
	if (schema.additionalProperties !== undefined && level === "root") {
		errors.push(forbidden(`${path}.additionalProperties`, "must not be used at the root"));
	}
	const additional = additionalOf(schema);
	if (additional !== undefined) errors.push(...structuralErrors(additional, "field", `${path}.additionalProperties`));
	errors.push(
		...extensionErrors(schema, path),
		...valueErrors(schema, path),
		...typeErrors(schema, level, path),
		...metadataErrors(schema, level, path),
		...completenessErrors(schema, schema, path),
	);
	return errors;
}

function extensionErrors(schema: SchemaProps, path: string): readonly FieldError[] {
	if (schema["x-kubernetes-int-or-string"] !== true) return [];
	const why = "must be false if x-kubernetes-int-or-string is true";
	return (["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] as const)
		.filter((name) => schema[name] === true)
		.map((name) => invalid(`${path}.${name}`, true, why));
}

const MISSING_TYPE: Readonly<Record<Level, string>> = {
	root: "must not be empty at the root",
	item: "must not be empty for specified array items",
	field: "must not be empty for specified object fields",
};

function typeErrors(schema: SchemaProps, level: Level, path: string): readonly FieldError[] {
	const { type } = schema;
	const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
	const errors: FieldError[] = [];
	if (isEmbedded && type !== "object") {
		const why = "must be object if x-kubernetes-embedded-resource is true";
		errors.push(type === undefined ? required(`${path}.type`, why) : invalid(`${path}.type`, type, why));
	} else if (type === undefined && !mayHaveNoType(schema)) errors.push(required(`${path}.type`, MISSING_TYPE[level]));
	if (isEmbedded && schema.additionalProperties !== undefined) {
		const why = "must not be used if x-kubernetes-embedded-resource is set";
		errors.push(forbidden(`${path}.additionalProperties`, why));
	}
	if (level === "root" && type !== undefined && type !== "object") {
		errors.push(invalid(`${path}.type`, type, "must be object at the root"));
	}
	return errors;
}

function mayHaveNoType(schema: SchemaProps): boolean {
	return schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true;
}

function metadataErrors(schema: SchemaProps, level: Level, path: string): readonly FieldError[] {
	const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
	const { properties = {} } = schema;
	const ofMetadata = memberOf(properties, "metadata") as SchemaProps | undefined;
	const errors: FieldError[] = level === "root" || isEmbedded ? [...resourceFieldErrors(properties, path)] : [];
	if (level === "root" && ofMetadata !== undefined && saysMoreThanNames(ofMetadata)) {
		const why = "must not specify anything other than name and generateName, but metadata is implicitly specified";
		errors.push(forbidden(`${path}.properties[metadata]`, why));
	}
	const isUnspecified = isEmbedded && schema["x-kubernetes-preserve-unknown-fields"] !== true;
	if (isUnspecified && Object.keys(properties).length === 0) {
		const why =
			"must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
		errors.push(required(`${path}.properties`, why));
	}
	return errors;
}

/** What every resource has is of the types that it has everywhere. */
function resourceFieldErrors(properties: SchemaMap, path: string): readonly FieldError[] {
	const wanted = [
		["kind", "string"],
		["apiVersion", "string"],
		["metadata", "object"],
	] as const;
	return wanted.flatMap(([name, type]) => {
		const inner = memberOf(properties, name) as SchemaProps | undefined;
		if (inner === undefined || inner.type === type) return [];
		return [invalid(`${path}.properties[${name}].type`, inner.type ?? "", `must be ${type}`)];
	});
}

function saysMoreThanNames({ type: _type, properties = {}, ...rest }: SchemaProps): boolean {
	const names = Object.keys(properties);
	return Object.keys(rest).length > 0 || names.some((name) => name !== "name" && name !== "generateName");
}

const INT_OR_STRING = [{ type: "integer" }, { type: "string" }];

/** `anyOf`, `allOf`, `oneOf`, `not` may only say which values are right, and the patterns must be ones. */
function valueErrors(schema: SchemaProps, path: string): readonly FieldError[] {
	const skipsAnyOf = deepEqual(schema.anyOf, INT_OR_STRING);
	const errors: FieldError[] = [];
	for (const { name, inner, below } of junctorsOf(schema, path)) {
		if (name === "anyOf" && skipsAnyOf) continue;
		errors.push(...nestedErrors(inner, below));
	}
	if (schema.pattern !== undefined) {
		const compiled = compilePattern(schema.pattern);
		if (compiled.kind === "wrong") {
			const why = `must be a valid regular expression, but isn't: ${compiled.why}`;
			errors.push(invalid(`${path}.pattern`, schema.pattern, why));
		}
	}
	return errors;
}

interface Junctor {
	readonly name: "anyOf" | "allOf" | "oneOf" | "not";
	readonly inner: SchemaProps;
	readonly below: string;
}

function junctorsOf(schema: SchemaProps, path: string): readonly Junctor[] {
	const lists = (["anyOf", "allOf", "oneOf"] as const).flatMap((name) =>
		(schema[name] ?? []).map((inner, index): Junctor => ({ name, inner, below: `${path}.${name}[${index}]` })),
	);
	return schema.not === undefined ? lists : [...lists, { name: "not", inner: schema.not, below: `${path}.not` }];
}

const NOT_IN_NESTED = [
	["type", "must be empty to be structural"],
	["additionalProperties", "must be undefined to be structural"],
	["default", "must be undefined to be structural"],
	["title", "must be empty to be structural"],
	["description", "must be empty to be structural"],
	["nullable", "must be false to be structural"],
	["externalDocs", "must be undefined to be structural"],
	["x-kubernetes-preserve-unknown-fields", "must be false to be structural"],
	["x-kubernetes-embedded-resource", "must be false to be structural"],
	["x-kubernetes-int-or-string", "must be false to be structural"],
	["x-kubernetes-list-map-keys", "must be empty to be structural"],
	["x-kubernetes-list-type", "must be undefined to be structural"],
	["x-kubernetes-map-type", "must be undefined to be structural"],
	["x-kubernetes-validations", "must be empty to be structural"],
] as const;

function nestedErrors(schema: SchemaProps, path: string): readonly FieldError[] {
	const isIntOrString = deepEqual(schema.anyOf, INT_OR_STRING) && /\.allOf\[0\]$/.test(path);
	const items = itemsOf(schema);
	return [
		...(isIntOrString ? [] : valueErrors(schema, path)),
		...(items === undefined ? [] : nestedErrors(items, `${path}.items`)),
		...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
			nestedErrors(inner, `${path}.properties[${name}]`),
		),
		...NOT_IN_NESTED.filter(([name]) => schema[name] !== undefined).map(([name, why]) =>
			forbidden(`${path}.${name}`, why),
		),
		...(Object.hasOwn(schema.properties ?? {}, "metadata")
			? [forbidden(`${path}.properties[metadata]`, "must not be specified in a nested context")]
			: []),
	];
}

/** What a junctor speaks of must be specified outside of it too. */
function completenessErrors(schema: SchemaProps, outer: SchemaProps, path: string): readonly FieldError[] {
	return junctorsOf(schema, path).flatMap(({ inner }) => unspecified(inner, outer, path));
}

function unspecified(inner: SchemaProps, outer: SchemaProps, path: string): readonly FieldError[] {
	const why = "because it is defined in";
	const items = itemsOf(inner);
	const outerItems = itemsOf(outer);
	const ofItems =
		items === undefined
			? []
			: outerItems === undefined
				? [required(`${path}.items`, `${why} a nested schema`)]
				: unspecified(items, outerItems, `${path}.items`);
	const ofProperties = Object.entries(inner.properties ?? {}).flatMap(([name, property]) => {
		const known = Object.hasOwn(outer.properties ?? {}, name) ? outer.properties?.[name] : undefined;
		const below = `${path}.properties[${name}]`;
		if (known !== undefined) return unspecified(property, known, below);
		return [required(below, `${why} a nested schema`)];
	});
	return [...ofItems, ...ofProperties, ...completenessErrors(inner, outer, path)];
}

/** A default must fit its own schema, and say nothing that it does not name. */
function defaultErrors(schema: SchemaProps, path: string, isRoot: boolean): readonly FieldError[] {
	const items = itemsOf(schema);
	const additional = additionalOf(schema);
	return [
		...(isRoot ? [] : ownDefaultErrors(schema, `${path}.default`)),
		...(items === undefined ? [] : defaultErrors(items, `${path}.items`, false)),
		...(additional === undefined ? [] : defaultErrors(additional, `${path}.additionalProperties`, false)),
		...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
			defaultErrors(inner, `${path}.properties[${name}]`, false),
		),
	];
}

function ownDefaultErrors(schema: SchemaProps, field: string): readonly FieldError[] {
	if (schema.default === undefined) return [];
	const isResource = schema["x-kubernetes-embedded-resource"] === true;
	if (pruned(schema.default, schema, {}, "x", isResource) !== schema.default) {
		return [invalid(field, schema.default, "must not have unknown fields")];
	}
	return schemaProblems(withManySchemaDefaults(schema.default, schema), schema).map(({ error }) => {
		const place = error.field === "" || error.field === "<nil>" ? field : `${field}.${error.field}`;
		return { ...error, field: place };
	});
}

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];

/** Keywords that no schema of a custom resource may use. @param noDefaults Why there may be no defaults here. */
function openApiErrors(
	schema: SchemaProps,
	path: string,
	level: Level,
	noDefaults: string | undefined,
): readonly FieldError[] {
	const errors: FieldError[] = [...keywordErrors(schema, path, noDefaults), ...listRuleErrors(schema, path)];
	const additional = additionalOf(schema);
	if (additional !== undefined) {
		errors.push(...openApiErrors(additional, `${path}.additionalProperties`, "field", noDefaults));
	}
	for (const [name, inner] of Object.entries(schema.properties ?? {})) {
		const isOfResource = level === "root" && ["metadata", "kind", "apiVersion"].includes(name);
		const why = isOfResource ? `in top-level ${name}` : noDefaults;
		errors.push(...openApiErrors(inner, `${path}.properties[${name}]`, "field", why));
	}
	for (const { inner, below } of junctorsOf(schema, path)) {
		errors.push(...openApiErrors(inner, below, "field", noDefaults));
	}
	const items = itemsOf(schema);
	if (items !== undefined) errors.push(...openApiErrors(items, `${path}.items`, "item", noDefaults));
	return errors;
}

const UNSUPPORTED = ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"] as const;

function keywordErrors(schema: SchemaProps, path: string, noDefaults: string | undefined): readonly FieldError[] {
	const { type } = schema;
	const errors: FieldError[] = [];
	if (type !== undefined && !TYPES.includes(type)) errors.push(notSupported(`${path}.type`, type, TYPES));
	if (schema.default !== undefined && noDefaults !== undefined) {
		errors.push(forbidden(`${path}.default`, `must not be set ${noDefaults}`));
	}
	for (const name of UNSUPPORTED) {
		if (schema[name] !== undefined) errors.push(forbidden(`${path}.${name}`, `${name} is not supported`));
	}
	if (type === "null") {
		errors.push(forbidden(`${path}.type`, "type cannot be set to null, use nullable as an alternative"));
	}
	if (Array.isArray(schema.items)) {
		errors.push(forbidden(`${path}.items`, "items must be a schema object and not an array"));
	}
	if (schema.uniqueItems === true) {
		const why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
		errors.push(forbidden(`${path}.uniqueItems`, why));
	}
	const { additionalProperties } = schema;
	if (additionalProperties !== undefined && additionalProperties !== true && schema.properties !== undefined) {
		const why = "additionalProperties and properties are mutual exclusive";
		errors.push(forbidden(`${path}.additionalProperties`, why));
	}
	return errors;
}
