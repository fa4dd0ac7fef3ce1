/** Every resource that the API serves. Adding a kind means adding a line here. */
import type { DiscoveredType } from "./discovery.ts";
import { CONFIG_MAP } from "./kinds/config-map.ts";
import { CONTROLLER_REVISION } from "./kinds/controller-revision.ts";
import { CUSTOM_RESOURCE_DEFINITION } from "./kinds/custom-resource-definition.ts";
import { DEPLOYMENT } from "./kinds/deployment.ts";
import { ENDPOINT_SLICE } from "./kinds/endpoint-slice.ts";
import { ENDPOINTS_TYPE } from "./kinds/endpoints.ts";
import { EVENT } from "./kinds/event.ts";
import { IP_ADDRESS } from "./kinds/ip-address.ts";
import { LEASE } from "./kinds/lease.ts";
import { NAMESPACE } from "./kinds/namespace.ts";
import { NEW_EVENT } from "./kinds/new-event.ts";
import { NODE } from "./kinds/node.ts";
import { POD } from "./kinds/pod.ts";
import { REPLICA_SET } from "./kinds/replica-set.ts";
import { CLUSTER_ROLE, ROLE } from "./kinds/role.ts";
import { CLUSTER_ROLE_BINDING, ROLE_BINDING } from "./kinds/role-binding.ts";
import { SECRET } from "./kinds/secret.ts";
import { SERVICE } from "./kinds/service.ts";
import { SERVICE_ACCOUNT } from "./kinds/service-account.ts";
import { STATEFUL_SET } from "./kinds/stateful-set.ts";
import { apiVersionOf, type ResourceType } from "./resource.ts";
import { REVIEW_TYPES } from "./review-types.ts";

/** Groups in the order of their priority, which settles whose short name wins; plurals sorted in each. */
export const RESOURCE_TYPES: readonly ResourceType[] = [
	CONFIG_MAP,
	ENDPOINTS_TYPE,
	EVENT,
	NAMESPACE,
	NODE,
	POD,
	SECRET,
	SERVICE_ACCOUNT,
	SERVICE,
	CONTROLLER_REVISION,
	DEPLOYMENT,
	REPLICA_SET,
	STATEFUL_SET,
	NEW_EVENT,
	IP_ADDRESS,
	CLUSTER_ROLE_BINDING,
	CLUSTER_ROLE,
	ROLE_BINDING,
	ROLE,
	CUSTOM_RESOURCE_DEFINITION,
	LEASE,
	ENDPOINT_SLICE,
];

const BY_PATH = new Map(RESOURCE_TYPES.map((type) => [`${apiVersionOf(type)}/${type.plural}`, type]));
const BY_KIND = new Map(RESOURCE_TYPES.map((type) => [`${apiVersionOf(type)}/${type.kind}`, type]));

/** The resource of a URL; `group` is "" for the core group. */
export function findResource(group: string, version: string, plural: string): ResourceType | undefined {
	return BY_PATH.get(`${apiVersionOf({ group, version })}/${plural}`);
}

/** The resource of an object that says what it is: `apps/v1`, `Deployment`. */
export function resourceOfKind(apiVersion: string, kind: string): ResourceType | undefined {
	return BY_KIND.get(`${apiVersion}/${kind}`);
}

/** Groups in the order of their priority. */
const GROUP_ORDER = [
	"",
	"apps",
	"events.k8s.io",
	"authentication.k8s.io",
	"authorization.k8s.io",
	"networking.k8s.io",
	"rbac.authorization.k8s.io",
	"apiextensions.k8s.io",
	"coordination.k8s.io",
	"discovery.k8s.io",
];

/** Everything that clients find: what is stored, and questions that are only answered. */
export const DISCOVERED_TYPES: readonly DiscoveredType[] = [...RESOURCE_TYPES, ...REVIEW_TYPES].sort(
	(a, b) => GROUP_ORDER.indexOf(a.group) - GROUP_ORDER.indexOf(b.group),
);
