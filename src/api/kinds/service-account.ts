/** ServiceAccount: who a pod is to the API. */
import { age } from "../age.ts";
import { dns1123SubdomainName } from "../names.ts";
import { ALL_VERBS, defineResource, type ResourceType, type Subresource } from "../resource.ts";
import type { ServiceAccount } from "../types/core.ts";
import { AGE_COLUMN, NAME_COLUMN } from "./cells.ts";

/** Answers with a credential of the account. */
const TOKEN_SUBRESOURCE: Subresource = {
	name: "token",
	kind: { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" },
	verbs: ["create"],
};

export const SERVICE_ACCOUNT: ResourceType = defineResource<ServiceAccount>({
	group: "",
	version: "v1",
	kind: "ServiceAccount",
	plural: "serviceaccounts",
	singular: "serviceaccount",
	namespaced: true,
	shortNames: ["sa"],
	categories: [],
	verbs: ALL_VERBS,
	subresources: [TOKEN_SUBRESOURCE],
	storagePrefix: "/registry/serviceaccounts/",
	schema: "core.ServiceAccount",
	nameProblems: dns1123SubdomainName,
	generation: "never",
	createOnUpdate: false,
	unconditionalUpdate: true,
	deleteAnswers: "object",
	fieldLabels: [],
	table: {
		columns: [NAME_COLUMN, AGE_COLUMN],
		cells: ({ metadata }, nowMs) => [metadata.name, age(nowMs, metadata.creationTimestamp)],
	},
	withDefaults: (account) => account,
	prepareCreate: (account) => account,
	prepareUpdate: (next) => next,
	validate: () => [],
	validateUpdate: () => [],
	warnings: () => [],
	fields: () => ({}),
});
