/** What the four kinds of RBAC have in common. */
import { pathSegmentName } from "../names.ts";
import { ALL_VERBS, type ResourceType } from "../resource.ts";
import type { KubeObject } from "../types/meta.ts";

export const RBAC_GROUP = "rbac.authorization.k8s.io";

type RbacKind = "Role" | "ClusterRole" | "RoleBinding" | "ClusterRoleBinding";
type Own = "table" | "withDefaults" | "validate" | "validateUpdate";

/** All of a kind's definition but what is its own. */
export function rbacKind<T extends KubeObject>(kind: RbacKind, namespaced: boolean): Omit<ResourceType<T>, Own> {
	const singular = kind.toLowerCase();
	return {
		group: RBAC_GROUP,
		version: "v1",
		kind,
		plural: `${singular}s`,
		singular,
		namespaced,
		shortNames: [],
		categories: [],
		verbs: ALL_VERBS,
		subresources: [],
		storagePrefix: `/registry/${singular}s/`,
		schema: `rbac.${kind}`,
		nameProblems: pathSegmentName,
		generation: "never",
		createOnUpdate: true,
		unconditionalUpdate: true,
		deleteAnswers: "status",
		fieldLabels: [],
		prepareCreate: (object) => object,
		prepareUpdate: (next) => next,
		warnings: () => [],
		fields: () => ({}),
	};
}
