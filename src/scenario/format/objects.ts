/** The shorthand of objects: in the start state, in `create`, `put`, `ssa` and `pod`. */
import * as v from "valibot";
import {
	flag,
	intText,
	keys,
	listOf,
	many,
	name,
	oneOf,
	positive,
	type Raw,
	raw,
	type Texts,
	text,
	texts,
	whole,
} from "./vocabulary.ts";

export interface Named {
	readonly name: string;
	readonly ns?: string;
	/** Symbolic: stands for the uid that the server makes. */
	readonly uid?: string;
	readonly labels?: Texts;
	readonly annotations?: Texts;
}

/** `count` ports p0, p1, ...; numbers rise from `from`. */
export interface PortsGenerated {
	readonly count: number;
	readonly from: number;
}

/** Keys that are not named here are fields of the spec, under their names in the API. */
export interface ServiceShorthand extends Named {
	readonly ports?: readonly Raw[];
	readonly ports_generated?: PortsGenerated;
	readonly status_ip?: string;
	readonly [specField: string]: unknown;
}

export interface ContainerShorthand {
	readonly name: string;
	/** `Always` makes an init container a sidecar. */
	readonly restartPolicy?: "Always";
	readonly ports?: readonly Raw[];
}

export interface ContainerStatusShorthand {
	readonly name: string;
	readonly ready?: boolean;
	readonly running?: boolean;
	readonly restartCount?: number;
}

export interface PodStatusShorthand {
	readonly ip?: string;
	readonly ips?: readonly string[];
	readonly ready?: boolean;
	readonly phase?: string;
	readonly reason?: string;
	readonly conditions?: readonly Raw[];
	readonly containerStatuses?: readonly ContainerStatusShorthand[];
}

export interface PodShorthand extends Omit<Named, "uid">, PodStatusShorthand {
	readonly node?: string;
	/** Has a deletionTimestamp. */
	readonly deleting?: boolean;
	readonly restartPolicy?: string;
	readonly hostNetwork?: boolean;
	readonly hostname?: string;
	readonly subdomain?: string;
	readonly containers?: readonly ContainerShorthand[];
	readonly initContainers?: readonly ContainerShorthand[];
	/** `KIND/NAME` of its controller. */
	readonly owner?: string;
}

export interface SubsetsGenerated {
	readonly addresses: number;
	readonly notReadyAddresses: number;
	readonly ports: readonly Raw[];
}

export interface EndpointsShorthand extends Named {
	readonly subsets?: readonly Raw[];
	readonly subsets_generated?: readonly SubsetsGenerated[];
}

export interface SliceShorthand extends Named {
	/** Absent only where the server is to refuse it. */
	readonly addressType?: string;
	readonly ports?: readonly Raw[];
	readonly ports_generated?: PortsGenerated;
	readonly endpoints?: readonly Raw[];
}

export interface NodeShorthand {
	readonly name: string;
	readonly zone?: string;
	readonly cpu?: number | string;
	readonly ready?: boolean;
}

/** What `create`, `put` and `ssa` send. */
export type ObjectShorthand =
	| ({ readonly kind: "Service" } & ServiceShorthand)
	| ({ readonly kind: "Endpoints" } & EndpointsShorthand)
	| ({ readonly kind: "EndpointSlice" } & SliceShorthand)
	| ({ readonly kind: "Node" } & NodeShorthand)
	| ({ readonly kind: "ConfigMap" } & Pick<Named, "name" | "ns">);

export type CreateStep = ObjectShorthand & { readonly fieldManager?: string; readonly spec_as?: "given" };
export type PutStep = Exclude<ObjectShorthand, { readonly kind: "Node" | "ConfigMap" }> & {
	readonly resourceVersion?: string;
};
export type SsaStep = {
	readonly kind: "Service";
	readonly fieldManager: string;
	readonly force?: boolean;
} & ServiceShorthand;

/** Stands for `count` objects; `{i}` in texts counts from 0, with integer arithmetic in the braces. */
export type Repeat<T> = T & { readonly count: number };

export type PodStep =
	| ({ readonly name: string; readonly ns?: string; readonly create?: never } & PodStatusShorthand)
	| { readonly name: string; readonly ns?: string; readonly create: Omit<PodShorthand, "name" | "ns"> };

export type StoreRawStep =
	| ({ readonly kind: "Endpoints"; readonly remove?: never } & EndpointsShorthand)
	| { readonly kind: string; readonly ns?: string; readonly name: string; readonly remove: string };

type Shape<T> = v.GenericSchema<unknown, T>;

const named = {
	name,
	ns: v.exactOptional(text),
	uid: v.exactOptional(text),
	labels: v.exactOptional(texts),
	annotations: v.exactOptional(texts),
};

const protocol = oneOf("TCP", "UDP", "SCTP");
const portsGenerated = keys({ count: many, from: positive });

const servicePort = keys({
	name: v.exactOptional(text),
	port: whole,
	targetPort: v.exactOptional(intText),
	protocol: v.exactOptional(protocol),
	nodePort: v.exactOptional(whole),
	appProtocol: v.exactOptional(text),
});

const serviceEntries = {
	...named,
	type: v.exactOptional(oneOf("ClusterIP", "NodePort", "LoadBalancer", "ExternalName")),
	clusterIP: v.exactOptional(text),
	clusterIPs: v.exactOptional(listOf(text)),
	ipFamilies: v.exactOptional(listOf(oneOf("IPv4", "IPv6"))),
	ipFamilyPolicy: v.exactOptional(oneOf("SingleStack", "PreferDualStack", "RequireDualStack")),
	selector: v.exactOptional(texts),
	ports: v.exactOptional(listOf(servicePort)),
	ports_generated: v.exactOptional(portsGenerated),
	sessionAffinity: v.exactOptional(oneOf("None", "ClientIP")),
	sessionAffinityConfig: v.exactOptional(raw),
	externalName: v.exactOptional(text),
	externalIPs: v.exactOptional(listOf(text)),
	externalTrafficPolicy: v.exactOptional(oneOf("Cluster", "Local")),
	internalTrafficPolicy: v.exactOptional(oneOf("Cluster", "Local")),
	healthCheckNodePort: v.exactOptional(whole),
	publishNotReadyAddresses: v.exactOptional(flag),
	loadBalancerIP: v.exactOptional(text),
	loadBalancerClass: v.exactOptional(text),
	loadBalancerSourceRanges: v.exactOptional(listOf(text)),
	allocateLoadBalancerNodePorts: v.exactOptional(flag),
	trafficDistribution: v.exactOptional(oneOf("PreferClose", "PreferSameZone", "PreferSameNode")),
	status_ip: v.exactOptional(text),
};

const container = keys({
	name: text,
	restartPolicy: v.exactOptional(oneOf("Always")),
	ports: v.exactOptional(
		listOf(keys({ name: v.exactOptional(text), containerPort: positive, protocol: v.exactOptional(protocol) })),
	),
});

const containerStatus = keys({
	name: text,
	ready: v.exactOptional(flag),
	running: v.exactOptional(flag),
	restartCount: v.exactOptional(whole),
});

const podStatusEntries = {
	ip: v.exactOptional(text),
	ips: v.exactOptional(listOf(text)),
	ready: v.exactOptional(flag),
	phase: v.exactOptional(oneOf("Pending", "Running", "Succeeded", "Failed", "Unknown")),
	reason: v.exactOptional(text),
	conditions: v.exactOptional(listOf(raw)),
	containerStatuses: v.exactOptional(listOf(containerStatus)),
};

const podSpecEntries = {
	labels: v.exactOptional(texts),
	annotations: v.exactOptional(texts),
	node: v.exactOptional(text),
	deleting: v.exactOptional(flag),
	restartPolicy: v.exactOptional(oneOf("Always", "OnFailure", "Never")),
	hostNetwork: v.exactOptional(flag),
	hostname: v.exactOptional(text),
	subdomain: v.exactOptional(text),
	containers: v.exactOptional(listOf(container)),
	initContainers: v.exactOptional(listOf(container)),
	owner: v.exactOptional(v.pipe(text, v.regex(/^[A-Z][A-Za-z]+\/.+$/, "want KIND/NAME, such as Deployment/web"))),
};

const podEntries = { name, ns: v.exactOptional(text), ...podSpecEntries, ...podStatusEntries };

/** Of a range of 65,536 addresses. */
const generated = v.pipe(whole, v.maxValue(60_000, "want 60000 or less"));
const subsetsGenerated = keys({ addresses: generated, notReadyAddresses: generated, ports: listOf(raw) });

const endpointsEntries = {
	...named,
	subsets: v.exactOptional(listOf(raw)),
	subsets_generated: v.exactOptional(listOf(subsetsGenerated)),
};

const sliceEntries = {
	...named,
	addressType: v.exactOptional(oneOf("IPv4", "IPv6", "FQDN")),
	ports: v.exactOptional(listOf(raw)),
	ports_generated: v.exactOptional(portsGenerated),
	endpoints: v.exactOptional(listOf(raw)),
};

const nodeEntries = {
	name,
	zone: v.exactOptional(text),
	cpu: v.exactOptional(intText),
	ready: v.exactOptional(flag),
};

const repeated = { count: many };

export const service: Shape<ServiceShorthand> = keys(serviceEntries);
export const services: Shape<Repeat<ServiceShorthand>> = keys({ ...repeated, ...serviceEntries });
export const pod: Shape<PodShorthand> = keys(podEntries);
export const pods: Shape<Repeat<PodShorthand>> = keys({ ...repeated, ...podEntries });
export const endpoints: Shape<EndpointsShorthand> = keys(endpointsEntries);
export const slice: Shape<SliceShorthand> = keys({ ...sliceEntries, addressType: oneOf("IPv4", "IPv6", "FQDN") });
export const slices: Shape<Repeat<SliceShorthand>> = keys({ ...repeated, ...sliceEntries });
export const node: Shape<NodeShorthand> = keys(nodeEntries);

const created = { fieldManager: v.exactOptional(text), spec_as: v.exactOptional(v.literal("given", "want given")) };

const KINDS_CREATED = "want kind Service, Endpoints, EndpointSlice, Node or ConfigMap";

export const createStep: Shape<CreateStep> = v.variant(
	"kind",
	[
		keys({ kind: v.literal("Service"), ...created, ...serviceEntries }),
		keys({ kind: v.literal("EndpointSlice"), ...created, ...sliceEntries }),
		keys({ kind: v.literal("Endpoints"), ...created, ...endpointsEntries }),
		keys({ kind: v.literal("Node"), ...nodeEntries }),
		keys({ kind: v.literal("ConfigMap"), name, ns: v.exactOptional(text) }),
	],
	KINDS_CREATED,
);

const replaced = { resourceVersion: v.exactOptional(text) };

export const putStep: Shape<PutStep> = v.variant(
	"kind",
	[
		keys({ kind: v.literal("Service"), ...replaced, ...serviceEntries }),
		keys({ kind: v.literal("EndpointSlice"), ...replaced, ...sliceEntries }),
		keys({ kind: v.literal("Endpoints"), ...replaced, ...endpointsEntries }),
	],
	"want kind Service, Endpoints or EndpointSlice",
);

export const ssaStep: Shape<SsaStep> = keys({
	kind: v.literal("Service", "want kind Service"),
	fieldManager: text,
	force: v.exactOptional(flag),
	...serviceEntries,
});

const podChange = v.pipe(
	keys({ name, ns: v.exactOptional(text), ...podStatusEntries }),
	v.check(
		(change) => Object.keys(change).some((key) => key !== "name" && key !== "ns"),
		"want a key of the status, or create",
	),
);
const podMade = keys({ name, ns: v.exactOptional(text), create: keys({ ...podSpecEntries, ...podStatusEntries }) });

export const podStep: Shape<PodStep> = v.lazy((input) => (has(input, "create") ? podMade : podChange));

const rawEndpoints = keys({
	kind: v.literal("Endpoints", "want kind Endpoints, or remove"),
	...endpointsEntries,
	subsets: listOf(raw),
});
const fieldRemoved = keys({
	kind: oneOf("Service", "Pod", "Node", "EndpointSlice", "Endpoints", "ConfigMap"),
	ns: v.exactOptional(text),
	name: text,
	remove: v.pipe(text, v.startsWith("/", "want a JSON Pointer, such as /spec/type")),
});

export const storeRawStep: Shape<StoreRawStep> = v.lazy((input) =>
	has(input, "remove") ? fieldRemoved : rawEndpoints,
);

function has(input: unknown, key: string): boolean {
	return typeof input === "object" && input !== null && Object.hasOwn(input, key);
}
