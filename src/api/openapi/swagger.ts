/**
 * The same API as one OpenAPI v2 document, for kubectl before 1.27 and other clients that read no v3.
 *
 * It holds what such clients look for: a definition for each message, and for each kind an operation that
 * says which parameters its PATCH takes. @see https://swagger.io/specification/v2/
 */
import { isObject } from "../../kernel/json.ts";
import { apiVersionOf } from "../resource.ts";
import { type DocumentedResource, openApiV3Document } from "./document.ts";
import type { Parameter } from "./parameters.ts";
import type { Schema } from "./schemas.ts";

export interface SwaggerOperation {
	readonly operationId: string;
	readonly parameters: readonly { readonly name: string; readonly in: "query" | "path"; readonly type: string }[];
	readonly responses: { readonly "200": { readonly description: string } };
	readonly "x-kubernetes-action": string;
	readonly "x-kubernetes-group-version-kind": object;
}

export interface SwaggerDocument {
	readonly swagger: "2.0";
	readonly info: { readonly title: string; readonly version: string };
	readonly paths: Readonly<Record<string, Readonly<Record<string, SwaggerOperation>>>>;
	readonly definitions: Readonly<Record<string, Schema>>;
}

export function swaggerDocument(resources: readonly DocumentedResource[]): SwaggerDocument {
	const paths: Record<string, Record<string, SwaggerOperation>> = {};
	const definitions: Record<string, Schema> = {};
	for (const groupVersion of new Set(resources.map(apiVersionOf))) {
		const document = openApiV3Document(groupVersion, resources);
		for (const [path, item] of Object.entries(document.paths)) paths[path] = operationsOf(item);
		for (const [name, schema] of Object.entries(document.components.schemas)) definitions[name] = definition(schema);
	}
	return { swagger: "2.0", info: { title: "Kubernetes", version: "unversioned" }, paths, definitions };
}

const METHODS = ["get", "put", "post", "delete", "patch"] as const;

function operationsOf(item: unknown): Record<string, SwaggerOperation> {
	const operations: Record<string, SwaggerOperation> = {};
	if (!isObject(item)) return operations;
	for (const method of METHODS) {
		const operation = item[method];
		if (isObject(operation)) operations[method] = operationOf(operation);
	}
	return operations;
}

function operationOf(operation: Readonly<Record<string, unknown>>): SwaggerOperation {
	const parameters = Array.isArray(operation["parameters"]) ? operation["parameters"].filter(isObject) : [];
	const gvk = operation["x-kubernetes-group-version-kind"];
	return {
		operationId: String(operation["operationId"]),
		parameters: parameters.map(parameterOf),
		responses: { "200": { description: "OK" } },
		"x-kubernetes-action": String(operation["x-kubernetes-action"]),
		"x-kubernetes-group-version-kind": isObject(gvk) ? gvk : {},
	};
}

function parameterOf(parameter: Parameter): SwaggerOperation["parameters"][number] {
	const { schema } = parameter;
	const type = isObject(schema) && typeof schema["type"] === "string" ? schema["type"] : "string";
	return { name: String(parameter["name"]), in: parameter["in"] === "path" ? "path" : "query", type };
}

/** A v3 schema in v2's words. */
function definition(schema: Schema): Schema {
	const { allOf, oneOf, items, properties, additionalProperties, $ref, ...all } = schema;
	const { anyOf: _any, not: _not, nullable: _null, default: _default, enum: _enum, ...rest } = all;
	if (Array.isArray(allOf) && isObject(allOf[0]) && "$ref" in allOf[0]) return { ...rest, ...definition(allOf[0]) };
	return {
		...rest,
		// v2 has no alternatives: what may be a number or a string is published as a string.
		...(oneOf === undefined || rest["type"] !== undefined ? {} : { type: "string" }),
		...(typeof $ref === "string" ? { $ref: $ref.replace("#/components/schemas/", "#/definitions/") } : {}),
		...(isObject(items) ? { items: definition(items) } : {}),
		...(isObject(additionalProperties) ? { additionalProperties: definition(additionalProperties) } : {}),
		...(isObject(properties)
			? {
					properties: Object.fromEntries(
						Object.entries(properties).map(([name, value]) => [name, isObject(value) ? definition(value) : {}]),
					),
				}
			: {}),
	};
}
