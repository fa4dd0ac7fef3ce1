/** How server-side apply sees objects of a custom resource: what its schema says of lists and maps. */

import { shapeOfMessage } from "../apply/message-shape.ts";
import { type ApplyShape, ATOM, type ScalarKind, type StructShape, UNTYPED } from "../apply/shape.ts";
import { schemaOf } from "./prune.ts";
import { additionalOf, itemsOf, type SchemaProps } from "./schema-props.ts";

const shapes = new WeakMap<SchemaProps, ApplyShape>();

/** The shape of a resource's root. The same schema gives the same shape. */
export function shapeOfResource(schema: SchemaProps): ApplyShape {
	const known = shapes.get(schema);
	if (known !== undefined) return known;
	// Every object has metadata, which nobody adds; what is embedded need not have any.
	const shape: ApplyShape = { ...resourceStruct(schema), alwaysThere: ["metadata"] };
	shapes.set(schema, shape);
	return shape;
}

/** What every resource has, beside what its schema names. */
function resourceStruct(schema: SchemaProps): StructShape {
	return {
		kind: "struct",
		fieldOf(name) {
			if (name === "apiVersion" || name === "kind") return { kind: "atom", of: "string" };
			if (name === "metadata") return shapeOfMessage("meta.ObjectMeta");
			return fieldShape(schema, name);
		},
	};
}

function fieldShape(schema: SchemaProps, name: string): ApplyShape | undefined {
	const inner = schemaOf(schema, name) ?? additionalOf(schema);
	if (inner !== undefined) return shapeOfSchema(inner);
	return isOpen(schema) ? UNTYPED : undefined;
}

function isOpen(schema: SchemaProps): boolean {
	return schema["x-kubernetes-preserve-unknown-fields"] === true || schema.additionalProperties === true;
}

function shapeOfSchema(schema: SchemaProps): ApplyShape {
	if (schema["x-kubernetes-embedded-resource"] === true) return resourceStruct(schema);
	if (schema["x-kubernetes-int-or-string"] === true) return ATOM;
	switch (schema.type) {
		case "array":
			return shapeOfList(schema);
		case "object":
			return shapeOfObject(schema);
		case undefined:
			return UNTYPED;
		default:
			return { kind: "atom", ...scalarOf(schema.type) };
	}
}

function scalarOf(type: string): { readonly of?: ScalarKind } {
	if (type === "integer" || type === "number") return { of: "numeric" };
	return type === "string" || type === "boolean" ? { of: type } : {};
}

function shapeOfObject(schema: SchemaProps): ApplyShape {
	if (schema["x-kubernetes-map-type"] === "atomic") return { kind: "atom", of: "map" };
	const additional = additionalOf(schema);
	if (additional !== undefined && schema.properties === undefined)
		return { kind: "map", of: shapeOfSchema(additional) };
	if (schema.properties === undefined && isOpen(schema)) return UNTYPED;
	return { kind: "struct", fieldOf: (name) => fieldShape(schema, name) };
}

function shapeOfList(schema: SchemaProps): ApplyShape {
	const items = itemsOf(schema);
	switch (schema["x-kubernetes-list-type"]) {
		case "set":
			return { kind: "set" };
		case "map": {
			const keys = (schema["x-kubernetes-list-map-keys"] ?? []).map((name) => {
				const fallback = items === undefined ? undefined : schemaOf(items, name)?.default;
				return isKeyValue(fallback) ? { name, default: fallback } : { name };
			});
			return { kind: "keyed-list", keys, of: items === undefined ? UNTYPED : shapeOfSchema(items) };
		}
		default:
			return { kind: "atom", of: "list" };
	}
}

function isKeyValue(value: unknown): value is string | number | boolean {
	return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
