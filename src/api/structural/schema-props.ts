/**
 * The schema of a custom resource as a CustomResourceDefinition writes it: OpenAPI v3, with Kubernetes' extensions.
 *
 * It comes from strangers, so it is read keyword by keyword: a keyword of the wrong type is refused, one that is not
 * known is reported and left out, and the size of the whole is limited.
 */
import { isObject, setOwn } from "../../kernel/json.ts";

export interface RuleProps {
	readonly rule: string;
	readonly message?: string;
	readonly messageExpression?: string;
	readonly reason?: string;
	readonly fieldPath?: string;
	readonly optionalOldSelf?: boolean;
}

export type SchemaMap = Readonly<Record<string, SchemaProps>>;

export interface SchemaProps {
	readonly id?: string;
	readonly $schema?: string;
	readonly $ref?: string;
	readonly description?: string;
	readonly type?: string;
	readonly format?: string;
	readonly title?: string;
	readonly default?: unknown;
	readonly example?: unknown;
	readonly externalDocs?: object;
	readonly nullable?: boolean;
	readonly maximum?: number;
	readonly exclusiveMaximum?: boolean;
	readonly minimum?: number;
	readonly exclusiveMinimum?: boolean;
	readonly multipleOf?: number;
	readonly maxLength?: number;
	readonly minLength?: number;
	readonly pattern?: string;
	readonly maxItems?: number;
	readonly minItems?: number;
	readonly uniqueItems?: boolean;
	readonly maxProperties?: number;
	readonly minProperties?: number;
	readonly enum?: readonly unknown[];
	readonly required?: readonly string[];
	/** A list only where the definition is refused. */
	readonly items?: SchemaProps | readonly SchemaProps[];
	readonly properties?: SchemaMap;
	readonly additionalProperties?: SchemaProps | boolean;
	readonly additionalItems?: SchemaProps | boolean;
	readonly patternProperties?: SchemaMap;
	readonly definitions?: SchemaMap;
	readonly dependencies?: object;
	readonly allOf?: readonly SchemaProps[];
	readonly anyOf?: readonly SchemaProps[];
	readonly oneOf?: readonly SchemaProps[];
	readonly not?: SchemaProps;
	readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
	readonly "x-kubernetes-embedded-resource"?: boolean;
	readonly "x-kubernetes-int-or-string"?: boolean;
	readonly "x-kubernetes-list-type"?: string;
	readonly "x-kubernetes-list-map-keys"?: readonly string[];
	readonly "x-kubernetes-map-type"?: string;
	readonly "x-kubernetes-validations"?: readonly RuleProps[];
}

type Shape =
	| "string"
	| "bool"
	| "float64"
	| "int64"
	| "strings"
	| "any"
	| "list"
	| "object"
	| "schema"
	| "schemas"
	| "schema-map"
	| "schema-or-bool"
	| "schema-or-list"
	| "rules";

const SHAPES: ReadonlyMap<string, Shape> = new Map<string, Shape>([
	...(["id", "$schema", "$ref", "description", "type", "format", "title", "pattern"] as const).map(
		(name): [string, Shape] => [name, "string"],
	),
	...(["nullable", "exclusiveMaximum", "exclusiveMinimum", "uniqueItems"] as const).map((name): [string, Shape] => [
		name,
		"bool",
	]),
	...(["maximum", "minimum", "multipleOf"] as const).map((name): [string, Shape] => [name, "float64"]),
	...(["maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties"] as const).map(
		(name): [string, Shape] => [name, "int64"],
	),
	["default", "any"],
	["example", "any"],
	["externalDocs", "object"],
	["dependencies", "object"],
	["enum", "list"],
	["required", "strings"],
	["items", "schema-or-list"],
	["properties", "schema-map"],
	["patternProperties", "schema-map"],
	["definitions", "schema-map"],
	["additionalProperties", "schema-or-bool"],
	["additionalItems", "schema-or-bool"],
	["allOf", "schemas"],
	["anyOf", "schemas"],
	["oneOf", "schemas"],
	["not", "schema"],
	["x-kubernetes-preserve-unknown-fields", "bool"],
	["x-kubernetes-embedded-resource", "bool"],
	["x-kubernetes-int-or-string", "bool"],
	["x-kubernetes-list-type", "string"],
	["x-kubernetes-list-map-keys", "strings"],
	["x-kubernetes-map-type", "string"],
	["x-kubernetes-validations", "rules"],
]);

/** Levels of schemas within schemas: more than any real one, far less than a stack. */
const SCHEMA_DEPTH_MAX = 64;
/** Schemas in one: the largest well-known ones have a few thousand. */
const SCHEMA_NODES_MAX = 50_000;

export interface ReadSchema {
	readonly schema: SchemaProps;
	/** `unknown field "spec.versions[0].schema.openAPIV3Schema.foo"` */
	readonly unknown: readonly string[];
	/** Why the first wrong keyword is wrong, in the words of Go's decoder. */
	readonly wrong: string | undefined;
}

export function readSchema(value: unknown, path: string): ReadSchema {
	const reader = new SchemaReader();
	const schema = reader.schema(value, path, 0);
	return { schema, unknown: reader.unknown, wrong: reader.wrong };
}

class SchemaReader {
	wrong: string | undefined;
	readonly unknown: string[] = [];
	#nodes = 0;

	schema(value: unknown, path: string, depth: number): SchemaProps {
		if (!isObject(value)) return this.#refuse(value, path, "v1.JSONSchemaProps") ?? {};
		this.#nodes++;
		if (depth > SCHEMA_DEPTH_MAX) return this.#fail(`schema is nested deeper than ${SCHEMA_DEPTH_MAX} levels`) ?? {};
		if (this.#nodes > SCHEMA_NODES_MAX) return this.#fail(`schema has more than ${SCHEMA_NODES_MAX} parts`) ?? {};
		const schema: Record<string, unknown> = {};
		for (const [key, given] of Object.entries(value)) {
			const read = this.#given(key, given, path, depth);
			if (read !== undefined && !isDropped(key, read)) schema[key] = read;
		}
		return schema;
	}

	#given(key: string, given: unknown, path: string, depth: number): unknown {
		const shape = SHAPES.get(key);
		if (shape === undefined) this.unknown.push(`unknown field "${path}.${key}"`);
		if (shape === undefined || given === null || this.wrong !== undefined) return undefined;
		return this.#keyword(shape, given, `${path}.${key}`, depth + 1);
	}

	#keyword(shape: Shape, given: unknown, path: string, depth: number): unknown {
		switch (shape) {
			case "any":
				return given;
			case "string":
				return typeof given === "string" ? given : this.#refuse(given, path, "string");
			case "bool":
				return typeof given === "boolean" ? given : this.#refuse(given, path, "bool");
			case "float64":
				return typeof given === "number" ? given : this.#refuse(given, path, "float64");
			case "int64":
				return Number.isInteger(given) ? given : this.#refuse(given, path, "int64");
			case "object":
				return isObject(given) ? given : this.#refuse(given, path, "object");
			case "list":
				return Array.isArray(given) ? given : this.#refuse(given, path, "[]v1.JSON");
			case "strings":
				return isStrings(given) ? given : this.#refuse(given, path, "[]string");
			default:
				return this.#nested(shape, given, path, depth);
		}
	}

	#nested(shape: Shape, given: unknown, path: string, depth: number): unknown {
		switch (shape) {
			case "schema-or-bool":
				return typeof given === "boolean" ? given : this.schema(given, path, depth);
			case "schema-or-list":
				return Array.isArray(given) ? this.#schemas(given, path, depth) : this.schema(given, path, depth);
			case "schemas":
				return this.#schemas(given, path, depth);
			case "schema-map":
				return this.#map(given, path, depth);
			case "rules":
				return this.#rules(given, path);
			default:
				return this.schema(given, path, depth);
		}
	}

	#schemas(given: unknown, path: string, depth: number): unknown {
		if (!Array.isArray(given)) return this.#refuse(given, path, "[]v1.JSONSchemaProps");
		return given.map((item, index) => this.schema(item, `${path}[${index}]`, depth));
	}

	#map(given: unknown, path: string, depth: number): unknown {
		if (!isObject(given)) return this.#refuse(given, path, "map[string]v1.JSONSchemaProps");
		const schemas = {};
		for (const [name, schema] of Object.entries(given)) {
			setOwn(schemas, name, this.schema(schema ?? {}, `${path}.${name}`, depth));
		}
		return schemas;
	}

	#rules(given: unknown, path: string): unknown {
		if (!Array.isArray(given)) return this.#refuse(given, path, "v1.ValidationRules");
		return given.map((item, index) => this.#rule(item, `${path}[${index}]`));
	}

	#rule(given: unknown, path: string): unknown {
		if (!isObject(given)) return this.#refuse(given, path, "v1.ValidationRule");
		const rule: Record<string, unknown> = { rule: "" };
		for (const [key, value] of Object.entries(given)) {
			if (!RULE_KEYS.has(key)) this.unknown.push(`unknown field "${path}.${key}"`);
			else if (value === null) continue;
			else if (typeof value !== (key === "optionalOldSelf" ? "boolean" : "string")) {
				this.#refuse(value, `${path}.${key}`, key === "optionalOldSelf" ? "bool" : "string");
			} else rule[key] = value;
		}
		return rule;
	}

	#refuse(given: unknown, path: string, type: string): undefined {
		const found = Array.isArray(given) ? "array" : typeof given === "boolean" ? "bool" : typeof given;
		const field = path.replaceAll(/\[\d+\]/g, "");
		return this.#fail(`json: cannot unmarshal ${found} into Go struct field JSONSchemaProps.${field} of type ${type}`);
	}

	#fail(why: string): undefined {
		this.wrong ??= why;
		return undefined;
	}
}

const RULE_KEYS: ReadonlySet<string> = new Set([
	"rule",
	"message",
	"messageExpression",
	"reason",
	"fieldPath",
	"optionalOldSelf",
]);

function isStrings(value: unknown): value is readonly string[] {
	return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** As Go's omitempty does. `x-kubernetes-preserve-unknown-fields: false` stays: it is refused. */
function isDropped(key: string, value: unknown): boolean {
	if (key === "default" || key === "example" || key === "x-kubernetes-preserve-unknown-fields") return false;
	if (key === "x-kubernetes-list-type" || key === "x-kubernetes-map-type") return false;
	if (value === "" || (value === false && SHAPES.get(key) === "bool")) return true;
	return Array.isArray(value) && value.length === 0;
}

/** The schema of the items; undefined where there is none, or more than one. */
export function itemsOf({ items }: SchemaProps): SchemaProps | undefined {
	return items === undefined || Array.isArray(items) ? undefined : (items as SchemaProps);
}

/** The schema of values under keys that `properties` does not name, when there is one. */
export function additionalOf({ additionalProperties }: SchemaProps): SchemaProps | undefined {
	return typeof additionalProperties === "object" ? additionalProperties : undefined;
}
