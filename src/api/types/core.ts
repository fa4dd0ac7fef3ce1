/** The core group (`v1`): the fields that the service-discovery plane reads or writes. */
import type {
	Condition,
	IntOrString,
	IPFamily,
	KubeObject,
	ObjectMeta,
	ObjectReference,
	Protocol,
	StringMap,
} from "./meta.ts";

/** Plain data that this project hands on and does not read. */
type Untyped = Readonly<Record<string, unknown>>;

export interface Namespace extends KubeObject {
	readonly spec?: { readonly finalizers?: readonly string[] };
	readonly status?: { readonly phase?: "Active" | "Terminating"; readonly conditions?: readonly Condition[] };
}

export interface Taint {
	readonly key: string;
	readonly value?: string;
	readonly effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
	readonly timeAdded?: string;
}

export interface NodeAddress {
	readonly type: string;
	readonly address: string;
}

export interface Node extends KubeObject {
	readonly spec?: {
		readonly podCIDR?: string;
		readonly podCIDRs?: readonly string[];
		readonly providerID?: string;
		readonly unschedulable?: boolean;
		readonly taints?: readonly Taint[];
	};
	readonly status?: {
		readonly capacity?: StringMap;
		readonly allocatable?: StringMap;
		readonly conditions?: readonly Condition[];
		readonly addresses?: readonly NodeAddress[];
		readonly nodeInfo?: StringMap;
		readonly daemonEndpoints?: { readonly kubeletEndpoint?: { readonly Port?: number } };
	};
}

export interface ContainerPort {
	readonly name?: string;
	readonly containerPort: number;
	readonly protocol?: Protocol;
	readonly hostPort?: number;
	readonly hostIP?: string;
}

export interface Container {
	readonly name: string;
	readonly image?: string;
	readonly imagePullPolicy?: string;
	readonly command?: readonly string[];
	readonly args?: readonly string[];
	readonly workingDir?: string;
	readonly ports?: readonly ContainerPort[];
	readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: Untyped }[];
	readonly volumeMounts?: readonly { readonly name?: string; readonly mountPath?: string }[];
	/** Only on init containers: `Always` makes it a sidecar. */
	readonly restartPolicy?: string;
	readonly resources?: { readonly requests?: StringMap; readonly limits?: StringMap };
	readonly livenessProbe?: Untyped;
	readonly readinessProbe?: Untyped;
	readonly startupProbe?: Untyped;
	readonly lifecycle?: Untyped;
	readonly terminationMessagePath?: string;
	readonly terminationMessagePolicy?: string;
}

export interface Toleration {
	readonly key?: string;
	readonly operator?: "Exists" | "Equal";
	readonly value?: string;
	readonly effect?: string;
	readonly tolerationSeconds?: number;
}

/** Greater and less compare whole numbers. */
export interface NodeSelectorRequirement {
	readonly key: string;
	readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt";
	readonly values?: readonly string[];
}

export interface NodeSelectorTerm {
	readonly matchExpressions?: readonly NodeSelectorRequirement[];
	readonly matchFields?: readonly NodeSelectorRequirement[];
}

export interface Affinity {
	readonly nodeAffinity?: {
		readonly requiredDuringSchedulingIgnoredDuringExecution?: {
			readonly nodeSelectorTerms?: readonly NodeSelectorTerm[];
		};
		readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly Untyped[];
	};
	readonly podAffinity?: Untyped;
	readonly podAntiAffinity?: Untyped;
}

export interface PodSpec {
	readonly containers: readonly Container[];
	readonly initContainers?: readonly Container[];
	readonly nodeName?: string;
	readonly nodeSelector?: StringMap;
	readonly affinity?: Affinity;
	/** Of the Pod as a whole: they stand in for the sum of its containers'. */
	readonly resources?: { readonly requests?: StringMap; readonly limits?: StringMap };
	/** What running the Pod takes besides its containers. */
	readonly overhead?: StringMap;
	readonly hostname?: string;
	readonly subdomain?: string;
	readonly hostNetwork?: boolean;
	readonly restartPolicy?: "Always" | "OnFailure" | "Never";
	readonly terminationGracePeriodSeconds?: number;
	readonly activeDeadlineSeconds?: number;
	readonly dnsPolicy?: string;
	readonly schedulerName?: string;
	readonly serviceAccountName?: string;
	/** The old name of serviceAccountName; both are always equal. */
	readonly serviceAccount?: string;
	readonly securityContext?: Untyped;
	readonly enableServiceLinks?: boolean;
	readonly volumes?: readonly Untyped[];
	readonly tolerations?: readonly Toleration[];
	readonly priorityClassName?: string;
	readonly priority?: number;
	readonly preemptionPolicy?: string;
	readonly readinessGates?: readonly { readonly conditionType: string }[];
	readonly schedulingGates?: readonly { readonly name: string }[];
}

export interface ContainerState {
	readonly waiting?: { readonly reason?: string; readonly message?: string };
	readonly running?: { readonly startedAt?: string };
	readonly terminated?: {
		readonly exitCode: number;
		readonly signal?: number;
		readonly reason?: string;
		readonly message?: string;
		readonly startedAt?: string;
		readonly finishedAt?: string;
		readonly containerID?: string;
	};
}

export interface ContainerStatus {
	readonly name: string;
	readonly ready: boolean;
	readonly started?: boolean;
	readonly restartCount: number;
	readonly image: string;
	readonly imageID: string;
	readonly containerID?: string;
	readonly state?: ContainerState;
	readonly lastState?: ContainerState;
}

export type PodPhase = "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";

export interface PodStatus {
	readonly phase?: PodPhase;
	readonly reason?: string;
	readonly message?: string;
	readonly hostIP?: string;
	readonly hostIPs?: readonly { readonly ip: string }[];
	readonly podIP?: string;
	readonly podIPs?: readonly { readonly ip: string }[];
	readonly startTime?: string;
	readonly qosClass?: string;
	readonly nominatedNodeName?: string;
	readonly observedGeneration?: number;
	readonly conditions?: readonly Condition[];
	readonly containerStatuses?: readonly ContainerStatus[];
	readonly initContainerStatuses?: readonly ContainerStatus[];
}

export interface Pod extends KubeObject {
	readonly spec: PodSpec;
	readonly status?: PodStatus;
}

export interface PodTemplateSpec {
	readonly metadata?: Partial<ObjectMeta>;
	readonly spec: PodSpec;
}

export interface ServicePort {
	readonly name?: string;
	readonly protocol?: Protocol;
	readonly appProtocol?: string;
	readonly port: number;
	readonly targetPort?: IntOrString;
	readonly nodePort?: number;
}

export type ServiceType = "ClusterIP" | "NodePort" | "LoadBalancer" | "ExternalName";

export interface ServiceSpec {
	readonly type?: ServiceType;
	readonly selector?: StringMap;
	readonly ports?: readonly ServicePort[];
	readonly clusterIP?: string;
	readonly clusterIPs?: readonly string[];
	readonly ipFamilies?: readonly IPFamily[];
	readonly ipFamilyPolicy?: "SingleStack" | "PreferDualStack" | "RequireDualStack";
	readonly externalIPs?: readonly string[];
	readonly externalName?: string;
	readonly externalTrafficPolicy?: "Cluster" | "Local";
	readonly internalTrafficPolicy?: "Cluster" | "Local";
	readonly healthCheckNodePort?: number;
	readonly loadBalancerIP?: string;
	readonly loadBalancerClass?: string;
	readonly loadBalancerSourceRanges?: readonly string[];
	readonly allocateLoadBalancerNodePorts?: boolean;
	readonly publishNotReadyAddresses?: boolean;
	readonly sessionAffinity?: "None" | "ClientIP";
	readonly sessionAffinityConfig?: { readonly clientIP?: { readonly timeoutSeconds?: number } };
	readonly trafficDistribution?: string;
}

export interface LoadBalancerIngress {
	readonly ip?: string;
	readonly hostname?: string;
	readonly ipMode?: "VIP" | "Proxy";
}

export interface Service extends KubeObject {
	readonly spec: ServiceSpec;
	readonly status?: {
		readonly loadBalancer?: { readonly ingress?: readonly LoadBalancerIngress[] };
		readonly conditions?: readonly Condition[];
	};
}

export interface EndpointAddress {
	readonly ip: string;
	readonly hostname?: string;
	readonly nodeName?: string;
	readonly targetRef?: ObjectReference;
}

/** A port of a `v1` Endpoints subset; EndpointSlices have their own kind of port. */
export interface SubsetPort {
	readonly name?: string;
	readonly port: number;
	readonly protocol?: Protocol;
	readonly appProtocol?: string;
}

export interface EndpointSubset {
	readonly addresses?: readonly EndpointAddress[];
	readonly notReadyAddresses?: readonly EndpointAddress[];
	readonly ports?: readonly SubsetPort[];
}

/** Deprecated since 1.33 in favour of EndpointSlice, still served. */
export interface Endpoints extends KubeObject {
	readonly subsets?: readonly EndpointSubset[];
}

export interface EventSource {
	readonly component?: string;
	readonly host?: string;
}

/** `v1` Event: what happened to the object that `involvedObject` names. */
export interface Event extends KubeObject {
	readonly involvedObject: ObjectReference;
	readonly reason?: string;
	readonly message?: string;
	readonly source?: EventSource;
	readonly firstTimestamp?: string | null;
	readonly lastTimestamp?: string | null;
	readonly count?: number;
	readonly type?: string;
	/** MicroTime: six decimals. */
	readonly eventTime?: string | null;
	readonly series?: { readonly count?: number; readonly lastObservedTime?: string };
	readonly action?: string;
	/** A second object that took part. */
	readonly related?: ObjectReference;
	readonly reportingComponent?: string;
	readonly reportingInstance?: string;
}

export interface ConfigMap extends KubeObject {
	readonly data?: StringMap;
	/** Values in base64. */
	readonly binaryData?: StringMap;
	readonly immutable?: boolean;
}

export interface Secret extends KubeObject {
	readonly type?: string;
	/** Values in base64. */
	readonly data?: StringMap;
	/** Only ever written: it becomes `data`. */
	readonly stringData?: StringMap;
	readonly immutable?: boolean;
}

export interface ServiceAccount extends KubeObject {
	readonly secrets?: readonly ObjectReference[];
	readonly imagePullSecrets?: readonly { readonly name?: string }[];
	readonly automountServiceAccountToken?: boolean;
}
