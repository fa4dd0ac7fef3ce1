/** Short words for the roles and bindings that every cluster has. */
import type { PolicyRule, Subject } from "../../api/types/rbac.ts";
import type { BindingDraft, BootstrapMetadata, RoleDraft } from "./drafts.ts";
import { AUTOUPDATE } from "./mended-role.ts";

const GROUP = "rbac.authorization.k8s.io";

export const READ = "get list watch";
export const WRITE = "create delete deletecollection patch update";
export const READ_WRITE = "create delete deletecollection get list patch update watch";

/** @param group "" is the core group, `*` every one. */
export function rule(verbs: string, group: string, resources: string, names?: string): PolicyRule {
	return {
		verbs: verbs.split(" "),
		apiGroups: [group],
		resources: resources.split(" "),
		...(names === undefined ? {} : { resourceNames: names.split(" ") }),
	};
}

export function paths(verbs: string, urls: string): PolicyRule {
	return { verbs: verbs.split(" "), nonResourceURLs: urls.split(" ") };
}

/** What everyone who records Events needs. */
export const EVENTS: readonly PolicyRule[] = [
	rule("create patch update", "", "events"),
	rule("create patch update", "events.k8s.io", "events"),
];

export function role(
	name: string,
	rules: readonly PolicyRule[],
	labels: Readonly<Record<string, string>> = {},
): RoleDraft {
	return { metadata: bootstrapMetadata(name, labels), rules };
}

/** Takes its rules from the roles labelled `aggregate-to-WORD`. */
export function aggregatedRole(name: string, labels: Readonly<Record<string, string>> = {}): RoleDraft {
	const matchLabels = aggregatedTo(name);
	return {
		metadata: bootstrapMetadata(name, labels),
		aggregationRule: { clusterRoleSelectors: [{ matchLabels }] },
	};
}

export function aggregatedTo(name: string): Readonly<Record<string, string>> {
	return { [`rbac.authorization.k8s.io/aggregate-to-${name}`]: "true" };
}

export function binding(name: string, roleName: string, subjects: readonly Subject[]): BindingDraft {
	return {
		metadata: bootstrapMetadata(name),
		subjects,
		roleRef: { apiGroup: GROUP, kind: "ClusterRole", name: roleName },
	};
}

export function user(name: string): Subject {
	return { kind: "User", apiGroup: GROUP, name };
}

export function group(name: string): Subject {
	return { kind: "Group", apiGroup: GROUP, name };
}

export function account(name: string): Subject {
	return { kind: "ServiceAccount", name, namespace: "kube-system" };
}

function bootstrapMetadata(name: string, labels: Readonly<Record<string, string>> = {}): BootstrapMetadata["metadata"] {
	return {
		name,
		labels: { "kubernetes.io/bootstrapping": "rbac-defaults", ...labels },
		annotations: { [AUTOUPDATE]: "true" },
	};
}
