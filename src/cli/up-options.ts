/** The flags of `up`: their words, their checks, and what they mean to the plane. */
import path from "node:path";
import { type Command, Option } from "commander";
import { cacheFolder } from "../edge/cache-folder.ts";
import { DEFAULT_PLANE_OPTIONS, type PlaneOptions } from "../wiring/plane-options.ts";
import {
	CONTROLLER_ROWS,
	type ControllerFlags,
	controllerOptionsOf,
	REQUEST_LIMIT_ROWS,
	type RequestLimitFlags,
	requestLimitsOf,
} from "./controller-flags.ts";
import { addEtcdOptions, type EtcdFlags, etcdOptionsOf } from "./etcd-options.ts";
import { addRows, type Row } from "./flag-rows.ts";
import {
	collect,
	domain,
	folder,
	hostAndPort,
	list,
	network,
	nodeName,
	portRange,
	runtime,
	whole,
	zones,
} from "./flag-values.ts";
import { UsageError } from "./usage-error.ts";

/** As commander gives them: one key per flag. */
export interface UpFlags extends ControllerFlags, EtcdFlags, RequestLimitFlags {
	readonly filename?: readonly string[];
	readonly listen: PlaneOptions["listen"];
	readonly kubeconfig?: string;
	readonly dataDir?: string;
	readonly tokenAuthFile?: string;
	readonly nodes: number;
	readonly zones: readonly string[];
	readonly maxPods: number;
	readonly clusterCidr: readonly string[];
	readonly nodeCidrMaskSize: number;
	readonly serviceClusterIpRange: readonly string[];
	readonly serviceNodePortRange: PlaneOptions["nodePortRange"];
	readonly controllers: readonly string[];
	readonly network: PlaneOptions["network"];
	readonly runtime: PlaneOptions["runtime"];
	readonly gatewayListen: PlaneOptions["gatewayListen"];
	readonly asNode: string;
	readonly logDecisions?: boolean;
	readonly podListeners?: boolean;
	readonly dnsListen?: PlaneOptions["listen"];
	readonly dnsUpstream: readonly string[];
	readonly clusterDomain: string;
	readonly verbose?: boolean;
}

const ROWS: readonly Row[] = [
	["--listen <host:port>", "address of the API; port 0 takes any free one", hostAndPort, "127.0.0.1:6443"],
	["--nodes <n>", "simulated nodes, named n1 to nN", whole(0, 10_000), "3"],
	["--max-pods <n>", "pods that fit on one node", whole(1, 10_000), "110"],
	["--cluster-cidr <v4[,v6]>", "range of pod addresses", list, "10.244.0.0/16"],
	["--node-cidr-mask-size <n>", "bits of a node's part of the IPv4 range", whole(1, 32), "24"],
	["--service-cluster-ip-range <v4[,v6]>", "range of cluster IPs", list, "10.96.0.0/16"],
	["--service-node-port-range <from-to>", "range of node ports", portRange, "30000-32767"],
	...CONTROLLER_ROWS,
	...REQUEST_LIMIT_ROWS,
	["--controllers <list>", "controllers to run: '*' is all, '*,-name' leaves one out", list, "*"],
	["--network <mode>", "none; userspace: on this machine; netns: a network namespace a node", network, "userspace"],
	["--runtime <kind>", "echo, or process: containers with a command run on this machine", runtime, "echo"],
	["--cluster-domain <domain>", "domain of the names of Services", domain, "cluster.local"],
	["--gateway-listen <host:port>", "address of the gateway (SOCKS5 and HTTP proxy)", hostAndPort, "127.0.0.1:0"],
];

export function addUpOptions(up: Command): void {
	up.option("-f, --filename <file>", "manifest to apply when the plane is up; - is stdin; may be repeated", collect)
		.option(
			"--kubeconfig <path>",
			`where the kubeconfig is written (default: ${DEFAULT_PLANE_OPTIONS.kubeconfig}; a temporary one with -- CMD)`,
		)
		.option(
			"--data-dir <dir>",
			"folder that objects are kept in over restarts; without it they are in memory only",
			folder,
		)
		.option("--token-auth-file <file>", 'users with tokens of their own: lines token,user,uid,"group1,group2"')
		.addOption(new Option("--zones <a,b,c>", "zones, spread over the nodes").argParser(zones).default([], "none"));
	addEtcdOptions(up);
	addRows(up, ROWS);
	up.addOption(
		new Option("--as-node <node>", "node whose view of Services the gateway has")
			.argParser(nodeName)
			.default("", "none: nothing is local"),
	);
	up.option("--log-decisions", "log where each connection to a Service goes, and why: a line of JSON on stderr");
	up.option("--pod-listeners", "pods 10.a.b.c listen at 127.a.b.c, on ports that their containers name (Linux)");
	up.addOption(new Option("--dns-listen <host:port>", "serve DNS there, on UDP and TCP").argParser(hostAndPort));
	up.addOption(
		new Option("--dns-upstream <host:port>", "DNS server to ask for names of other zones; may be repeated")
			.argParser(collect)
			.default([], "none: they are refused"),
	);
	up.option("-v, --verbose", "log every decision");
	// Taken from the first version on, so that scripts need not know whether there is a dashboard.
	up.addOption(new Option("--no-dashboard").hideHelp());
}

/**
 * @param kubeconfig Where it is written.
 * @throws {UsageError} For flags that want others beside them, or a system that this is not.
 */
export function planeOptionsOf(flags: UpFlags, kubeconfig: string): PlaneOptions {
	if (flags.podListeners === true && process.platform !== "linux")
		throw new UsageError(`--pod-listeners: want Linux, where all of 127.0.0.0/8 is there; this is ${process.platform}`);
	return {
		listen: flags.listen,
		kubeconfig,
		cacheFolder: cacheFolder(),
		dataFolder: flags.dataDir === undefined ? undefined : path.resolve(flags.dataDir),
		etcd: etcdOptionsOf(flags),
		tokenAuthFile: flags.tokenAuthFile === undefined ? undefined : path.resolve(flags.tokenAuthFile),
		nodes: flags.nodes,
		zones: flags.zones,
		maxPods: flags.maxPods,
		clusterCIDRs: flags.clusterCidr,
		nodeCIDRMaskSizes: [flags.nodeCidrMaskSize, 64],
		serviceCIDRs: flags.serviceClusterIpRange,
		nodePortRange: flags.serviceNodePortRange,
		...controllerOptionsOf(flags),
		...requestLimitsOf(flags),
		controllers: flags.controllers,
		network: flags.network,
		runtime: flags.runtime,
		gatewayListen: flags.gatewayListen,
		asNode: flags.asNode,
		logDecisions: flags.logDecisions === true,
		podListeners: flags.podListeners === true,
		dnsListen: flags.dnsListen,
		dnsUpstreams: flags.dnsUpstream.map(hostAndPort),
		clusterDomain: flags.clusterDomain,
		logLevel: logLevelOf(flags),
	};
}

/** Decisions are logged as information. */
function logLevelOf({ verbose, logDecisions }: UpFlags): PlaneOptions["logLevel"] {
	if (verbose === true) return "debug";
	return logDecisions === true ? "info" : "warn";
}
