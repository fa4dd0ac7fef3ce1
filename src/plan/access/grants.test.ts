import { describe, expect, test } from "vitest";
import type { PolicyRule, RoleBinding, Subject } from "../../api/types/rbac.ts";
import { type AccessWorld, decide, grantsFor } from "./grants.ts";
import type { Asker } from "./question.ts";

const READ_PODS: PolicyRule = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };

function binding(name: string, kind: string, role: string, ...subjects: Subject[]): RoleBinding {
	const metadata = { name, uid: name, resourceVersion: "1", creationTimestamp: "" };
	return { apiVersion: "", kind: "", metadata, subjects, roleRef: { apiGroup: "", kind, name: role } };
}

const world: AccessWorld = {
	clusterRole: (name) => (name === "reader" ? [READ_PODS] : undefined),
	role: (namespace, name) => (`${namespace}/${name}` === "shop/reader" ? [READ_PODS] : undefined),
	clusterBindings: [
		binding("all", "ClusterRole", "reader", { kind: "Group", name: "ops" }),
		binding("homeless", "ClusterRole", "reader", { kind: "ServiceAccount", name: "web" }),
		binding("broken", "ClusterRole", "none", { kind: "User", name: "cat" }),
	],
	bindings: (namespace) =>
		namespace === "shop"
			? [
					binding("ann", "Role", "reader", { kind: "User", name: "ann" }),
					binding("web", "ClusterRole", "reader", { kind: "ServiceAccount", name: "web" }),
					binding("far", "Role", "reader", { kind: "ServiceAccount", name: "job", namespace: "batch" }),
				]
			: [],
};

describe("decide()", () => {
	test.each<{ who: Asker; namespace: string; allowed: boolean; reason: string }>([
		{
			who: { name: "bob", groups: ["ops"] },
			namespace: "",
			allowed: true,
			reason: 'RBAC: allowed by ClusterRoleBinding "all" of ClusterRole "reader" to Group "ops"',
		},
		{
			who: { name: "bob", groups: ["ops"] },
			namespace: "shop",
			allowed: true,
			reason: 'RBAC: allowed by ClusterRoleBinding "all" of ClusterRole "reader" to Group "ops"',
		},
		{
			who: { name: "ann", groups: [] },
			namespace: "shop",
			allowed: true,
			reason: 'RBAC: allowed by RoleBinding "ann/shop" of Role "reader" to User "ann"',
		},
		{ who: { name: "ann", groups: [] }, namespace: "bank", allowed: false, reason: "" },
		{ who: { name: "ann", groups: [] }, namespace: "", allowed: false, reason: "" },
		{ who: { name: "ops", groups: ["ann"] }, namespace: "shop", allowed: false, reason: "" },
		{
			who: { name: "system:serviceaccount:shop:web", groups: [] },
			namespace: "shop",
			allowed: true,
			reason: 'RBAC: allowed by RoleBinding "web/shop" of ClusterRole "reader" to ServiceAccount "web/shop"',
		},
		{ who: { name: "system:serviceaccount:bank:web", groups: [] }, namespace: "shop", allowed: false, reason: "" },
		{
			who: { name: "system:serviceaccount:batch:job", groups: [] },
			namespace: "shop",
			allowed: true,
			reason: 'RBAC: allowed by RoleBinding "far/shop" of Role "reader" to ServiceAccount "job/batch"',
		},
		{
			who: { name: "cat", groups: [] },
			namespace: "shop",
			allowed: false,
			reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "none" not found',
		},
	])("$who.name in $namespace: $allowed $reason", ({ who, namespace, allowed, reason }) => {
		const question = { kind: "resource", verb: "get", group: "", plural: "pods", namespace, name: "x" } as const;
		expect(decide(grantsFor(world, who, namespace), question)).toEqual({ allowed, reason });
	});
});
