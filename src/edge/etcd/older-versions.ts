/**
 * Versions of served kinds that real servers have stored, in other releases or to this day, read as the version that
 * is served. Where nothing is said here, another version has another shape, and is not read.
 */
import { isObject } from "../../kernel/json.ts";
import { definitionOfBeta } from "./older-definition.ts";

type Struct = Readonly<Record<string, unknown>>;

/** By kind: of which versions it may be, and what it is as the served one, but for its apiVersion. */
interface Older {
	readonly versions: readonly string[];
	readonly read?: (data: Struct) => Struct;
}

const WORKLOADS = ["apps/v1beta2", "apps/v1beta1", "extensions/v1beta1"] as const;
const RBAC = ["rbac.authorization.k8s.io/v1beta1"] as const;

const OLDER: Readonly<Record<string, Older>> = {
	CustomResourceDefinition: { versions: ["apiextensions.k8s.io/v1beta1"], read: definitionOfBeta },
	EndpointSlice: { versions: ["discovery.k8s.io/v1beta1"], read: sliceOfBeta },
	IPAddress: { versions: ["networking.k8s.io/v1beta1", "networking.k8s.io/v1alpha1"] },
	Lease: { versions: ["coordination.k8s.io/v1beta1"] },
	Role: { versions: RBAC },
	ClusterRole: { versions: RBAC },
	RoleBinding: { versions: RBAC },
	ClusterRoleBinding: { versions: RBAC },
	Deployment: { versions: WORKLOADS },
	ReplicaSet: { versions: WORKLOADS },
	StatefulSet: { versions: WORKLOADS },
	ControllerRevision: { versions: WORKLOADS },
};

/** The same data when it is of the served version already, or of one that is not known. */
export function inServedVersion(
	data: unknown,
	served: { readonly apiVersion: string; readonly kind: string },
): unknown {
	if (!isObject(data) || data["kind"] !== served.kind || data["apiVersion"] === served.apiVersion) return data;
	const older = OLDER[served.kind];
	const isKnown = older?.versions.some((version) => version === data["apiVersion"]) === true;
	if (!isKnown) return data;
	return { ...(older.read?.(data) ?? data), apiVersion: served.apiVersion };
}

const ZONE = "topology.kubernetes.io/zone";
const HOST_NAME = "kubernetes.io/hostname";

/** Where an endpoint is stands in a map of labels there. */
function sliceOfBeta(data: Struct): Struct {
	const { endpoints } = data;
	return Array.isArray(endpoints) ? { ...data, endpoints: endpoints.map(endpointOfBeta) } : data;
}

function endpointOfBeta(endpoint: unknown): unknown {
	if (!isObject(endpoint)) return endpoint;
	// Protobuf is read by the numbers of v1: its topology has the same, and it knows no zone.
	const { topology, deprecatedTopology, zone: _unknown, nodeName: given, ...kept } = endpoint;
	const places = topology ?? deprecatedTopology;
	const named = given === undefined ? {} : { nodeName: given };
	if (!isObject(places)) return { ...kept, ...named };
	const { [ZONE]: zone, [HOST_NAME]: hostName, ...others } = places;
	// A host that is not the node is told as it was.
	const isNode = hostName === undefined || given === undefined || hostName === given;
	const rest = isNode ? others : { ...others, [HOST_NAME]: hostName };
	const nodeName = given ?? hostName;
	return {
		...kept,
		...(nodeName === undefined ? {} : { nodeName }),
		...(zone === undefined ? {} : { zone }),
		...(Object.keys(rest).length === 0 ? {} : { deprecatedTopology: rest }),
	};
}
