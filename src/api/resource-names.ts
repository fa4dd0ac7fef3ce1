/** Names of the served resources, typed: what clients and controllers pass to an ApiClient. */
import type { Resource } from "./resource.ts";
import type { CustomResourceDefinition } from "./types/apiextensions.ts";
import type { ControllerRevision, Deployment, ReplicaSet, StatefulSet } from "./types/apps.ts";
import type { Lease } from "./types/coordination.ts";
import type {
	ConfigMap,
	Endpoints,
	Event,
	Namespace,
	Node,
	Pod,
	Secret,
	Service,
	ServiceAccount,
} from "./types/core.ts";
import type { EndpointSlice } from "./types/discovery.ts";
import type { NewEvent } from "./types/events.ts";
import type { KubeObject } from "./types/meta.ts";
import type { IPAddress } from "./types/networking.ts";
import type { ClusterRole, Role, RoleBinding } from "./types/rbac.ts";

function named<T extends KubeObject>(group: string, kind: string, plural: string, namespaced = true): Resource<T> {
	return { group, version: "v1", kind, plural, namespaced };
}

export const NAMESPACES: Resource<Namespace> = named("", "Namespace", "namespaces", false);
export const NODES: Resource<Node> = named("", "Node", "nodes", false);
export const PODS: Resource<Pod> = named("", "Pod", "pods");
export const SERVICES: Resource<Service> = named("", "Service", "services");
export const ENDPOINTS: Resource<Endpoints> = named("", "Endpoints", "endpoints");
export const EVENTS: Resource<Event> = named("", "Event", "events");
export const CONFIG_MAPS: Resource<ConfigMap> = named("", "ConfigMap", "configmaps");
export const SECRETS: Resource<Secret> = named("", "Secret", "secrets");
export const SERVICE_ACCOUNTS: Resource<ServiceAccount> = named("", "ServiceAccount", "serviceaccounts");
/** The same objects as {@link EVENTS}, in newer words. */
export const NEW_EVENTS: Resource<NewEvent> = named("events.k8s.io", "Event", "events");
export const DEPLOYMENTS: Resource<Deployment> = named("apps", "Deployment", "deployments");
export const REPLICA_SETS: Resource<ReplicaSet> = named("apps", "ReplicaSet", "replicasets");
export const STATEFUL_SETS: Resource<StatefulSet> = named("apps", "StatefulSet", "statefulsets");
export const CONTROLLER_REVISIONS: Resource<ControllerRevision> = named(
	"apps",
	"ControllerRevision",
	"controllerrevisions",
);
export const ENDPOINT_SLICES: Resource<EndpointSlice> = named("discovery.k8s.io", "EndpointSlice", "endpointslices");
export const LEASES: Resource<Lease> = named("coordination.k8s.io", "Lease", "leases");
export const CUSTOM_RESOURCE_DEFINITIONS: Resource<CustomResourceDefinition> = named(
	"apiextensions.k8s.io",
	"CustomResourceDefinition",
	"customresourcedefinitions",
	false,
);
export const IP_ADDRESSES: Resource<IPAddress> = named("networking.k8s.io", "IPAddress", "ipaddresses", false);
export const ROLES: Resource<Role> = named("rbac.authorization.k8s.io", "Role", "roles");
export const ROLE_BINDINGS: Resource<RoleBinding> = named("rbac.authorization.k8s.io", "RoleBinding", "rolebindings");
export const CLUSTER_ROLES: Resource<ClusterRole> = named(
	"rbac.authorization.k8s.io",
	"ClusterRole",
	"clusterroles",
	false,
);
export const CLUSTER_ROLE_BINDINGS: Resource<RoleBinding> = named(
	"rbac.authorization.k8s.io",
	"ClusterRoleBinding",
	"clusterrolebindings",
	false,
);
