/** What the plane and its data plane say to each other. Plain data: it crosses a thread's border. */
import type { MessagePort } from "node:worker_threads";
import type { Upstream } from "../edge/dns-forwarder.ts";
import type { EchoPod } from "../edge/echo-pod.ts";
import type { MetricOptions } from "../kernel/metrics.ts";
import type { AnsweredRequest } from "../machinery/answered-request.ts";
import type { ServedService } from "../plan/service-map/served-service.ts";
import type { ListenFailure } from "../proxy/front.ts";
import type { ProxiedNode } from "../proxy/node-proxies.ts";

/** What a data plane knows from its start on. */
export interface DataPlaneConfig {
	/** Ranges of pod addresses: endpoints there are echo pods or nobody. */
	readonly clusterCIDRs: readonly string[];
	readonly serviceCIDRs: readonly string[];
	/** Whose view of the Services is used; absent: that of no node. */
	readonly asNode?: string;
	/** One line of the log for each connection. */
	readonly logDecisions?: boolean;
	/** Pods 10.a.b.c listen at 127.a.b.c, on the ports that their containers name. */
	readonly podListeners?: boolean;
	/** False: nothing listens on node ports, for they are in the nodes' own networks. */
	readonly nodePorts?: boolean;
	readonly faults?: TrafficFaults;
	/** Absent: there is no gateway. */
	readonly gateway?: GatewayConfig;
	/** `cluster.local` */
	readonly clusterDomain: string;
	/** Absent: no DNS is served. */
	readonly dns?: DnsConfig;
}

/** The DNS of the cluster, on UDP and TCP. */
export interface DnsConfig {
	readonly host: string;
	/** 0 takes any one that is free for both. */
	readonly port: number;
	/** Who is asked for names of other zones; empty: they are refused. */
	readonly upstreams: readonly Upstream[];
}

/** What traffic loses without them is what tests show. All are true in a plane that works as it should. */
export interface TrafficFaults {
	/** False: pods vanish the moment they begin to terminate. */
	readonly drain?: boolean;
	/** False: endpoints that are terminating get nothing, even if there are no others. */
	readonly terminatingFallback?: boolean;
}

/** The way into the cluster for clients of this machine. */
export interface GatewayConfig {
	readonly host: string;
	/** 0 takes any free one. */
	readonly port: number;
	readonly user: string;
	readonly password: string;
	/** Namespace of names that name none. */
	readonly namespace: string;
}

/** Changes to carry out together; pods first, so that no rule points to a pod that is not there yet. */
export interface DataPlaneUpdate {
	readonly kind: "update";
	/** resourceVersion of the EndpointSlices that this brings the data plane to. */
	readonly asOf: string;
	readonly pods: Changes<EchoPod>;
	readonly services: Changes<ServedService>;
	readonly nodes: Changes<ProxiedNode>;
	/** Names. */
	readonly namespaces: Changes<string>;
}

export interface Changes<T> {
	readonly put: readonly T[];
	/** Keys, `namespace/name`. */
	readonly remove: readonly string[];
}

export type ToDataPlane =
	| DataPlaneUpdate
	/** Connect to a pod's port; the connection's bytes go over `port`. */
	| { readonly kind: "connect"; readonly ip: string; readonly podPort: number; readonly port: MessagePort }
	| { readonly kind: "stop" };

export type FromDataPlane =
	/** The update is carried out: listeners are open or closed as it wants, or their failure was told. */
	| { readonly kind: "applied"; readonly asOf: string }
	/** Told once, when the gateway listens; or why it does not. */
	| { readonly kind: "gateway"; readonly port: number }
	| { readonly kind: "gateway-failed"; readonly message: string }
	| { readonly kind: "dns"; readonly port: number }
	| { readonly kind: "dns-failed"; readonly message: string }
	| { readonly kind: "listen-failed"; readonly failure: ListenFailure }
	/** Requests that echo pods have answered since the last of these messages. */
	| { readonly kind: "answered"; readonly requests: readonly AnsweredRequest[] }
	| { readonly kind: "measured"; readonly measurements: readonly Measurement[] }
	| {
			readonly kind: "log";
			readonly level: "debug" | "info" | "warn" | "error";
			readonly message: string;
			readonly fields: Readonly<Record<string, unknown>>;
	  };

/** Counters are sent as what was added, gauges as what they stand at. */
export interface Measurement {
	readonly kind: "counter" | "gauge";
	readonly metric: MetricOptions;
	readonly labels: Readonly<Record<string, string>>;
	readonly value: number;
}
