/** CustomResourceDefinition: a resource that users add to the API. */
import { isObject } from "../../kernel/json.ts";
import { dns1123SubdomainName } from "../names.ts";
import { ALL_VERBS, defineResource, type ResourceType, STATUS_SUBRESOURCE } from "../resource.ts";
import { type Decoded, decodeObject, type TypeMeta, wrong } from "../schema/decode.ts";
import { readSchema } from "../structural/schema-props.ts";
import type { CustomResourceDefinition, CustomResourceNames } from "../types/apiextensions.ts";
import { NAME_COLUMN } from "./cells.ts";
import {
	validateDefinition,
	validateDefinitionStatusUpdate,
	validateDefinitionUpdate,
} from "./custom-resource-definition-validation.ts";

const SCHEMA = "apiextensions.CustomResourceDefinition";

export const CUSTOM_RESOURCE_DEFINITION: ResourceType = defineResource<CustomResourceDefinition>({
	group: "apiextensions.k8s.io",
	version: "v1",
	kind: "CustomResourceDefinition",
	plural: "customresourcedefinitions",
	singular: "customresourcedefinition",
	namespaced: false,
	shortNames: ["crd", "crds"],
	categories: ["api-extensions"],
	verbs: ALL_VERBS,
	subresources: [STATUS_SUBRESOURCE],
	storagePrefix: "/registry/apiextensions.k8s.io/customresourcedefinitions/",
	schema: SCHEMA,
	decode,
	nameProblems: dns1123SubdomainName,
	hasFreeFinalizers: true,
	generation: "spec",
	createOnUpdate: false,
	unconditionalUpdate: false,
	deleteAnswers: "status",
	fieldLabels: [],
	table: {
		columns: [NAME_COLUMN, { name: "Created At", type: "date", description: "When the server created the object." }],
		cells: ({ metadata }) => [metadata.name, metadata.creationTimestamp],
	},
	withDefaults,
	prepareCreate(definition) {
		return withStoredVersion({ ...definition, status: {} });
	},
	/** The status is the server's, but for versions that objects are now stored in. */
	prepareUpdate(next, stored) {
		return withStoredVersion({ ...next, status: stored.status ?? {} });
	},
	prepareStatusUpdate(next, stored) {
		return { ...next, spec: stored.spec };
	},
	validate: (definition) => validateDefinition(definition),
	validateUpdate: (next, stored) => validateDefinitionUpdate(next, stored),
	validateStatusUpdate: (next) => validateDefinitionStatusUpdate(next),
	warnings: () => [],
	fields: () => ({}),
});

/** The schemas of its versions are no message: they are read keyword by keyword. */
function decode(body: unknown, expected: TypeMeta): Decoded {
	const decoded = decodeObject(SCHEMA, body, expected);
	if (decoded.kind === "wrong") return decoded;
	const unknown = [...decoded.unknown];
	const { spec } = decoded.object;
	if (!isObject(spec) || !Array.isArray(spec["versions"])) return decoded;
	let fault: string | undefined;
	const versions = spec["versions"].map((version: Record<string, unknown>, index) => {
		const holder = version["schema"];
		if (!isObject(holder) || holder["openAPIV3Schema"] === undefined) return version;
		const read = readSchema(holder["openAPIV3Schema"], `spec.versions[${index}].schema.openAPIV3Schema`);
		unknown.push(...read.unknown);
		fault ??= read.wrong;
		return { ...version, schema: { openAPIV3Schema: read.schema } };
	});
	if (fault !== undefined) return wrong(expected, expected, fault);
	return { kind: "ok", object: { ...decoded.object, spec: { ...spec, versions } }, unknown };
}

function withDefaults(definition: CustomResourceDefinition): CustomResourceDefinition {
	// Whatever is not given is refused later, in words for people.
	const { spec = {} as Partial<CustomResourceDefinition["spec"]> } = definition;
	const { names = { plural: "", kind: "" }, conversion, versions = [] } = spec;
	return {
		...definition,
		spec: {
			...spec,
			group: spec.group ?? "",
			scope: spec.scope ?? ("" as "Cluster"),
			names: namesWithDefaults(names),
			versions,
			conversion: conversion ?? { strategy: "None" },
		},
	};
}

function namesWithDefaults(names: CustomResourceNames): CustomResourceNames {
	const { kind = "", plural = "", singular = "", listKind = "" } = names;
	return {
		...names,
		kind,
		plural,
		...(singular !== "" || kind !== "" ? { singular: singular === "" ? kind.toLowerCase() : singular } : {}),
		...(listKind !== "" || kind !== "" ? { listKind: listKind === "" ? `${kind}List` : listKind } : {}),
	};
}

function withStoredVersion(definition: CustomResourceDefinition): CustomResourceDefinition {
	const { storedVersions = [] } = definition.status ?? {};
	const storage = definition.spec.versions.find((version) => version.storage)?.name;
	if (storage === undefined || storedVersions.includes(storage)) return definition;
	return { ...definition, status: { ...definition.status, storedVersions: [...storedVersions, storage] } };
}
