/** Role and ClusterRole: what may be done, for those who are bound to it. */
import { without } from "../../kernel/json.ts";
import { errorsOf, type FieldError, invalid, required } from "../field-error.ts";
import { validateLabelSelector } from "../label-selector.ts";
import { defineResource, type ResourceType, type Table } from "../resource.ts";
import type { ClusterRole, PolicyRule, Role } from "../types/rbac.ts";
import { column, NAME_COLUMN } from "./cells.ts";
import { rbacKind } from "./rbac-kind.ts";

const TABLE: Table<Role> = {
	columns: [NAME_COLUMN, column("Created At", "When the server created the object.")],
	cells: ({ metadata }) => [metadata.name, metadata.creationTimestamp ?? ""],
};

function roleType<T extends Role>(
	kind: "Role" | "ClusterRole",
	validate: (role: T) => readonly FieldError[],
): ResourceType {
	return defineResource<T>({
		...rbacKind(kind, kind === "Role"),
		table: TABLE,
		withDefaults: withoutEmptyLists,
		validate,
		validateUpdate: validate,
	});
}

export const ROLE: ResourceType = roleType<Role>("Role", (role) => ruleErrors(role, true));
export const CLUSTER_ROLE: ResourceType = roleType<ClusterRole>("ClusterRole", (role) => [
	...ruleErrors(role, false),
	...aggregationErrors(role),
]);

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

function aggregationErrors({ aggregationRule }: ClusterRole): readonly FieldError[] {
	if (aggregationRule === undefined) return [];
	const path = "aggregationRule.clusterRoleSelectors";
	const selectors = aggregationRule.clusterRoleSelectors ?? [];
	if (selectors.length === 0) {
		return [required(path, "at least one clusterRoleSelector required if aggregationRule is non-nil")];
	}
	return errorsOf(selectors, (selector, index) => validateLabelSelector(`${path}[${index}]`, selector));
}

function ruleErrors({ rules }: Role, isNamespaced: boolean): readonly FieldError[] {
	return errorsOf(rules ?? [], (rule, index) => oneRuleErrors(rule, `rules[${index}]`, isNamespaced));
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
