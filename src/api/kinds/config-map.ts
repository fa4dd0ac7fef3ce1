/** ConfigMap: named texts for pods. */
import { without } from "../../kernel/json.ts";
import { age } from "../age.ts";
import { type FieldError, invalid } from "../field-error.ts";
import { dns1123SubdomainName } from "../names.ts";
import { ALL_VERBS, defineResource, type ResourceType } from "../resource.ts";
import type { ConfigMap } from "../types/core.ts";
import { AGE_COLUMN, column, NAME_COLUMN } from "./cells.ts";
import { base64Bytes, nonEmpty, textBytes, validateDataSize, validateFrozen, validateKeys } from "./data-keys.ts";

export const CONFIG_MAP: ResourceType = defineResource<ConfigMap>({
	group: "",
	version: "v1",
	kind: "ConfigMap",
	plural: "configmaps",
	singular: "configmap",
	namespaced: true,
	shortNames: ["cm"],
	categories: [],
	verbs: ALL_VERBS,
	subresources: [],
	storagePrefix: "/registry/configmaps/",
	schema: "core.ConfigMap",
	nameProblems: dns1123SubdomainName,
	generation: "never",
	createOnUpdate: false,
	unconditionalUpdate: true,
	deleteAnswers: "status",
	fieldLabels: [],
	table: {
		columns: [NAME_COLUMN, column("Data", "How many values it holds."), AGE_COLUMN],
		cells: ({ metadata, data, binaryData }, nowMs) => [
			metadata.name,
			Object.keys(data ?? {}).length + Object.keys(binaryData ?? {}).length,
			age(nowMs, metadata.creationTimestamp),
		],
	},
	withDefaults: (map) => ({
		...without(map, "data", "binaryData"),
		...nonEmpty("data", map.data),
		...nonEmpty("binaryData", map.binaryData),
	}),
	prepareCreate: (map) => map,
	prepareUpdate: (next) => next,
	validate,
	validateUpdate: (next, stored) => [...validateFrozen(next, stored), ...validate(next)],
	warnings: () => [],
	fields: () => ({}),
});

function validate({ data, binaryData }: ConfigMap): readonly FieldError[] {
	const shared = Object.keys(data ?? {}).filter((key) => Object.hasOwn(binaryData ?? {}, key));
	return [
		...validateKeys("data", data),
		...shared.map((key) => invalid(`data[${key}]`, key, "duplicate of key present in binaryData")),
		...validateKeys("binaryData", binaryData),
		...shared.map((key) => invalid(`binaryData[${key}]`, key, "duplicate of key present in data")),
		...validateDataSize("", textBytes(data) + base64Bytes(binaryData)),
	];
}
