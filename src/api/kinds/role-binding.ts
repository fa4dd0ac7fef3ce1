/** RoleBinding and ClusterRoleBinding: who has the rights of a role. */
import { deepEqual, without } from "../../kernel/json.ts";
import { age } from "../age.ts";
import { errorsOf, type FieldError, invalid, notSupported, required } from "../field-error.ts";
import { dns1123SubdomainName, pathSegmentName } from "../names.ts";
import { defineResource, type ResourceType, type Table } from "../resource.ts";
import type { RoleBinding, Subject } from "../types/rbac.ts";
import { AGE_COLUMN, column, NAME_COLUMN, wideColumn } from "./cells.ts";
import { RBAC_GROUP, rbacKind } from "./rbac-kind.ts";

const TABLE: Table<RoleBinding> = {
	columns: [
		NAME_COLUMN,
		column("Role", "The role whose rights are given."),
		AGE_COLUMN,
		wideColumn("Users", "Users that have the rights."),
		wideColumn("Groups", "Groups whose members have the rights."),
		wideColumn("ServiceAccounts", "ServiceAccounts that have the rights."),
	],
	cells: ({ metadata, roleRef, subjects = [] }, nowMs) => {
		const named = (kind: string, text: (subject: Subject) => string): string =>
			subjects
				.filter((subject) => subject.kind === kind)
				.map(text)
				.join(", ");
		return [
			metadata.name,
			`${roleRef.kind}/${roleRef.name}`,
			age(nowMs, metadata.creationTimestamp),
			named("User", ({ name }) => name),
			named("Group", ({ name }) => name),
			named("ServiceAccount", ({ namespace = "", name }) => `${namespace}/${name}`),
		];
	},
};

function bindingType(kind: "RoleBinding" | "ClusterRoleBinding", roleKinds: readonly string[]): ResourceType {
	const namespaced = kind === "RoleBinding";
	const validate = (binding: RoleBinding): readonly FieldError[] => [
		...roleRefErrors(binding, roleKinds),
		...errorsOf(binding.subjects ?? [], (subject, index) => subjectErrors(subject, `subjects[${index}]`, namespaced)),
	];
	return defineResource<RoleBinding>({
		...rbacKind(kind, namespaced),
		table: TABLE,
		withDefaults,
		validate,
		validateUpdate: (next, stored) => [
			...validate(next),
			...(deepEqual(next.roleRef, stored.roleRef) ? [] : [invalid("roleRef", next.roleRef, "cannot change roleRef")]),
		],
	});
}

export const ROLE_BINDING: ResourceType = bindingType("RoleBinding", ["Role", "ClusterRole"]);
export const CLUSTER_ROLE_BINDING: ResourceType = bindingType("ClusterRoleBinding", ["ClusterRole"]);

function withDefaults(binding: RoleBinding): RoleBinding {
	const { roleRef, subjects } = binding;
	const { apiGroup = "", kind = "", name = "" } = roleRef ?? {};
	const filled = { ...binding, roleRef: { apiGroup: apiGroup === "" ? RBAC_GROUP : apiGroup, kind, name } };
	if (subjects === undefined) return filled;
	return subjects.length === 0 ? without(filled, "subjects") : { ...filled, subjects: subjects.map(withGroup) };
}

/** Users and groups are words of RBAC itself; a ServiceAccount is of the core group. */
function withGroup(subject: Subject): Subject {
	const { kind = "", apiGroup = "", name = "" } = subject;
	const rest = { ...without(subject, "apiGroup"), kind, name };
	const byDefault = kind === "User" || kind === "Group" ? RBAC_GROUP : "";
	const group = apiGroup === "" ? byDefault : apiGroup;
	return group === "" ? rest : { ...rest, apiGroup: group };
}

function roleRefErrors({ roleRef }: RoleBinding, roleKinds: readonly string[]): readonly FieldError[] {
	const { apiGroup, kind, name } = roleRef;
	return [
		...(apiGroup === RBAC_GROUP ? [] : [notSupported("roleRef.apiGroup", apiGroup, [RBAC_GROUP])]),
		...(roleKinds.includes(kind) ? [] : [notSupported("roleRef.kind", kind, roleKinds)]),
		...(name === ""
			? [required("roleRef.name", "")]
			: pathSegmentName(name, false).map((why) => invalid("roleRef.name", name, why))),
	];
}

function subjectErrors(subject: Subject, path: string, isNamespaced: boolean): readonly FieldError[] {
	const { kind, apiGroup = "", name, namespace = "" } = subject;
	const errors: FieldError[] = name === "" ? [required(`${path}.name`, "")] : [];
	switch (kind) {
		case "ServiceAccount":
			if (name !== "") {
				errors.push(...dns1123SubdomainName(name, false).map((why) => invalid(`${path}.name`, name, why)));
			}
			if (apiGroup !== "") errors.push(notSupported(`${path}.apiGroup`, apiGroup, [""]));
			if (!isNamespaced && namespace === "") errors.push(required(`${path}.namespace`, ""));
			break;
		case "User":
		case "Group":
			if (apiGroup !== RBAC_GROUP) errors.push(notSupported(`${path}.apiGroup`, apiGroup, [RBAC_GROUP]));
			break;
		default:
			errors.push(notSupported(`${path}.kind`, kind, ["ServiceAccount", "User", "Group"]));
	}
	return errors;
}
