/** From a CustomResourceDefinition to the resources that it adds: one for each version that is served. */
import { deepEqual, isObject, ownValue } from "../../kernel/json.ts";
import { dns1123SubdomainName } from "../names.ts";
import {
	ALL_VERBS,
	apiVersionOf,
	type ResourceType,
	SCALE_SUBRESOURCE,
	STATUS_SUBRESOURCE,
	type Subresource,
} from "../resource.ts";
import type {
	CustomResourceDefinition,
	CustomResourceDefinitionSpec,
	CustomResourceNames,
	CustomResourceVersion,
} from "../types/apiextensions.ts";
import type { KubeObject } from "../types/meta.ts";
import { shapeOfResource } from "./apply-shape.ts";
import { decodeCustom } from "./custom-decode.ts";
import { scaleRulesOf } from "./custom-scale.ts";
import { customTable } from "./custom-table.ts";
import { withManySchemaDefaults, withSchemaDefaults } from "./defaults.ts";
import { findAll, type JsonPath, parseJsonPath } from "./json-path.ts";
import { pruned } from "./prune.ts";
import { newProblems } from "./ratchet.ts";
import { type RuleCompiler, ruleProblems } from "./rules.ts";
import type { SchemaProps } from "./schema-props.ts";
import { listTypeProblems, schemaProblems } from "./validate.ts";
import { byPriority } from "./version-priority.ts";

/** Whether a condition of the definition is true. */
export function hasCondition({ status }: CustomResourceDefinition, type: string): boolean {
	return status?.conditions?.some((condition) => condition.type === type && condition.status === "True") === true;
}

/** Where the objects of a definition are stored, whatever their version. */
export function spaceOf({ group, names }: Pick<CustomResourceDefinitionSpec, "group" | "names">): string {
	return `/registry/${group}/${names.plural}/`;
}

/** The resources of a definition, the preferred version first; none until its names are accepted. */
export function customTypes(
	definition: CustomResourceDefinition,
	compiler: RuleCompiler | undefined,
): readonly ResourceType[] {
	if (!hasCondition(definition, "Established")) return [];
	const served = definition.spec.versions.filter((version) => version.served);
	return [...served].sort((a, b) => byPriority(a.name, b.name)).map((version) => typeOf(definition, version, compiler));
}

function typeOf(
	definition: CustomResourceDefinition,
	version: CustomResourceVersion,
	compiler: RuleCompiler | undefined,
): ResourceType {
	const { spec } = definition;
	const names: CustomResourceNames = definition.status?.acceptedNames ?? spec.names;
	const given: SchemaProps = version.schema?.openAPIV3Schema ?? {};
	const schema = spec.preserveUnknownFields === true ? keepingAll(given) : given;
	const isTerminating = hasCondition(definition, "Terminating") || definition.metadata.deletionTimestamp !== undefined;
	const hasStatus = version.subresources?.status !== undefined;
	const selectable = selectableOf(version);
	const head = { group: spec.group, version: version.name, kind: names.kind };
	const deprecation = deprecationOf(spec, version);
	return {
		...head,
		plural: spec.names.plural,
		singular: names.singular ?? names.kind.toLowerCase(),
		namespaced: spec.scope === "Namespaced",
		shortNames: names.shortNames ?? [],
		categories: names.categories ?? [],
		verbs: ALL_VERBS,
		subresources: subresourcesOf(version),
		storagePrefix: spaceOf(spec),
		storedForm: storedFormOf(spec, version, schema),
		schema: "",
		applyShape: () => shapeOfResource(schema),
		custom: { schema, listKind: names.listKind ?? `${names.kind}List`, isTerminating },
		decode: (body, expected) => decodeCustom(body, schema, expected),
		...(version.subresources?.scale === undefined ? {} : { scale: scaleRulesOf(version.subresources.scale) }),
		nameProblems: dns1123SubdomainName,
		hasFreeFinalizers: true,
		generation: "all-but-metadata",
		createOnUpdate: false,
		unconditionalUpdate: false,
		deleteAnswers: "status",
		// The words for a field that is not known are those of kinds with fields of their own.
		fieldLabels: ["metadata.name", ...selectable.map(({ label }) => label)],
		...(deprecation === undefined ? {} : { deprecation }),
		table: customTable(version.additionalPrinterColumns ?? []),
		withDefaults: (object) => withSchemaDefaults(object, schema) as KubeObject,
		prepareCreate: (object) => (hasStatus ? withStatusOf(object, undefined) : object),
		prepareUpdate: (next, stored) => (hasStatus ? withStatusOf(next, ownValue(stored, "status")) : next),
		...(hasStatus ? { prepareStatusUpdate: statusUpdate } : {}),
		validate: (object) => errorsOf(object, undefined, schema, compiler),
		validateUpdate: (next, stored) => errorsOf(next, stored, schema, compiler),
		...(hasStatus
			? { validateStatusUpdate: (next: KubeObject, stored: KubeObject) => errorsOf(next, stored, schema, compiler) }
			: {}),
		warnings: () => [],
		fields: (object) => Object.fromEntries(selectable.map(({ label, path }) => [label, valueText(path, object)])),
	};
}

/** For definitions of v1beta1, which need not name what they keep: the schema checks what it names, and drops nothing. */
function keepingAll(schema: SchemaProps): SchemaProps {
	const { properties, items, additionalProperties } = schema;
	const inner = (each: SchemaProps): SchemaProps => keepingAll(each);
	return {
		...schema,
		"x-kubernetes-preserve-unknown-fields": true,
		...(properties === undefined
			? {}
			: { properties: Object.fromEntries(Object.entries(properties).map(([key, each]) => [key, inner(each)])) }),
		...(isSchema(items) ? { items: inner(items) } : {}),
		...(isSchema(additionalProperties) ? { additionalProperties: inner(additionalProperties) } : {}),
	};
}

function isSchema(value: SchemaProps["items"] | SchemaProps["additionalProperties"]): value is SchemaProps {
	return typeof value === "object" && !Array.isArray(value);
}

function subresourcesOf({ subresources }: CustomResourceVersion): readonly Subresource[] {
	return [
		...(subresources?.status === undefined ? [] : [STATUS_SUBRESOURCE]),
		...(subresources?.scale === undefined ? [] : [SCALE_SUBRESOURCE]),
	];
}

/** Objects are stored in one version; versions differ by name alone, and by what their schemas keep. */
function storedFormOf(
	spec: CustomResourceDefinitionSpec,
	version: CustomResourceVersion,
	schema: SchemaProps,
): NonNullable<ResourceType["storedForm"]> {
	const storage = spec.versions.find((each) => each.storage)?.name ?? version.name;
	const inVersion = (object: KubeObject, name: string): KubeObject => {
		const apiVersion = apiVersionOf({ group: spec.group, version: name });
		return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
	};
	return {
		// What is read may have been written under an older schema.
		fromStored: (object) =>
			withManySchemaDefaults(pruned(inVersion(object, version.name), schema), schema) as KubeObject,
		toStored: (object) => inVersion(object, storage),
	};
}

function withStatusOf(object: KubeObject, status: unknown): KubeObject {
	const { status: _status, ...rest } = object as KubeObject & { readonly status?: unknown };
	return status === undefined ? rest : { ...rest, ...{ status } };
}

/** Nothing but the status, and who set which of its fields. */
function statusUpdate(next: KubeObject, stored: KubeObject): KubeObject {
	const { managedFields } = next.metadata;
	const { managedFields: _before, ...metadata } = stored.metadata;
	const object = withStatusOf(stored, ownValue(next, "status"));
	return { ...object, metadata: managedFields === undefined ? metadata : { ...metadata, managedFields } };
}

function errorsOf(
	object: KubeObject,
	stored: KubeObject | undefined,
	schema: SchemaProps,
	compiler: RuleCompiler | undefined,
): ReturnType<ResourceType["validate"]> {
	const ofSchema = schemaProblems(object, schema);
	const ofLists = listTypeProblems(object, schema);
	const ofRules = ruleProblems(object, stored, schema, compiler, ofSchema);
	const problems = [...ofSchema, ...ofLists, ...ofRules];
	const fresh = stored === undefined ? problems : newProblems(problems, object, stored, schema);
	return fresh.map(({ error }) => error);
}

interface Selectable {
	/** `spec.color` */
	readonly label: string;
	readonly path: JsonPath;
}

function selectableOf({ selectableFields = [] }: CustomResourceVersion): readonly Selectable[] {
	return selectableFields.flatMap(({ jsonPath }) => {
		const parsed = parseJsonPath(jsonPath);
		return parsed.kind === "path" ? [{ label: jsonPath.replace(/^\./, ""), path: parsed.path }] : [];
	});
}

function valueText(path: JsonPath, object: KubeObject): string {
	const [value] = findAll(path, object);
	return value === undefined || value === null || isObject(value) ? "" : String(value);
}

function deprecationOf(
	{ group, names, versions }: CustomResourceDefinitionSpec,
	{ name, deprecated, deprecationWarning }: CustomResourceVersion,
): string | undefined {
	if (deprecated !== true) return undefined;
	if (deprecationWarning !== undefined) return deprecationWarning;
	const [better] = versions
		.filter((other) => other.served && other.deprecated !== true && byPriority(other.name, name) < 0)
		.sort((a, b) => byPriority(a.name, b.name));
	const instead = better === undefined ? "" : `; use ${group}/${better.name} ${names.kind}`;
	return `${group}/${name} ${names.kind} is deprecated${instead}`;
}

/** Whether objects of two states of a definition are served the same, so that open watches may go on. */
export function servesTheSame(a: CustomResourceDefinition, b: CustomResourceDefinition): boolean {
	return (
		a.metadata.uid === b.metadata.uid &&
		hasCondition(a, "Established") === hasCondition(b, "Established") &&
		deepEqual(a.spec, b.spec) &&
		deepEqual(a.status?.acceptedNames, b.status?.acceptedNames)
	);
}
