/**
 * The roles of people and programs that every cluster has, and who has them: Kubernetes' own, as far as the kinds
 * that are served go.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/rbac/#default-roles-and-role-bindings
 */
import {
	account,
	aggregatedRole,
	aggregatedTo,
	binding,
	EVENTS,
	group,
	paths,
	READ,
	READ_WRITE,
	role,
	rule,
	user,
	WRITE,
} from "./bootstrap-words.ts";
import type { BindingDraft, RoleDraft } from "./drafts.ts";

const RBAC = "rbac.authorization.k8s.io";
const DISCOVERY = "discovery.k8s.io";
const LEASES = "coordination.k8s.io";
const REVIEWS = "authorization.k8s.io";
const OPEN_PATHS = "/healthz /livez /readyz /version /version/";
const DISCOVERY_PATHS = `/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/`;
const METRIC_PATHS = "/healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/*";
const WORKLOADS = "deployments deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale";
const WORKLOAD_STATUS = "deployments/status replicasets/status statefulsets/status";
const POD_STREAMS = "pods/attach pods/exec pods/portforward pods/proxy";

/** Of everybody, by what they are to the cluster. */
const GENERAL: readonly RoleDraft[] = [
	role("cluster-admin", [rule("*", "*", "*"), paths("*", "*")]),
	role("system:discovery", [paths("get", DISCOVERY_PATHS)]),
	role("system:public-info-viewer", [paths("get", OPEN_PATHS)]),
	role("system:monitoring", [paths("get", METRIC_PATHS)]),
	role("system:basic-user", [
		rule("create", REVIEWS, "selfsubjectaccessreviews selfsubjectrulesreviews"),
		rule("create", "authentication.k8s.io", "selfsubjectreviews"),
	]),
	role("system:auth-delegator", [
		rule("create", "authentication.k8s.io", "tokenreviews"),
		rule("create", REVIEWS, "subjectaccessreviews"),
	]),
];

/** Of users of namespaces: each has what the one before it has. */
const FACING_USERS: readonly RoleDraft[] = [
	aggregatedRole("admin"),
	aggregatedRole("edit", aggregatedTo("admin")),
	aggregatedRole("view", aggregatedTo("edit")),
	role(
		"system:aggregate-to-admin",
		[rule("create", REVIEWS, "localsubjectaccessreviews"), rule(READ_WRITE, RBAC, "roles rolebindings")],
		aggregatedTo("admin"),
	),
	role(
		"system:aggregate-to-edit",
		[
			rule(READ, "", `${POD_STREAMS} secrets services/proxy`),
			rule("impersonate", "", "serviceaccounts"),
			rule(WRITE, "", `pods ${POD_STREAMS}`),
			rule("create", "", "pods/eviction"),
			rule(WRITE, "", "configmaps events secrets serviceaccounts services services/proxy"),
			rule("create", "", "serviceaccounts/token"),
			rule(WRITE, "apps", WORKLOADS),
			rule(READ_WRITE, LEASES, "leases"),
		],
		aggregatedTo("edit"),
	),
	role(
		"system:aggregate-to-view",
		[
			rule(READ, "", "configmaps endpoints pods serviceaccounts services services/status"),
			rule(READ, "", "bindings events namespaces/status pods/log pods/status"),
			rule(READ, "", "namespaces"),
			rule(READ, DISCOVERY, "endpointslices"),
			rule(READ, "apps", `controllerrevisions ${WORKLOADS} ${WORKLOAD_STATUS}`),
		],
		aggregatedTo("view"),
	),
];

/** Of programs: the scheduler, the controllers' common one, nodes, proxies, DNS. */
const PROGRAMS: readonly RoleDraft[] = [
	role("system:kube-scheduler", [
		...EVENTS,
		rule("create", LEASES, "leases"),
		rule("get list update watch", LEASES, "leases", "kube-scheduler"),
		rule(READ, "", "namespaces nodes"),
		rule("delete get list watch", "", "pods"),
		rule("create", "", "bindings pods/binding"),
		rule("patch update", "", "pods/status"),
		rule(READ, "", "services"),
		rule(READ, "apps", "replicasets statefulsets"),
	]),
	role("system:kube-controller-manager", [
		...EVENTS,
		rule("create", LEASES, "leases"),
		rule("get update", LEASES, "leases", "kube-controller-manager"),
		rule("create delete get update", "", "secrets serviceaccounts"),
		rule("get", "", "configmaps namespaces"),
		rule("list watch", "*", "*"),
		rule("create", "", "serviceaccounts/token"),
		rule("create", "authentication.k8s.io", "tokenreviews"),
		rule("create", REVIEWS, "subjectaccessreviews"),
	]),
	role("system:node", [
		...EVENTS,
		rule("create", "authentication.k8s.io", "tokenreviews"),
		rule("create", REVIEWS, "localsubjectaccessreviews subjectaccessreviews"),
		rule(READ, "", "services"),
		rule("create get list watch patch update", "", "nodes"),
		rule("patch update", "", "nodes/status"),
		rule("create delete get list watch", "", "pods"),
		rule("patch update", "", "pods/status"),
		rule("create", "", "pods/eviction"),
		rule(READ, "", "configmaps secrets"),
		rule("create", "", "serviceaccounts/token"),
		rule("create delete get patch update", LEASES, "leases"),
	]),
	role("system:node-proxier", [
		...EVENTS,
		rule("list watch", "", "endpoints services"),
		rule(READ, "", "nodes"),
		rule("list watch", DISCOVERY, "endpointslices"),
	]),
	role("system:kube-dns", [rule("list watch", "", "endpoints services")]),
	role("system:coredns", [
		rule("list watch", "", "endpoints namespaces pods services"),
		rule("list watch", DISCOVERY, "endpointslices"),
	]),
];

export const BOOTSTRAP_ROLES: readonly RoleDraft[] = [...GENERAL, ...FACING_USERS, ...PROGRAMS];

export const BOOTSTRAP_BINDINGS: readonly BindingDraft[] = [
	binding("cluster-admin", "cluster-admin", [group("system:masters")]),
	binding("system:monitoring", "system:monitoring", [group("system:monitoring")]),
	binding("system:discovery", "system:discovery", [group("system:authenticated")]),
	binding("system:basic-user", "system:basic-user", [group("system:authenticated")]),
	binding("system:public-info-viewer", "system:public-info-viewer", [
		group("system:authenticated"),
		group("system:unauthenticated"),
	]),
	binding("system:kube-scheduler", "system:kube-scheduler", [user("system:kube-scheduler")]),
	binding("system:kube-controller-manager", "system:kube-controller-manager", [user("system:kube-controller-manager")]),
	binding("system:node", "system:node", [group("system:nodes")]),
	binding("system:node-proxier", "system:node-proxier", [user("system:kube-proxy")]),
	binding("system:kube-dns", "system:kube-dns", [account("kube-dns")]),
	binding("system:coredns", "system:coredns", [account("coredns")]),
];
