/** Who may do what, written down by hand, apart from the program. */

/** One line: verbs, a bar, resources as `plural.group/subresource`; `*` is everything. */
type Allowed = readonly string[];

const READ = "get list watch";
const WRITE = "create delete deletecollection patch update";
/** What everybody may do who is known. */
export const SELF: Allowed = [
	"create | selfsubjectreviews.authentication.k8s.io",
	"create | selfsubjectaccessreviews.authorization.k8s.io selfsubjectrulesreviews.authorization.k8s.io",
];
const RECORDS = ["create patch update | events events.events.k8s.io"];
const WORKLOADS =
	"deployments.apps deployments.apps/scale replicasets.apps replicasets.apps/scale statefulsets.apps statefulsets.apps/scale";
const VIEW = [
	`${READ} | configmaps endpoints pods pods/log pods/status serviceaccounts services services/status events`,
	`${READ} | namespaces namespaces/status endpointslices.discovery.k8s.io controllerrevisions.apps ${WORKLOADS}`,
	`${READ} | deployments.apps/status replicasets.apps/status statefulsets.apps/status`,
];
const EDIT = [
	...VIEW,
	`${READ} | secrets services/proxy pods/proxy pods/portforward`,
	`${WRITE} | pods pods/proxy pods/portforward configmaps events secrets serviceaccounts services services/proxy ${WORKLOADS}`,
	"create | pods/eviction serviceaccounts/token",
	`${READ} ${WRITE} | leases.coordination.k8s.io`,
];
const ADMIN = [
	...EDIT,
	"create | localsubjectaccessreviews.authorization.k8s.io",
	`${READ} ${WRITE} | roles.rbac.authorization.k8s.io rolebindings.rbac.authorization.k8s.io`,
];
const SLICES = "create delete get list update | endpointslices.discovery.k8s.io";

/** By user: in the namespace `default`, or at the cluster scope. */
export const MATRIX: Readonly<Record<string, Allowed>> = {
	"system:anonymous": [],
	nobody: SELF,
	viewer: [...SELF, ...VIEW],
	editor: [...SELF, ...EDIT],
	admin: [...SELF, ...ADMIN],
	root: ["* | *"],
	"system:kube-scheduler": [
		...SELF,
		...RECORDS,
		"create | leases.coordination.k8s.io pods/binding",
		`${READ} | namespaces nodes services replicasets.apps statefulsets.apps`,
		`delete ${READ} | pods`,
		"patch update | pods/status",
	],
	"system:kube-controller-manager": [
		...SELF,
		...RECORDS,
		"list watch | *",
		"create | leases.coordination.k8s.io serviceaccounts/token tokenreviews.authentication.k8s.io",
		"create | subjectaccessreviews.authorization.k8s.io",
		"create delete get update | secrets serviceaccounts",
		"get | configmaps namespaces",
	],
	"system:kube-proxy": [
		...SELF,
		...RECORDS,
		"list watch | endpoints services endpointslices.discovery.k8s.io",
		`${READ} | nodes`,
	],
	"system:serviceaccount:kube-system:coredns": [
		...SELF,
		"list watch | endpoints namespaces pods services endpointslices.discovery.k8s.io",
	],
	"system:serviceaccount:kube-system:kube-dns": [...SELF, "list watch | endpoints services"],
	"system:serviceaccount:kube-system:clusterrole-aggregation-controller": [
		...SELF,
		`${READ} patch update | clusterroles.rbac.authorization.k8s.io`,
	],
	"system:serviceaccount:kube-system:deployment-controller": [
		...SELF,
		...RECORDS,
		`${READ} update | deployments.apps pods`,
		"update | deployments.apps/status",
		`${READ} create delete patch update | replicasets.apps`,
	],
	"system:serviceaccount:kube-system:endpoint-controller": [
		...SELF,
		...RECORDS,
		`${READ} | pods services`,
		"create delete get list update | endpoints",
	],
	"system:serviceaccount:kube-system:endpointslice-controller": [
		...SELF,
		...RECORDS,
		`${READ} | nodes pods services`,
		SLICES,
	],
	"system:serviceaccount:kube-system:endpointslicemirroring-controller": [
		...SELF,
		...RECORDS,
		`${READ} | endpoints services`,
		SLICES,
	],
	"system:serviceaccount:kube-system:generic-garbage-collector": [
		...SELF,
		...RECORDS,
		`${READ} delete patch update | *`,
	],
	"system:serviceaccount:kube-system:namespace-controller": [
		...SELF,
		"delete deletecollection get list | *",
		"watch | namespaces",
		"update | namespaces/finalize namespaces/status",
	],
	"system:serviceaccount:kube-system:node-controller": [
		...SELF,
		...RECORDS,
		"delete get list patch update | nodes",
		"patch update | nodes/status pods/status",
		"delete list | pods",
	],
	"system:serviceaccount:kube-system:pod-garbage-collector": [
		...SELF,
		"delete list watch | pods",
		`${READ} | nodes`,
		"patch | pods/status",
	],
	"system:serviceaccount:kube-system:replicaset-controller": [
		...SELF,
		...RECORDS,
		`${READ} update | replicasets.apps`,
		"update | replicasets.apps/status",
		"create delete list patch watch | pods",
	],
	"system:serviceaccount:kube-system:root-ca-cert-publisher": [...SELF, ...RECORDS, "create update | configmaps"],
	"system:serviceaccount:kube-system:service-account-controller": [...SELF, ...RECORDS, "create | serviceaccounts"],
	"system:serviceaccount:kube-system:service-controller": [
		...SELF,
		...RECORDS,
		`${READ} | services`,
		"patch update | services/status",
		"list watch | nodes",
	],
	"system:serviceaccount:kube-system:statefulset-controller": [
		...SELF,
		...RECORDS,
		`${READ} | statefulsets.apps`,
		"update | statefulsets.apps/status",
		"create delete get list patch update watch | pods",
		`${READ} create delete patch update | controllerrevisions.apps`,
	],
	"system:serviceaccount:kube-system:taint-eviction-controller": [
		...SELF,
		...RECORDS,
		`${READ} | nodes`,
		`delete ${READ} | pods`,
		"patch | pods/status",
	],
};

export function isAllowed(allowed: Allowed, verb: string, resource: string): boolean {
	return allowed.some((line) => {
		const [verbs = "", resources = ""] = line.split(" | ");
		const has = (list: string, word: string): boolean => list === "*" || list.split(" ").includes(word);
		return has(verbs, verb) && has(resources, resource);
	});
}
