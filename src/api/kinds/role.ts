/** Role and ClusterRole: what may be done, for those who are bound to it. */
import { without } from "../../kernel/json.ts";
import { type FieldError, invalid, required } from "../field-error.ts";
import { validateLabelSelector } from "../label-selector.ts";
import { pathSegmentName } from "../names.ts";
import { ALL_VERBS, defineResource, type ResourceType, type Table } from "../resource.ts";
import type { ClusterRole, PolicyRule, Role } from "../types/rbac.ts";
import { column, NAME_COLUMN } from "./cells.ts";

const TABLE: Table<Role> = {
	columns: [NAME_COLUMN, column("Created At", "When the server created the object.")],
	cells: ({ metadata }) => [metadata.name, metadata.creationTimestamp ?? ""],
};

const SHARED = {
	group: "rbac.authorization.k8s.io",
	version: "v1",
	shortNames: [],
	categories: [],
	verbs: ALL_VERBS,
	subresources: [],
	nameProblems: pathSegmentName,
	generation: "never",
	createOnUpdate: true,
	unconditionalUpdate: true,
	deleteAnswers: "status",
	fieldLabels: [],
	warnings: () => [],
	fields: () => ({}),
} as const;

export const ROLE: ResourceType = defineResource<Role>({
	...SHARED,
	kind: "Role",
	plural: "roles",
	singular: "role",
	namespaced: true,
	storagePrefix: "/registry/roles/",
	schema: "rbac.Role",
	table: TABLE,
	withDefaults: withoutEmptyLists,
	prepareCreate: (role) => role,
	prepareUpdate: (next) => next,
	validate: (role) => ruleErrors(role, true),
	validateUpdate: (next) => ruleErrors(next, true),
});

export const CLUSTER_ROLE: ResourceType = defineResource<ClusterRole>({
	...SHARED,
	kind: "ClusterRole",
	plural: "clusterroles",
	singular: "clusterrole",
	namespaced: false,
	storagePrefix: "/registry/clusterroles/",
	schema: "rbac.ClusterRole",
	table: TABLE,
	withDefaults: withoutEmptyLists,
	prepareCreate: (role) => role,
	prepareUpdate: (next) => next,
	validate: validateClusterRole,
	validateUpdate: validateClusterRole,
});

/** An empty list says what a missing one says. */
function withoutEmptyLists<T extends Role>(role: T): T {
	const { rules } = role;
	if (rules === undefined || rules === null) return role;
	return { ...role, rules: rules.map(withoutEmpty) };
}

const LISTS = ["apiGroups", "resources", "resourceNames", "nonResourceURLs"] as const;

function withoutEmpty(rule: PolicyRule): PolicyRule {
	const empty = LISTS.filter((name) => rule[name]?.length === 0);
	return empty.length === 0 ? rule : without(rule, ...empty);
}

function validateClusterRole(role: ClusterRole): readonly FieldError[] {
	return [...ruleErrors(role, false), ...aggregationErrors(role)];
}

function aggregationErrors({ aggregationRule }: ClusterRole): readonly FieldError[] {
	if (aggregationRule === undefined) return [];
	const path = "aggregationRule.clusterRoleSelectors";
	const selectors = aggregationRule.clusterRoleSelectors ?? [];
	if (selectors.length === 0) {
		return [required(path, "at least one clusterRoleSelector required if aggregationRule is non-nil")];
	}
	return selectors.flatMap((selector, index) => validateLabelSelector(`${path}[${index}]`, selector));
}

function ruleErrors({ rules }: Role, isNamespaced: boolean): readonly FieldError[] {
	return (rules ?? []).flatMap((rule, index) => oneRuleErrors(rule, `rules[${index}]`, isNamespaced));
}

function oneRuleErrors(rule: PolicyRule, path: string, isNamespaced: boolean): readonly FieldError[] {
	const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
	const errors: FieldError[] = [];
	if (verbs.length === 0) errors.push(required(`${path}.verbs`, "verbs must contain at least one value"));
	if (nonResourceURLs.length > 0) {
		const wrong = (why: string): number => errors.push(invalid(`${path}.nonResourceURLs`, nonResourceURLs, why));
		if (isNamespaced) wrong("namespaced rules cannot apply to non-resource URLs");
		if (apiGroups.length > 0 || resources.length > 0 || resourceNames.length > 0) {
			wrong("rules cannot apply to both regular resources and non-resource URLs");
		}
		return errors;
	}
	if (apiGroups.length === 0) {
		errors.push(required(`${path}.apiGroups`, "resource rules must supply at least one api group"));
	}
	if (resources.length === 0) {
		errors.push(required(`${path}.resources`, "resource rules must supply at least one resource"));
	}
	return errors;
}
