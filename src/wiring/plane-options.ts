/** What a plane can be told, with the defaults of the command line. */
import type { TrafficFaults } from "./data-plane-messages.ts";

/** An etcd that objects are kept in, and that other API servers may share. */
export interface EtcdOptions {
	/** `http://127.0.0.1:2379`, at least one; the others are asked when one fails. */
	readonly servers: readonly string[];
	/** Where the keys are: `/registry`. */
	readonly prefix: string;
	/** How often old revisions are forgotten, once for all API servers; 0: never. */
	readonly compactionIntervalMs: number;
	/** PEM files, for servers of https: who signed theirs, and who this one is. */
	readonly caFile?: string | undefined;
	readonly certFile?: string | undefined;
	readonly keyFile?: string | undefined;
}

export interface PlaneOptions {
	/** Host and port of the API; port 0 takes any free one. Loopback unless told otherwise. */
	readonly listen: { readonly host: string; readonly port: number };
	/** Where the kubeconfig is written, mode 0600. */
	readonly kubeconfig: string;
	/** Where certificates are kept between starts. */
	readonly cacheFolder: string;
	/** Where objects are kept over restarts; undefined: in memory only. */
	readonly dataFolder: string | undefined;
	/** Where objects are kept, and shared with other API servers; undefined: in the data folder, or in memory. */
	readonly etcd: EtcdOptions | undefined;
	/** Users with tokens of their own, a line each; undefined: none. */
	readonly tokenAuthFile: string | undefined;
	/** Simulated nodes, named n1 to nN. */
	readonly nodes: number;
	/** Zones, spread over the nodes in turn. Empty: nodes have no zone. */
	readonly zones: readonly string[];
	/** Pods that fit on one node. */
	readonly maxPods: number;
	/** Ranges of pod addresses, one for each IP family. */
	readonly clusterCIDRs: readonly string[];
	/** Bits of a node's part of the cluster range: IPv4, and IPv6. */
	readonly nodeCIDRMaskSizes: readonly [ipv4: number, ipv6: number];
	/** Ranges of cluster IPs, one for each IP family, the primary one first. */
	readonly serviceCIDRs: readonly string[];
	readonly nodePortRange: { readonly from: number; readonly to: number };
	/** 1 to 1000. */
	readonly maxEndpointsPerSlice: number;
	/** 1 to 50. */
	readonly concurrentServiceEndpointSyncs: number;
	readonly endpointSliceUpdatesBatchPeriodMs: number;
	/** At least 1. */
	readonly concurrentEndpointSyncs: number;
	readonly endpointUpdatesBatchPeriodMs: number;
	/** 1 to 1000. */
	readonly mirroringMaxEndpointsPerSubset: number;
	/** 1 to 50. */
	readonly mirroringConcurrentServiceEndpointSyncs: number;
	readonly mirroringEndpointSliceUpdatesBatchPeriodMs: number;
	/** Retries in a row of a Service or Endpoints that fails, before it is left alone until its next event. 0: no end. */
	readonly retryBudget: number;
	/** Silence after which nothing is known of a node. */
	readonly nodeMonitorGracePeriodMs: number;
	/** Requests that are answered at once, at least 1; those of `system:masters` are never refused. */
	readonly requestsInFlight: { readonly readOnly: number; readonly mutating: number };
	/** Requests a second that one client may make, at least 1; twice as many after a rest. */
	readonly clientRequestsPerSecond: number;
	/** Which controllers run, in kube-controller-manager's syntax: `*`, `-name`, `name`. */
	readonly controllers: readonly string[];
	/**
	 * `none`: pods have addresses, nothing answers. `userspace`: pods and node ports answer on loopback. `netns`: each
	 * node is a network namespace (Linux, root).
	 */
	readonly network: "none" | "userspace" | "netns";
	/** `echo`: every container is simulated. `process`: those with a command run as processes of this machine. */
	readonly runtime: "echo" | "process";
	/** Where the gateway listens: the way into the cluster for clients of this machine. Loopback unless told otherwise. */
	readonly gatewayListen: { readonly host: string; readonly port: number };
	/** The node whose view of the Services the gateway and node ports have. "": that of no node. */
	readonly asNode: string;
	/** One line of the log, at level info, for each connection to a Service. */
	readonly logDecisions: boolean;
	/** Pods 10.a.b.c listen at 127.a.b.c, on the ports that their containers name; Linux only. */
	readonly podListeners: boolean;
	/** For tests that show what traffic loses without a part of it. */
	readonly trafficFaults?: TrafficFaults;
	/** Where DNS is served, on UDP and TCP; undefined: nowhere. */
	readonly dnsListen: { readonly host: string; readonly port: number } | undefined;
	/** DNS servers that are asked for names of other zones, `HOST:PORT`. */
	readonly dnsUpstreams: readonly { readonly host: string; readonly port: number }[];
	readonly clusterDomain: string;
	readonly logLevel: "debug" | "info" | "warn" | "error";
}

export const DEFAULT_PLANE_OPTIONS: Omit<PlaneOptions, "cacheFolder"> = {
	listen: { host: "127.0.0.1", port: 6443 },
	kubeconfig: ".sliceplane/kubeconfig",
	dataFolder: undefined,
	etcd: undefined,
	tokenAuthFile: undefined,
	nodes: 3,
	zones: [],
	maxPods: 110,
	clusterCIDRs: ["10.244.0.0/16"],
	nodeCIDRMaskSizes: [24, 64],
	serviceCIDRs: ["10.96.0.0/16"],
	nodePortRange: { from: 30_000, to: 32_767 },
	maxEndpointsPerSlice: 100,
	concurrentServiceEndpointSyncs: 5,
	endpointSliceUpdatesBatchPeriodMs: 0,
	concurrentEndpointSyncs: 5,
	endpointUpdatesBatchPeriodMs: 0,
	mirroringMaxEndpointsPerSubset: 1000,
	mirroringConcurrentServiceEndpointSyncs: 5,
	mirroringEndpointSliceUpdatesBatchPeriodMs: 0,
	retryBudget: 15,
	nodeMonitorGracePeriodMs: 50_000,
	requestsInFlight: { readOnly: 400, mutating: 200 },
	clientRequestsPerSecond: 1_000,
	controllers: ["*"],
	network: "userspace",
	runtime: "echo",
	gatewayListen: { host: "127.0.0.1", port: 0 },
	asNode: "",
	logDecisions: false,
	podListeners: false,
	dnsListen: undefined,
	dnsUpstreams: [],
	clusterDomain: "cluster.local",
	logLevel: "warn",
};
