/** `components.schemas` of custom resources: what their definitions say, and what every object has. */
import type { ResourceType } from "../resource.ts";
import type { SchemaProps } from "../structural/schema-props.ts";
import { reference, schemaName } from "./schema-names.ts";
import type { Schema } from "./schemas.ts";

type Modelled = Pick<ResourceType, "group" | "version" | "kind" | "custom">;

/** `com.example.v1.CronTab` for the group `example.com`. */
export function customModelName({ group, version, kind }: Pick<Modelled, "group" | "version" | "kind">): string {
	return [...group.split(".").reverse(), version, kind].join(".");
}

export function customModels(resources: readonly Modelled[]): Record<string, Schema> {
	const models: Record<string, Schema> = {};
	for (const resource of resources) {
		const { custom } = resource;
		if (custom === undefined) continue;
		const name = customModelName(resource);
		models[name] = objectModel(resource, custom.schema);
		models[`${name}List`] = listModel(resource, custom.listKind);
	}
	return models;
}

const API_VERSION = { description: "The version of the API that this object is written in.", type: "string" } as const;
const KIND = { description: "The type of this object.", type: "string" } as const;
const METADATA = "Name, labels and what else every object has.";

function objectModel({ group, version, kind }: Modelled, schema: SchemaProps): Schema {
	return {
		...published(schema),
		type: "object",
		properties: {
			...mapped(schema.properties ?? {}),
			apiVersion: API_VERSION,
			kind: KIND,
			metadata: { description: METADATA, allOf: [reference(schemaName("meta.ObjectMeta"))] },
		},
		"x-kubernetes-group-version-kind": [{ group, version, kind }],
	};
}

function listModel(resource: Modelled, listKind: string): Schema {
	const { group, version, kind } = resource;
	return {
		description: `${listKind} is a list of ${kind} objects.`,
		type: "object",
		required: ["items"],
		properties: {
			apiVersion: API_VERSION,
			kind: KIND,
			items: { type: "array", items: reference(customModelName(resource)) },
			metadata: reference(schemaName("meta.ListMeta")),
		},
		"x-kubernetes-group-version-kind": [{ group, version, kind: listKind }],
	};
}

/** An embedded resource is published with the fields that it has as one. */
function published(schema: SchemaProps): Schema {
	const { properties, items, additionalProperties, ...rest } = schema;
	const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
	const own = isEmbedded
		? { apiVersion: API_VERSION, kind: KIND, metadata: { allOf: [reference(schemaName("meta.ObjectMeta"))] } }
		: {};
	return {
		...rest,
		...(properties === undefined && !isEmbedded ? {} : { properties: { ...mapped(properties ?? {}), ...own } }),
		...(items === undefined || Array.isArray(items) ? {} : { items: published(items as SchemaProps) }),
		...(additionalProperties === undefined
			? {}
			: {
					additionalProperties:
						typeof additionalProperties === "boolean" ? additionalProperties : published(additionalProperties),
				}),
	};
}

function mapped(properties: Readonly<Record<string, SchemaProps>>): Record<string, Schema> {
	return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, published(schema)]));
}
