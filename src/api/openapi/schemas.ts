/** `components.schemas` of an OpenAPI document, from the schema's messages. */
import { DESCRIPTIONS } from "../schema/descriptions.ts";
import type { Field } from "../schema/notation.ts";
import { type Message, messageOf } from "../schema/schema.ts";
import { groupVersionKind, NAMED_SCALARS, PLAIN_SCALARS, reference, schemaName } from "./schema-names.ts";

export type Schema = Readonly<Record<string, unknown>>;

/** The schemas of these messages and of all that they are made of. */
export function schemasOf(messageNames: Iterable<string>): Record<string, Schema> {
	const schemas: Record<string, Schema> = {};
	for (const name of reachableFrom(messageNames)) schemas[schemaName(name)] = messageSchema(messageOf(name));
	for (const { name, schema } of NAMED_SCALARS.values()) schemas[name] = schema;
	return schemas;
}

/** The schema of `ServiceList` for `core.Service`. */
export function listSchema(messageName: string): Schema {
	const { group, version, kind } = groupVersionKind(messageName);
	return {
		description: `${kind}List is a list of ${kind} objects.`,
		type: "object",
		required: ["items"],
		properties: {
			...TYPE_META,
			items: { type: "array", items: reference(schemaName(messageName)) },
			metadata: reference(schemaName("meta.ListMeta")),
		},
		"x-kubernetes-group-version-kind": [{ group, version, kind: `${kind}List` }],
	};
}

const TYPE_META = {
	apiVersion: { description: "The version of the API that this object is written in.", type: "string" },
	kind: { description: "The type of this object.", type: "string" },
} as const;

function reachableFrom(roots: Iterable<string>): Set<string> {
	const found = new Set<string>();
	const open = [...roots];
	for (let name = open.pop(); name !== undefined; name = open.pop()) {
		if (found.has(name)) continue;
		found.add(name);
		for (const field of messageOf(name).fields.values()) if (field.type === "message") open.push(field.messageName);
	}
	return found;
}

function messageSchema(message: Message): Schema {
	const fields = [...message.fields.values()];
	const required = fields.filter((field) => field.isRequired).map((field) => field.name);
	const properties = fields.map((field) => [field.name, propertySchema(message, field)]);
	return {
		...described(message.name),
		type: "object",
		...(required.length === 0 ? {} : { required }),
		...(fields.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
		...(message.isKind ? { "x-kubernetes-group-version-kind": [groupVersionKind(message.name)] } : {}),
		...(message.isAtomic ? { "x-kubernetes-map-type": "atomic" } : {}),
	};
}

/** What every kind has, said once. */
const COMMON_FIELDS: ReadonlyMap<string, string> = new Map([
	["metadata", "Name, labels and what else every object has."],
	["spec", "What is wanted."],
	["status", "What is. Written by the controllers, not by you."],
]);

function propertySchema(message: Message, field: Field): Schema {
	if (field.name === "apiVersion" && message.isKind) return TYPE_META.apiVersion;
	if (field.name === "kind" && message.isKind) return TYPE_META.kind;
	const common = message.isKind ? COMMON_FIELDS.get(field.name) : undefined;
	const description = described(`${message.name}.${field.name}`, common);
	return { ...description, ...shapeSchema(field), ...patchNotes(field) };
}

function described(name: string, otherwise?: string): { readonly description?: string } {
	const description = DESCRIPTIONS[name] ?? otherwise;
	return description === undefined ? {} : { description };
}

function shapeSchema(field: Field): Schema {
	const value = valueSchema(field);
	switch (field.shape) {
		case "list":
			return {
				type: "array",
				items: value,
				"x-kubernetes-list-type": field.applied,
				...(field.applied === "map" ? { "x-kubernetes-list-map-keys": field.listMapKeys.map((key) => key.name) } : {}),
			};
		case "map":
			return { type: "object", additionalProperties: value, ...mapNote(field) };
		case "one":
			// A reference must stand alone, so what is said beside it needs the wrapping.
			return "$ref" in value ? { allOf: [value], ...mapNote(field) } : value;
	}
}

function valueSchema(field: Field): Schema {
	if (field.type === "message") return reference(schemaName(field.messageName));
	const named = NAMED_SCALARS.get(field.type);
	return named === undefined ? (PLAIN_SCALARS.get(field.type) ?? {}) : reference(named.name);
}

function mapNote(field: Field): Schema {
	return field.applied === "atomic" ? { "x-kubernetes-map-type": "atomic" } : {};
}

function patchNotes(field: Field): Schema {
	const strategies = [
		...(field.patchStrategy === "merge" ? ["merge"] : []),
		...(field.retainsKeys ? ["retainKeys"] : []),
	];
	return {
		...(strategies.length === 0 ? {} : { "x-kubernetes-patch-strategy": strategies.join(",") }),
		...(field.mergeKey === undefined ? {} : { "x-kubernetes-patch-merge-key": field.mergeKey }),
	};
}
