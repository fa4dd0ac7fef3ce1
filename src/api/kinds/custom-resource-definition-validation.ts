/** The rules of CustomResourceDefinitions, in the words and at the paths of a real API server. */
import { deepEqual } from "../../kernel/json.ts";
import { type FieldError, forbidden, invalid, notSupported, required } from "../field-error.ts";
import { dns1035LabelProblems, dns1123SubdomainProblems } from "../names.ts";
import { type RuleCompiler, ruleErrors } from "../structural/rules.ts";
import { schemaRuleErrors } from "../structural/schema-rules.ts";
import type {
	CustomResourceDefinition,
	CustomResourceDefinitionSpec,
	CustomResourceNames,
	CustomResourceVersion,
} from "../types/apiextensions.ts";
import { columnErrors, scaleErrors, selectableErrors } from "./custom-resource-version-validation.ts";

/** @param compiler Absent: every rule in a schema is refused. */
export function validateDefinition(
	definition: CustomResourceDefinition,
	compiler?: RuleCompiler,
): readonly FieldError[] {
	const { metadata, spec, status } = definition;
	const wanted = `${spec.names.plural}.${spec.group}`;
	return [
		...(metadata.name === wanted
			? []
			: [invalid("metadata.name", metadata.name, 'must be spec.names.plural+"."+spec.group')]),
		...specErrors(spec, compiler),
		...namesErrors(status?.acceptedNames, "status.acceptedNames"),
		...approvalErrors(definition),
		...preserveErrors(spec),
	];
}

export function validateDefinitionUpdate(
	next: CustomResourceDefinition,
	stored: CustomResourceDefinition,
	compiler?: RuleCompiler,
): readonly FieldError[] {
	const isEstablished = stored.status?.conditions?.some(
		({ type, status }) => type === "Established" && status === "True",
	);
	const fixed = (field: string, value: unknown, before: unknown): readonly FieldError[] =>
		value === before ? [] : [invalid(field, value, "field is immutable")];
	return [
		// What was right when it was written may be written again: the finalizer must be able to go.
		...(deepEqual(next.spec, stored.spec) ? [] : specErrors(next.spec, compiler)),
		...(isEstablished === true
			? [
					...fixed("spec.scope", next.spec.scope, stored.spec.scope),
					...fixed("spec.names.kind", next.spec.names.kind, stored.spec.names.kind),
				]
			: []),
		...fixed("spec.group", next.spec.group, stored.spec.group),
		...fixed("spec.names.plural", next.spec.names.plural, stored.spec.names.plural),
		...storedVersionErrors(next),
		// Definitions that were stored as v1beta1 have it, and must be able to go.
		...(stored.spec.preserveUnknownFields === true ? [] : preserveErrors(next.spec)),
	];
}

export function validateDefinitionStatusUpdate({ status }: CustomResourceDefinition): readonly FieldError[] {
	return namesErrors(status?.acceptedNames, "status.acceptedNames");
}

function specErrors(spec: CustomResourceDefinitionSpec, compiler: RuleCompiler | undefined): readonly FieldError[] {
	const common = commonParts(spec);
	return [
		...groupErrors(spec.group),
		...scopeErrors(spec.scope),
		...spec.versions.flatMap((version, index) =>
			version.schema?.openAPIV3Schema === undefined
				? [required(`spec.versions[${index}].schema.openAPIV3Schema`, "schemas are required")]
				: [],
		),
		...spec.versions.flatMap((version, index) => versionErrors(common, version, index, compiler)),
		...versionListErrors(spec.versions),
		...requiredNames(spec.names),
		...namesErrors(spec.names, "spec.names"),
		...conversionErrors(spec.conversion),
	];
}

function groupErrors(group: string): readonly FieldError[] {
	const problems = dns1123SubdomainProblems(group);
	if (problems.length > 0) return [invalid("spec.group", group, problems.join(","))];
	return group.includes(".") ? [] : [invalid("spec.group", group, "should be a domain with at least one dot")];
}

function scopeErrors(scope: string): readonly FieldError[] {
	const supported = ["Cluster", "Namespaced"];
	if (scope === "") return [required("spec.scope", "")];
	return supported.includes(scope) ? [] : [notSupported("spec.scope", scope, supported)];
}

const PARTS = ["schema", "subresources", "additionalPrinterColumns"] as const;
type Part = (typeof PARTS)[number];

/** What all versions have alike. */
function commonParts({ versions }: CustomResourceDefinitionSpec): ReadonlySet<Part> {
	const [first] = versions;
	return new Set(PARTS.filter((part) => versions.every((version) => deepEqual(version[part], first?.[part]))));
}

/** What all versions have in common is said at the place where it once stood for all of them. */
function placeOf(common: ReadonlySet<Part>, index: number, part: Part): string | undefined {
	if (!common.has(part)) return `spec.versions[${index}].${part}`;
	if (index > 0) return undefined;
	return part === "schema" ? "spec.validation" : `spec.${part}`;
}

function versionErrors(
	common: ReadonlySet<Part>,
	version: CustomResourceVersion,
	index: number,
	compiler: RuleCompiler | undefined,
): readonly FieldError[] {
	const place = `spec.versions[${index}]`;
	const problems = dns1035LabelProblems(version.name);
	const schema = version.schema?.openAPIV3Schema;
	const schemaPlace = placeOf(common, index, "schema");
	const scalePlace = placeOf(common, index, "subresources");
	const columnPlace = placeOf(common, index, "additionalPrinterColumns");
	const hasStatus = version.subresources?.status !== undefined;
	return [
		...(problems.length > 0 ? [invalid(`${place}.name`, version.name, problems.join(","))] : []),
		...deprecationErrors(version, place),
		...(schema === undefined || schemaPlace === undefined
			? []
			: schemaErrors(schema, `${schemaPlace}.openAPIV3Schema`, hasStatus, compiler)),
		...(scalePlace === undefined ? [] : scaleErrors(version.subresources?.scale, scalePlace)),
		...(columnPlace === undefined ? [] : columnErrors(version.additionalPrinterColumns ?? [], columnPlace)),
		...selectableErrors(version, place),
	];
}

function schemaErrors(
	schema: NonNullable<NonNullable<CustomResourceVersion["schema"]>["openAPIV3Schema"]>,
	path: string,
	hasStatus: boolean,
	compiler: RuleCompiler | undefined,
): readonly FieldError[] {
	const errors = schemaRuleErrors(schema, path, hasStatus);
	// What a rule may say follows from its schema: one that is wrong tells nothing.
	return errors.length > 0 ? errors : ruleErrors(schema, path, compiler);
}

const WARNING_CHARACTERS_MAX = 256;

function deprecationErrors(
	{ deprecated, deprecationWarning }: CustomResourceVersion,
	place: string,
): readonly FieldError[] {
	if (deprecationWarning === undefined) return [];
	const field = `${place}.deprecationWarning`;
	const wrong = (why: string): readonly FieldError[] => [invalid(field, deprecationWarning, why)];
	if (deprecated !== true) return wrong("can only be set for deprecated versions");
	if (deprecationWarning.length > WARNING_CHARACTERS_MAX) return wrong("must be <= 256 characters long");
	if (deprecationWarning === "") return wrong("must not be an empty string");
	const at = deprecationWarning.search(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
	if (at < 0) return [];
	return wrong(`must only contain printable UTF-8 characters; non-printable character found at index ${at}`);
}

function versionListErrors(versions: readonly CustomResourceVersion[]): readonly FieldError[] {
	const names = versions.map(({ name }) => name);
	return [
		...(new Set(names).size === names.length
			? []
			: [invalid("spec.versions", versions, "must contain unique version names")]),
		...(versions.filter(({ storage }) => storage).length === 1
			? []
			: [invalid("spec.versions", versions, "must have exactly one version marked as storage version")]),
	];
}

function requiredNames(names: CustomResourceNames): readonly FieldError[] {
	return (["plural", "singular", "kind", "listKind"] as const)
		.filter((name) => (names[name] ?? "") === "")
		.map((name) => required(`spec.names.${name}`, ""));
}

function namesErrors(names: CustomResourceNames | undefined, place: string): readonly FieldError[] {
	if (names === undefined) return [];
	const { plural = "", singular = "", kind = "", listKind = "", shortNames = [], categories = [] } = names;
	const label = (field: string, value: string): readonly FieldError[] => {
		const problems = value === "" ? [] : dns1035LabelProblems(value);
		return problems.length === 0 ? [] : [invalid(`${place}.${field}`, value, problems.join(","))];
	};
	const mixedCase = (field: string, value: string): readonly FieldError[] => {
		const problems = value === "" ? [] : dns1035LabelProblems(value.toLowerCase());
		const why = `may have mixed case, but should otherwise match: ${problems.join(",")}`;
		return problems.length === 0 ? [] : [invalid(`${place}.${field}`, value, why)];
	};
	return [
		...label("plural", plural),
		...label("singular", singular),
		...mixedCase("kind", kind),
		...mixedCase("listKind", listKind),
		...shortNames.flatMap((name, index) => listed(`${place}.shortNames[${index}]`, name)),
		...(kind !== "" && kind === listKind
			? [invalid(`${place}.listKind`, listKind, "kind and listKind may not be the same")]
			: []),
		...categories.flatMap((name, index) => listed(`${place}.categories[${index}]`, name)),
	];
}

function listed(field: string, value: string): readonly FieldError[] {
	const problems = dns1035LabelProblems(value);
	return problems.length === 0 ? [] : [invalid(field, value, problems.join(","))];
}

function conversionErrors(conversion: CustomResourceDefinitionSpec["conversion"]): readonly FieldError[] {
	const { strategy = "", webhook } = conversion ?? {};
	const field = "spec.conversion.strategy";
	if (strategy === "") return [required(field, "")];
	if (strategy === "Webhook") {
		const why = "conversion webhooks are not called by this server: use None, and versions that differ by name alone";
		return [forbidden(field, why)];
	}
	if (strategy !== "None") return [notSupported(field, strategy, ["None", "Webhook"])];
	const why = "should not be set when strategy is not set to Webhook";
	return webhook === undefined ? [] : [forbidden("spec.conversion.webhookClientConfig", why)];
}

function storedVersionErrors({ spec, status }: CustomResourceDefinition): readonly FieldError[] {
	const { storedVersions = [] } = status ?? {};
	const field = "status.storedVersions";
	if (storedVersions.length === 0) return [invalid(field, null, "must have at least one stored version")];
	const names = new Set(spec.versions.map(({ name }) => name));
	return storedVersions.flatMap((name, index) => {
		if (names.has(name)) return [];
		const why =
			`missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions ` +
			`until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
		return [invalid(`${field}[${index}]`, name, why)];
	});
}

const APPROVAL = "api-approved.kubernetes.io";
const SEE = "see https://github.com/kubernetes/enhancements/pull/1111";

/** Groups of the Kubernetes community want to know where a kind was approved. */
function approvalErrors({ metadata, spec }: CustomResourceDefinition): readonly FieldError[] {
	if (!/(^|\.)(k8s|kubernetes)\.io$/.test(spec.group)) return [];
	const given = metadata.annotations?.[APPROVAL] ?? "";
	const field = `metadata.annotations[${APPROVAL}]`;
	const wanted = `protected groups must have approval annotation "${APPROVAL}"`;
	if (given === "") return [required(field, `${wanted}, ${SEE}`)];
	if (given.startsWith("unapproved") || /^[a-z][a-z0-9+.-]*:\/\/[^/\s]+/i.test(given)) return [];
	return [invalid(field, given, `${wanted} with either a URL or a reason starting with "unapproved", ${SEE}`)];
}

function preserveErrors({ preserveUnknownFields }: CustomResourceDefinitionSpec): readonly FieldError[] {
	if (preserveUnknownFields !== true) return [];
	const why = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
	return [invalid("spec.preserveUnknownFields", true, why)];
}
