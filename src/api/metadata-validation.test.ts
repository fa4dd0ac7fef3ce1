import { describe, expect, test } from "vitest";
import { errorTexts, metadataOf } from "../testing/api-objects.ts";
import { validateMetadata, validateMetadataUpdate } from "./metadata-validation.ts";
import { dns1123LabelName } from "./names.ts";
import type { ObjectMeta } from "./types/meta.ts";

const NAMESPACED = { namespaced: true, nameProblems: dns1123LabelName };
const CLUSTER = { namespaced: false, nameProblems: dns1123LabelName };
const OWNER = { apiVersion: "v1", kind: "Pod", name: "p", uid: "1" };

function texts(more: Partial<ObjectMeta>): readonly string[] {
	return errorTexts(validateMetadata(NAMESPACED, metadataOf("web", more)));
}

describe("validateMetadata()", () => {
	test("asks for a name and a namespace", () => {
		expect(errorTexts(validateMetadata(NAMESPACED, {}))).toEqual([
			"metadata.name: Required value: name or generateName is required",
			"metadata.namespace: Required value",
		]);
		expect(errorTexts(validateMetadata(CLUSTER, { name: "a", namespace: "b" }))).toEqual([
			"metadata.namespace: Forbidden: not allowed on this type",
		]);
	});

	test.each<{ rule: string; more: Partial<ObjectMeta>; errors: readonly RegExp[] }>([
		{ rule: "good metadata", more: { labels: { "a/b": "c" }, finalizers: ["a.b/c"] }, errors: [] },
		{
			rule: "names have the kind's format",
			more: { name: "A" },
			errors: [/^metadata.name: Invalid value: "A": a low/],
		},
		{
			rule: "label errors name no key in the path",
			more: { labels: { "a/": "-" } },
			errors: [
				/^metadata.labels: Invalid value: "a\/": name part must be non-empty$/,
				/^metadata.labels: Invalid value: "a\/": name part must consist/,
				/^metadata.labels: Invalid value: "-": a valid label/,
			],
		},
		{ rule: "annotation keys may be upper case", more: { annotations: { "A.B/C": "any thing" } }, errors: [] },
		{
			rule: "annotations have a size",
			more: { annotations: { a: "é".repeat(131072) } },
			errors: [/^metadata.annotations: Too long: may not be more than 262144 bytes$/],
		},
		{
			rule: "an owner is complete",
			more: { ownerReferences: [{ apiVersion: "apps/", kind: "", name: "", uid: "" }] },
			errors: [
				/^metadata.ownerReferences.apiVersion: Invalid value: "apps\/": version must not be empty$/,
				/^metadata.ownerReferences.kind: Invalid value: "": must not be empty$/,
				/^metadata.ownerReferences.name: /,
				/^metadata.ownerReferences.uid: /,
			],
		},
		{
			rule: "an event owns nothing",
			more: { ownerReferences: [{ ...OWNER, kind: "Event" }] },
			errors: [/\/v1, Kind=Event is disallowed from being an owner$/],
		},
		{
			rule: "one controller",
			more: {
				ownerReferences: [
					{ ...OWNER, controller: true },
					{ ...OWNER, name: "q", controller: true },
				],
			},
			errors: [/Only one reference can have Controller set to true. Found "true" in references for Pod\/p and Pod\/q$/],
		},
		{
			rule: "finalizers are qualified or standard",
			more: { finalizers: ["kubernetes", "mine"] },
			errors: [
				/^metadata.finalizers\[1\]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified$/,
			],
		},
		{
			rule: "orphan and foreground exclude each other",
			more: { finalizers: ["orphan", "foregroundDeletion"] },
			errors: [/finalizer orphan and foregroundDeletion cannot be both set$/],
		},
		{
			rule: "managed fields have an operation",
			more: { managedFields: [{ manager: "m".repeat(129), fieldsType: "FieldsV2" }] },
			errors: [
				/^metadata.managedFields\[0\].operation: Invalid value: "": must be `Apply` or `Update`$/,
				/^metadata.managedFields\[0\].fieldsType: Invalid value: "FieldsV2": must be `FieldsV1`$/,
				/^metadata.managedFields\[0\].manager: Too long: may not be more than 128 bytes$/,
			],
		},
	])("$rule", ({ more, errors }) => {
		const found = texts(more);
		expect(found).toEqual(errors.map((pattern) => expect.stringMatching(pattern)));
	});
});

describe("validateMetadataUpdate()", () => {
	test("keeps what the server assigned", () => {
		const next = metadataOf("web", { uid: "u2", resourceVersion: "", generation: 1 });
		expect(errorTexts(validateMetadataUpdate(next, metadataOf("web", { generation: 2 })))).toEqual([
			'metadata.resourceVersion: Invalid value: "": must be specified for an update',
			"metadata.generation: Invalid value: 1: must not be decremented",
			'metadata.uid: Invalid value: "u2": field is immutable',
		]);
	});

	test("adds no finalizer to what is being deleted", () => {
		const deletionTimestamp = "2026-01-02T00:00:00Z";
		const stored = metadataOf("web", { deletionTimestamp, finalizers: ["a/b"] });
		const next = metadataOf("web", { deletionTimestamp, finalizers: ["a/d", "a/c", "a/b"] });
		expect(errorTexts(validateMetadataUpdate(next, stored))).toEqual([
			"metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted," +
				' found new finalizers []string{"a/c", "a/d"}',
		]);
		expect(validateMetadataUpdate({ ...next, finalizers: [] }, stored)).toEqual([]);
	});
});
