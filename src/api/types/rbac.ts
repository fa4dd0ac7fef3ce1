/** `rbac.authorization.k8s.io/v1`: who may do what. */
import type { KubeObject, LabelSelector } from "./meta.ts";

export interface PolicyRule {
	/** `*` is every verb. */
	readonly verbs: readonly string[];
	readonly apiGroups?: readonly string[];
	/** `pods`, `pods/log`, `*`, or `*` before a slash: that subresource of everything. */
	readonly resources?: readonly string[];
	/** Absent or empty: every name. */
	readonly resourceNames?: readonly string[];
	/** `/metrics`, or `/apis/*`. */
	readonly nonResourceURLs?: readonly string[];
}

export interface Role extends KubeObject {
	/** null where it has none. */
	readonly rules?: readonly PolicyRule[] | null;
}

export interface ClusterRole extends Role {
	/** The rules are then those of the roles that it selects. */
	readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly LabelSelector[] };
}

export interface Subject {
	readonly kind: string;
	readonly apiGroup?: string;
	readonly name: string;
	/** Of a ServiceAccount. */
	readonly namespace?: string;
}

export interface RoleRef {
	readonly apiGroup: string;
	readonly kind: string;
	readonly name: string;
}

/** A RoleBinding or a ClusterRoleBinding. */
export interface RoleBinding extends KubeObject {
	readonly subjects?: readonly Subject[];
	readonly roleRef: RoleRef;
}
