/** One role for each controller, and its account: `system:controller:NAME` for kube-system's ServiceAccount NAME. */
import type { PolicyRule } from "../../api/types/rbac.ts";
import { account, binding, EVENTS, READ, role, rule } from "./bootstrap-words.ts";
import type { BindingDraft, RoleDraft } from "./drafts.ts";

const DISCOVERY = "discovery.k8s.io";

const CONTROLLERS: Readonly<Record<string, readonly PolicyRule[]>> = {
	"clusterrole-aggregation-controller": [
		rule("escalate get list patch update watch", "rbac.authorization.k8s.io", "clusterroles"),
	],
	"deployment-controller": [
		rule("get list update watch", "apps", "deployments"),
		rule("update", "apps", "deployments/status"),
		rule("update", "apps", "deployments/finalizers"),
		rule("create delete get list patch update watch", "apps", "replicasets"),
		rule("get list update watch", "", "pods"),
		...EVENTS,
	],
	"endpoint-controller": [
		rule(READ, "", "pods services"),
		rule("create delete get list update", "", "endpoints"),
		rule("create", "", "endpoints/restricted"),
		...EVENTS,
	],
	"endpointslice-controller": [
		rule(READ, "", "nodes pods services"),
		rule("update", "", "services/finalizers"),
		rule("create delete get list update", DISCOVERY, "endpointslices"),
		rule("create", DISCOVERY, "endpointslices/restricted"),
		...EVENTS,
	],
	"endpointslicemirroring-controller": [
		rule(READ, "", "endpoints services"),
		rule("update", "", "endpoints/finalizers services/finalizers"),
		rule("create delete get list update", DISCOVERY, "endpointslices"),
		rule("create", DISCOVERY, "endpointslices/restricted"),
		...EVENTS,
	],
	"generic-garbage-collector": [rule("delete get list patch update watch", "*", "*"), ...EVENTS],
	"namespace-controller": [
		rule("delete get list watch", "", "namespaces"),
		rule("update", "", "namespaces/finalize namespaces/status"),
		rule("delete deletecollection get list", "*", "*"),
	],
	"node-controller": [
		rule("delete get list patch update", "", "nodes"),
		rule("patch update", "", "nodes/status"),
		rule("patch update", "", "pods/status"),
		rule("delete list", "", "pods"),
		...EVENTS,
	],
	"pod-garbage-collector": [
		rule("delete list watch", "", "pods"),
		rule(READ, "", "nodes"),
		rule("patch", "", "pods/status"),
	],
	"replicaset-controller": [
		rule("get list update watch", "apps", "replicasets"),
		rule("update", "apps", "replicasets/status"),
		rule("update", "apps", "replicasets/finalizers"),
		rule("create delete list patch watch", "", "pods"),
		...EVENTS,
	],
	"root-ca-cert-publisher": [rule("create update", "", "configmaps"), ...EVENTS],
	"service-account-controller": [rule("create", "", "serviceaccounts"), ...EVENTS],
	"service-controller": [
		rule(READ, "", "services"),
		rule("patch update", "", "services/status"),
		rule("list watch", "", "nodes"),
		...EVENTS,
	],
	"statefulset-controller": [
		rule("list watch", "", "pods"),
		rule(READ, "apps", "statefulsets"),
		rule("update", "apps", "statefulsets/status"),
		rule("update", "apps", "statefulsets/finalizers"),
		rule("create delete get patch update", "", "pods"),
		rule("create delete get list patch update watch", "apps", "controllerrevisions"),
		...EVENTS,
	],
	"taint-eviction-controller": [
		rule(READ, "", "nodes"),
		rule("delete get list watch", "", "pods"),
		rule("patch", "", "pods/status"),
		...EVENTS,
	],
};

export const CONTROLLER_ROLES: readonly RoleDraft[] = Object.entries(CONTROLLERS).map(([name, rules]) =>
	role(`system:controller:${name}`, rules),
);

export const CONTROLLER_BINDINGS: readonly BindingDraft[] = Object.keys(CONTROLLERS).map((name) =>
	binding(`system:controller:${name}`, `system:controller:${name}`, [account(name)]),
);
