/** The rules of `metadata`, the same for every kind but for the format of its names. */

import { isObject } from "../kernel/json.ts";
import { idOf } from "./apply/field-set.ts";
import { errorsOf, type FieldError, forbidden, invalid, required, tooLong } from "./field-error.ts";
import { byteLength, dns1123LabelProblems, labelValueProblems, qualifiedNameProblems } from "./names.ts";
import type { NameRule } from "./resource.ts";
import type { ManagedFieldsEntry, ObjectMeta, OwnerReference, StringMap } from "./types/meta.ts";

/** Of a ResourceType, what metadata needs to know. */
export interface MetadataRules {
	readonly namespaced: boolean;
	readonly nameProblems: NameRule;
	/** Finalizers of these need not be fully qualified: CustomResourceDefinitions, and what they define. */
	readonly hasFreeFinalizers?: boolean;
}

const ANNOTATIONS_BYTES_MAX = 256 * 1024;
const MANAGER_BYTES_MAX = 128;
const SUBRESOURCE_BYTES_MAX = 256;
const STANDARD_FINALIZERS: readonly string[] = ["orphan", "foregroundDeletion", "kubernetes"];

/** One Invalid error for each text of `problems`. */
export function invalids(field: string, value: unknown, problems: readonly string[]): readonly FieldError[] {
	return problems.map((problem) => invalid(field, value, problem));
}

export function validateMetadata(rules: MetadataRules, metadata: Partial<ObjectMeta>): readonly FieldError[] {
	return [
		...validateNames(rules, metadata),
		...validateNamespace(rules, metadata.namespace ?? ""),
		...(metadata.generation !== undefined && metadata.generation < 0
			? [invalid("metadata.generation", metadata.generation, "must be greater than or equal to 0")]
			: []),
		...validateCommon(rules, metadata),
	];
}

/** `stored` is what the write replaces. The API server has filled in what it keeps from `stored`. */
export function validateMetadataUpdate(
	next: ObjectMeta,
	stored: ObjectMeta,
	rules: Pick<MetadataRules, "hasFreeFinalizers"> = {},
): readonly FieldError[] {
	return [
		...validateNoNewFinalizers(next, stored),
		...((next.resourceVersion ?? "") === ""
			? [invalid("metadata.resourceVersion", "", "must be specified for an update")]
			: []),
		...((next.generation ?? 0) < (stored.generation ?? 0)
			? [invalid("metadata.generation", next.generation ?? 0, "must not be decremented")]
			: []),
		...IMMUTABLE.filter((key) => next[key] !== stored[key]).map((key) =>
			invalid(`metadata.${key}`, next[key], "field is immutable"),
		),
		...validateCommon(rules, next, stored),
	];
}

const IMMUTABLE = [
	"name",
	"namespace",
	"uid",
	"creationTimestamp",
	"deletionTimestamp",
	"deletionGracePeriodSeconds",
] as const;

function validateNames(rules: MetadataRules, metadata: Partial<ObjectMeta>): readonly FieldError[] {
	const { name = "", generateName = "" } = metadata;
	return [
		...(generateName === ""
			? []
			: invalids("metadata.generateName", generateName, rules.nameProblems(generateName, true))),
		...(name === ""
			? [required("metadata.name", "name or generateName is required")]
			: invalids("metadata.name", name, rules.nameProblems(name, false))),
	];
}

function validateNamespace(rules: MetadataRules, namespace: string): readonly FieldError[] {
	if (!rules.namespaced) {
		return namespace === "" ? [] : [forbidden("metadata.namespace", "not allowed on this type")];
	}
	if (namespace === "") return [required("metadata.namespace", "")];
	return invalids("metadata.namespace", namespace, dns1123LabelProblems(namespace));
}

/** What is the stored object's own was looked at when that was written. */
function validateCommon(
	{ hasFreeFinalizers = false }: Pick<MetadataRules, "hasFreeFinalizers">,
	metadata: Partial<ObjectMeta>,
	stored: Partial<ObjectMeta> = {},
): readonly FieldError[] {
	const { labels, annotations, ownerReferences = [], finalizers = [], managedFields = [] } = metadata;
	return [
		...(labels === stored.labels ? [] : validateLabels("metadata.labels", labels)),
		...(annotations === stored.annotations ? [] : validateAnnotations("metadata.annotations", annotations)),
		...(ownerReferences === stored.ownerReferences ? [] : validateOwnerReferences(ownerReferences)),
		...(finalizers === stored.finalizers ? [] : validateFinalizers(finalizers, hasFreeFinalizers)),
		...errorsOf(managedFields, validateManagedFields),
	];
}

/** Also the rule of selectors that are plain maps. The path names no key: so does a real server. */
export function validateLabels(field: string, labels: StringMap | undefined): readonly FieldError[] {
	return errorsOf(Object.entries(labels ?? {}), ([key, value]) => [
		...invalids(field, key, qualifiedNameProblems(key)),
		...invalids(field, value, labelValueProblems(value)),
	]);
}

export function validateAnnotations(field: string, annotations: StringMap | undefined): readonly FieldError[] {
	const entries = Object.entries(annotations ?? {});
	const bytes = entries.reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0);
	return [
		...errorsOf(entries, ([key]) => invalids(field, key, qualifiedNameProblems(key.toLowerCase()))),
		...(bytes > ANNOTATIONS_BYTES_MAX ? [tooLong(field, ANNOTATIONS_BYTES_MAX)] : []),
	];
}

function validateOwnerReferences(references: readonly OwnerReference[]): readonly FieldError[] {
	const field = "metadata.ownerReferences";
	const [first, ...more] = references.filter((reference) => reference.controller === true);
	const text = (reference: OwnerReference): string => `${reference.kind}/${reference.name}`;
	return [
		...errorsOf(references, (reference) => validateOwnerReference(field, reference)),
		...errorsOf(more, (reference) => [
			invalid(
				field,
				references,
				"Only one reference can have Controller set to true." +
					` Found "true" in references for ${first === undefined ? "" : text(first)} and ${text(reference)}`,
			),
		]),
	];
}

function validateOwnerReference(field: string, reference: OwnerReference): readonly FieldError[] {
	const { apiVersion = "" } = reference;
	const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
	return [
		...(version === "" ? [invalid(`${field}.apiVersion`, apiVersion, "version must not be empty")] : []),
		...(["kind", "name", "uid"] as const)
			.filter((key) => (reference[key] ?? "") === "")
			.map((key) => invalid(`${field}.${key}`, "", "must not be empty")),
		...(apiVersion === "v1" && reference.kind === "Event"
			? [invalid(field, reference, "/v1, Kind=Event is disallowed from being an owner")]
			: []),
	];
}

function validateFinalizers(finalizers: readonly string[], areFree: boolean): readonly FieldError[] {
	const field = "metadata.finalizers";
	return [
		...errorsOf(finalizers, (finalizer) => invalids(field, finalizer, qualifiedNameProblems(finalizer))),
		...(finalizers.includes("orphan") && finalizers.includes("foregroundDeletion")
			? [invalid(field, finalizers, "finalizer orphan and foregroundDeletion cannot be both set")]
			: []),
		...errorsOf(finalizers, (finalizer, index) =>
			areFree || finalizer.includes("/") || STANDARD_FINALIZERS.includes(finalizer)
				? []
				: [
						invalid(
							`${field}[${index}]`,
							finalizer,
							"name is neither a standard finalizer name nor is it fully qualified",
						),
					],
		),
	];
}

/** What is being deleted may lose finalizers, never gain any: else it could be kept for ever. */
function validateNoNewFinalizers(next: ObjectMeta, stored: ObjectMeta): readonly FieldError[] {
	if (stored.deletionTimestamp === undefined) return [];
	const added = (next.finalizers ?? []).filter((finalizer) => !stored.finalizers?.includes(finalizer));
	if (added.length === 0) return [];
	const list = [...new Set(added)].sort().map((finalizer) => JSON.stringify(finalizer));
	return [
		forbidden(
			"metadata.finalizers",
			"no new finalizers can be added if the object is being deleted," +
				` found new finalizers []string{${list.join(", ")}}`,
		),
	];
}

/** As the server writes them for programs with names of a usual length: most entries, with every write. */
function isOwnEntry({ manager = "", subresource = "", fieldsV1 }: ManagedFieldsEntry): boolean {
	return fieldsV1 !== undefined && idOf(fieldsV1) > 0 && !isLonger(manager + subresource, MANAGER_BYTES_MAX);
}

/** Bytes of UTF-8 that a unit of UTF-16 takes at most. */
const BYTES_PER_UNIT_MAX = 3;

/** Every write asks, and short texts need not be encoded to know. */
function isLonger(text: string, bytesMax: number): boolean {
	return text.length * BYTES_PER_UNIT_MAX > bytesMax && byteLength(text) > bytesMax;
}

function validateManagedFields(entry: ManagedFieldsEntry, index: number): readonly FieldError[] {
	const field = `metadata.managedFields[${index}]`;
	const { operation, fieldsType = "", manager = "", subresource = "", fieldsV1 } = entry;
	if (isOwnEntry(entry)) return [];
	return [
		...(operation === "Apply" || operation === "Update"
			? []
			: [invalid(`${field}.operation`, operation ?? "", "must be `Apply` or `Update`")]),
		...(fieldsType === "" || fieldsType === "FieldsV1"
			? []
			: [invalid(`${field}.fieldsType`, fieldsType, "must be `FieldsV1`")]),
		...(isLonger(manager, MANAGER_BYTES_MAX) ? [tooLong(`${field}.manager`, MANAGER_BYTES_MAX)] : []),
		...(isLonger(subresource, SUBRESOURCE_BYTES_MAX) ? [tooLong(`${field}.subresource`, SUBRESOURCE_BYTES_MAX)] : []),
		...(fieldsV1 === undefined || isObject(fieldsV1)
			? []
			: [invalid(`${field}.fieldsV1`, fieldsV1, "must be an object")]),
	];
}
