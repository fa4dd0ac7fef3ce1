/** `sliceplane proxy`: kube-proxy's work on this machine, for any cluster that a kubeconfig leads to. */
import { hostname } from "node:os";
import { type Command, InvalidArgumentError } from "commander";
import type { LocalDetection } from "../plan/nft/local-detection.ts";
import type { ProxyOptions } from "../wiring/start-proxy.ts";
import { addRows, CLUSTER_KUBECONFIG, CONTEXT, type Row } from "./flag-rows.ts";
import { durationMs, type Place, place, placeOrNone, whole } from "./flag-values.ts";
import { interfaceName, periodMs, ranges, rangesOrPrimary } from "./network-values.ts";
import { aborted, stopSignal } from "./until-stopped.ts";
import { UsageError } from "./usage-error.ts";

interface ProxyFlags {
	readonly kubeconfig?: string;
	readonly context?: string;
	readonly hostnameOverride: string;
	readonly clusterCidr: readonly string[];
	readonly detectLocalMode: LocalDetection["mode"];
	readonly podBridgeInterface?: string;
	readonly podInterfaceNamePrefix?: string;
	readonly serviceClusterIpRange: readonly string[];
	readonly nodeportAddresses: readonly string[];
	readonly masqueradeAll?: boolean;
	readonly nftablesMasqueradeBit: number;
	readonly minSyncPeriod: number;
	readonly syncPeriod: number;
	readonly healthzBindAddress: Place;
	readonly metricsBindAddress: Place;
	readonly table: string;
	readonly cleanup?: boolean;
	readonly verbose?: boolean;
}

const MODES: readonly LocalDetection["mode"][] = ["ClusterCIDR", "NodeCIDR", "BridgeInterface", "InterfaceNamePrefix"];

const ROWS: readonly Row[] = [
	["--cluster-cidr <v4[,v6]>", "ranges of pod addresses: who else asks a cluster IP is masqueraded", ranges, ""],
	["--detect-local-mode <mode>", `how pods are known: ${MODES.join(", ")}`, detectMode, "ClusterCIDR"],
	["--service-cluster-ip-range <v4[,v6]>", "ranges of cluster IPs: what nobody has there is dropped", ranges, ""],
	[
		"--nodeport-addresses <list>",
		"ranges whose addresses accept node ports, or primary: the Node's own",
		rangesOrPrimary,
		"primary",
	],
	["--nftables-masquerade-bit <n>", "bit of the packet mark that asks for masquerading", whole(0, 31), "14"],
	["--min-sync-period <duration>", "from the end of one run to the start of the next; 0: none", durationMs, "1s"],
	["--sync-period <duration>", "when a failed run is tried again, and foreign changes are looked for", periodMs, "30s"],
	[
		"--healthz-bind-address <host:port>",
		"where /healthz and /livez are served; '' is nowhere",
		place,
		"127.0.0.1:10256",
	],
	["--metrics-bind-address <host:port>", "where /metrics is served; '' is nowhere", place, "127.0.0.1:10249"],
	["--table <name>", "name of the nftables tables", tableName, "sliceplane"],
];

export function addProxyCommand(root: Command, setStatus: (status: number) => void): void {
	const command = root
		.command("proxy")
		.description(
			"Route Services in this machine's kernel, by nftables, as kube-proxy does. Linux; wants CAP_NET_ADMIN.",
		)
		.option(...CLUSTER_KUBECONFIG)
		.option(...CONTEXT)
		.option("--hostname-override <name>", "name of the Node that this machine is", hostname().toLowerCase())
		.option(
			"--pod-bridge-interface <name>",
			"with mode BridgeInterface: where packets of pods come from",
			interfaceName,
		)
		.option(
			"--pod-interface-name-prefix <prefix>",
			"with mode InterfaceNamePrefix: the same, by the start of the name",
			interfaceName,
		)
		.option("--masquerade-all", "masquerade all that goes to cluster IPs");
	addRows(command, ROWS);
	command
		.option("--cleanup", "remove the rules and end; connections through them break")
		.option("-v, --verbose", "log every decision")
		.addHelpText(
			"after",
			"\nExample:\n  $ sliceplane proxy --kubeconfig admin.conf --hostname-override n1 --cluster-cidr 10.244.0.0/16\n",
		)
		.action(async (flags: ProxyFlags) => {
			setStatus(await (flags.cleanup === true ? cleanUp(flags) : serve(flags)));
		});
}

async function cleanUp({ table }: ProxyFlags): Promise<number> {
	const { cleanUpRules } = await import("../wiring/start-proxy.ts");
	await cleanUpRules(table);
	process.stderr.write(`Removed the tables ip ${table} and ip6 ${table}\n`);
	return 0;
}

/** Status 1 when it cannot go on, so that whoever started it starts it anew. */
async function serve(flags: ProxyFlags): Promise<number> {
	const options = proxyOptionsOf(flags);
	// Loaded only now: wrong usage and --help must answer at once.
	const { clusterClient } = await import("../wiring/cluster-client.ts");
	const { startProxy } = await import("../wiring/start-proxy.ts");
	const stopping = stopSignal();
	const stopped = aborted(stopping).then(() => "");
	const client = await clusterClient({ ...flags, files: process.env["KUBECONFIG"] }, { part: "proxy" });
	try {
		process.stderr.write(`Waiting for the cluster and its Node ${options.nodeName}\n`);
		const proxy = await Promise.race([startProxy(client, options, stopping), stopped]);
		if (typeof proxy === "string") return 0;
		const ready = proxy.synced.then(() => "ready");
		const first = await Promise.race([ready, proxy.ended, stopped]);
		if (first === "ready") process.stdout.write(`Proxy is ready: node ${options.nodeName}, table ${options.table}\n`);
		const why = first === "ready" ? await Promise.race([proxy.ended, stopped]) : first;
		if (why !== "") process.stderr.write(`error: ${why}; start the proxy anew\n`);
		await proxy.stop();
		return why === "" ? 0 : 1;
	} finally {
		client.close();
	}
}

/** @throws {UsageError} */
function proxyOptionsOf(flags: ProxyFlags): ProxyOptions {
	if (process.platform !== "linux")
		throw new UsageError(`proxy: want Linux, for nftables; this is ${process.platform}`);
	return {
		nodeName: flags.hostnameOverride,
		table: flags.table,
		detectLocal: detectionOf(flags),
		serviceCIDRs: flags.serviceClusterIpRange,
		nodePortAddresses: flags.nodeportAddresses,
		masqueradeAll: flags.masqueradeAll === true,
		masqueradeBit: flags.nftablesMasqueradeBit,
		minSyncPeriodMs: flags.minSyncPeriod,
		syncPeriodMs: flags.syncPeriod,
		healthz: placeOrNone(flags.healthzBindAddress),
		metrics: placeOrNone(flags.metricsBindAddress),
		logLevel: flags.verbose === true ? "debug" : "warn",
	};
}

function detectionOf(flags: ProxyFlags): LocalDetection {
	const { detectLocalMode: mode, podBridgeInterface: name, podInterfaceNamePrefix: prefix } = flags;
	switch (mode) {
		case "ClusterCIDR":
			return { mode, cidrs: flags.clusterCidr };
		case "NodeCIDR":
			return { mode };
		case "BridgeInterface":
			if (name === undefined) throw new UsageError("--detect-local-mode BridgeInterface: want --pod-bridge-interface");
			return { mode, name };
		case "InterfaceNamePrefix":
			if (prefix === undefined) {
				throw new UsageError("--detect-local-mode InterfaceNamePrefix: want --pod-interface-name-prefix");
			}
			return { mode, prefix };
	}
}

function detectMode(value: string): LocalDetection["mode"] {
	const mode = MODES.find((known) => known === value);
	if (mode === undefined) throw new InvalidArgumentError(`Want one of ${MODES.join(", ")}.`);
	return mode;
}

/** What nft takes for a name. */
function tableName(value: string): string {
	if (/^[A-Za-z][A-Za-z0-9_-]{0,31}$/.test(value)) return value;
	throw new InvalidArgumentError("Want a name of at most 32 letters, digits, - and _, with a letter first.");
}
