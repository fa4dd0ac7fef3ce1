/** The names under which OpenAPI documents of Kubernetes publish the schema's messages. */
import type { Scalar } from "../schema/notation.ts";
import { groupOf } from "../schema/schema.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";

/** `core.Service` -> `io.k8s.api.core.v1.Service`. */
export function schemaName(messageName: string): string {
	const dot = messageName.indexOf(".");
	const [group, name] = [messageName.slice(0, dot), messageName.slice(dot + 1)];
	if (group === "meta") return `${META}.${name}`;
	if (group === "apiextensions") return `io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.${name}`;
	if (group === "runtime") return `io.k8s.apimachinery.pkg.runtime.${name}`;
	return `io.k8s.api.${group}.v1.${name}`;
}

export function reference(name: string): { readonly $ref: string } {
	return { $ref: `#/components/schemas/${name}` };
}

export interface GroupVersionKind {
	readonly group: string;
	readonly version: string;
	readonly kind: string;
}

export function groupVersionKind(messageName: string): GroupVersionKind {
	const dot = messageName.indexOf(".");
	return { group: groupOf(messageName.slice(0, dot)), version: "v1", kind: messageName.slice(dot + 1) };
}

type Schema = Readonly<Record<string, unknown>>;

/** Scalars that OpenAPI publishes as types of their own. */
export const NAMED_SCALARS: ReadonlyMap<Scalar, { readonly name: string; readonly schema: Schema }> = new Map([
	["Time", { name: `${META}.Time`, schema: { type: "string", format: "date-time" } }],
	["MicroTime", { name: `${META}.MicroTime`, schema: { type: "string", format: "date-time" } }],
	["FieldsV1", { name: `${META}.FieldsV1`, schema: { type: "object" } }],
	["RawExtension", { name: "io.k8s.apimachinery.pkg.runtime.RawExtension", schema: { type: "object" } }],
	[
		"Quantity",
		{
			name: "io.k8s.apimachinery.pkg.api.resource.Quantity",
			schema: {
				description: "An amount with a unit: `100m`, `1.5`, `128Mi`.",
				oneOf: [{ type: "string" }, { type: "number" }],
			},
		},
	],
	[
		"IntOrString",
		{
			name: "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
			schema: { format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] },
		},
	],
]);

/** Scalars that are written where they are used. */
export const PLAIN_SCALARS: ReadonlyMap<Scalar, Schema> = new Map<Scalar, Schema>([
	["string", { type: "string" }],
	["bool", { type: "boolean" }],
	["int32", { type: "integer", format: "int32" }],
	["int64", { type: "integer", format: "int64" }],
	["bytes", { type: "string", format: "byte" }],
	["Strings", { type: "array", items: { type: "string", default: "" } }],
]);
