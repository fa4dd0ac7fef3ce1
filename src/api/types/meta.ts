/** `meta/v1`: what every object carries. @see https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/ */

export type StringMap = Readonly<Record<string, string>>;

export interface OwnerReference {
	readonly apiVersion: string;
	readonly kind: string;
	readonly name: string;
	readonly uid: string;
	readonly controller?: boolean;
	readonly blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
	readonly manager?: string;
	readonly operation?: "Apply" | "Update";
	readonly apiVersion?: string;
	/** RFC 3339, UTC, whole seconds. */
	readonly time?: string;
	readonly fieldsType?: string;
	readonly fieldsV1?: Readonly<Record<string, unknown>>;
	readonly subresource?: string;
}

/** Metadata as stored: the server has filled in everything that it always fills in. */
export interface ObjectMeta {
	readonly name: string;
	readonly generateName?: string;
	/** Absent for cluster-scoped kinds. */
	readonly namespace?: string;
	readonly uid: string;
	/** Opaque outside the API server. */
	readonly resourceVersion: string;
	readonly generation?: number;
	/** RFC 3339, UTC, whole seconds; the same for every timestamp of this project but MicroTime. */
	readonly creationTimestamp: string;
	readonly deletionTimestamp?: string;
	readonly deletionGracePeriodSeconds?: number;
	readonly labels?: StringMap;
	readonly annotations?: StringMap;
	readonly ownerReferences?: readonly OwnerReference[];
	readonly finalizers?: readonly string[];
	readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** Any object of the API: plain, frozen data. */
export interface KubeObject {
	readonly apiVersion: string;
	readonly kind: string;
	readonly metadata: ObjectMeta;
}

/** What a client sends on create: names and intent, nothing that the server fills in. */
export type Draft<T extends KubeObject> = Omit<T, "metadata" | "apiVersion" | "kind"> & {
	readonly apiVersion?: string;
	readonly kind?: string;
	readonly metadata: Partial<ObjectMeta>;
};

export interface LabelSelectorRequirement {
	readonly key: string;
	readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
	readonly values?: readonly string[];
}

export interface LabelSelector {
	readonly matchLabels?: StringMap;
	readonly matchExpressions?: readonly LabelSelectorRequirement[];
}

/** A condition as Pods, Nodes, Deployments and their like have it. */
export interface Condition {
	readonly type: string;
	readonly status: "True" | "False" | "Unknown";
	readonly reason?: string;
	readonly message?: string;
	readonly lastTransitionTime?: string;
	readonly lastUpdateTime?: string;
	readonly lastProbeTime?: string | null;
	readonly lastHeartbeatTime?: string;
	readonly observedGeneration?: number;
}

export interface ObjectReference {
	readonly apiVersion?: string;
	readonly kind?: string;
	readonly namespace?: string;
	readonly name?: string;
	readonly uid?: string;
	readonly resourceVersion?: string;
	readonly fieldPath?: string;
}

export type Protocol = "TCP" | "UDP" | "SCTP";
export type IPFamily = "IPv4" | "IPv6";

/** A number, or the name of a port, or (where a count is meant) a percentage such as `"25%"`. */
export type IntOrString = number | string;
