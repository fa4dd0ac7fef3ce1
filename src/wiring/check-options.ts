/** What must hold of a plane's options together, checked before anything is started. */
import { contains, networkOf, parseCIDR, sizeOf } from "../api/ip.ts";
import { netnsProblem } from "../edge/netns/netns-problem.ts";
import { simulatedNodes } from "../kubelet/node-pool.ts";
import { selectedControllers } from "./controller-selection.ts";
import { networkRanges } from "./network-ranges.ts";
import { DEFAULT_PLANE_OPTIONS, type PlaneOptions } from "./plane-options.ts";
import { CONTROLLER_NAMES } from "./start-controllers.ts";
import { VERSION } from "./version.ts";

/** @throws {RangeError} When options cannot go together; the message names the flag. */
export function checkOptions(options: Omit<PlaneOptions, "cacheFolder">): void {
	networkRanges(options);
	const nodes = simulatedNodes({ ...options, kubeletVersion: VERSION.api.gitVersion });
	const { asNode } = options;
	if (asNode !== "" && !nodes.some(({ name }) => name === asNode)) {
		throw new RangeError(
			`--as-node ${asNode}: no such node; there are ${nodes.length}: ${nodes
				.map(({ name }) => name)
				.slice(0, 3)
				.join(", ")} ...`,
		);
	}
	selectedControllers(CONTROLLER_NAMES, options.controllers);
	requireOneStore(options);
	if (options.network === "none") refuseTraffic(options, NO_NETWORK);
	if (options.network === "netns") requireNetns(options);
	if (options.podListeners) requireListenable(options);
}

/** @throws {RangeError} When there are two stores, or etcd cannot be found or asked so. */
export function requireOneStore({ dataFolder, etcd }: Pick<PlaneOptions, "dataFolder" | "etcd">): void {
	if (etcd === undefined) return;
	if (dataFolder !== undefined) {
		throw new RangeError("--etcd-servers and --data-dir: objects are kept in one place; leave one of the two out");
	}
	if ((etcd.certFile === undefined) !== (etcd.keyFile === undefined)) {
		throw new RangeError("--etcd-certfile and --etcd-keyfile: want both, or none");
	}
	for (const server of etcd.servers) requireServer(server);
	if (etcd.servers.length === 0) throw new RangeError("--etcd-servers: want URLs such as http://127.0.0.1:2379");
}

function requireServer(server: string): void {
	const isServer = /^https?:\/\/[^/?#@]+\/?$/.test(server) && URL.canParse(server);
	if (isServer) return;
	throw new RangeError(`--etcd-servers ${JSON.stringify(server)}: want a URL such as http://127.0.0.1:2379`);
}

const NO_NETWORK = "nothing answers without a network";
const OWN_NETWORKS = "nodes have networks of their own, which sliceplane exec leads into";

/** What is not the default was asked for. */
function refuseTraffic(options: Omit<PlaneOptions, "cacheFolder">, why: string): void {
	const { host, port } = DEFAULT_PLANE_OPTIONS.gatewayListen;
	const { network, gatewayListen, dnsListen, asNode, logDecisions, podListeners, runtime } = options;
	const asked = [
		["--gateway-listen", gatewayListen.host !== host || gatewayListen.port !== port],
		["--as-node", asNode !== ""],
		["--log-decisions", logDecisions],
		["--pod-listeners", podListeners],
		["--dns-listen", network === "none" && dnsListen !== undefined],
		["--runtime process", network === "netns" && runtime === "process"],
	] as const;
	const [flag] = asked.find(([, isAsked]) => isAsked) ?? [];
	if (flag === undefined) return;
	throw new RangeError(`${flag} and --network ${network}: ${why}; leave one of the two out`);
}

/** Each has a process of its own, and routes to all others. */
const NODES_MAX = 100;
/** The cluster's DNS is at the tenth address. */
const SERVICE_ADDRESSES_MIN = 16n;

function requireNetns(options: Omit<PlaneOptions, "cacheFolder">): void {
	refuseTraffic(options, OWN_NETWORKS);
	const { nodes, serviceCIDRs } = options;
	if (nodes > NODES_MAX)
		throw new RangeError(`--network netns: want at most ${NODES_MAX} nodes, --nodes asks for ${nodes}`);
	const narrow = serviceCIDRs.find((text) => {
		const range = parseCIDR(text);
		return range !== undefined && sizeOf(range) < SERVICE_ADDRESSES_MIN;
	});
	if (narrow !== undefined) {
		throw new RangeError(
			`--network netns and --service-cluster-ip-range ${narrow}: want at least ${SERVICE_ADDRESSES_MIN} addresses, ` +
				"for the tenth is that of DNS",
		);
	}
	const problem = netnsProblem();
	if (problem !== undefined) throw new RangeError(`--network netns: ${problem}`);
}

/** Of a Pod 10.a.b.c, 127.a.b.c is the stand-in. */
const LISTENABLE = parseCIDR("10.0.0.0/8");

function requireListenable({ clusterCIDRs }: Omit<PlaneOptions, "cacheFolder">): void {
	const isListenable = clusterCIDRs.some((text) => {
		const range = parseCIDR(text);
		if (range === undefined || LISTENABLE === undefined) return false;
		return contains(LISTENABLE, networkOf(range)) && range.prefixLength >= LISTENABLE.prefixLength;
	});
	if (isListenable) return;
	throw new RangeError(
		`--pod-listeners and --cluster-cidr ${clusterCIDRs.join()}: only Pods 10.a.b.c have a 127.a.b.c to listen at; ` +
			"take a range in 10.0.0.0/8",
	);
}
