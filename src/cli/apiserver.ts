/** `sliceplane apiserver`: the API alone; controllers, nodes and the rest come as programs of their own. */
import path from "node:path";
import type { Command } from "commander";
import { cacheFolder } from "../edge/cache-folder.ts";
import type { PlaneOptions } from "../wiring/plane-options.ts";
import type { ApiserverOptions } from "../wiring/start-apiserver.ts";
import { REQUEST_LIMIT_ROWS, type RequestLimitFlags, requestLimitsOf } from "./controller-flags.ts";
import { addEtcdOptions, type EtcdFlags, etcdOptionsOf } from "./etcd-options.ts";
import { addRows, type Row } from "./flag-rows.ts";
import { domain, folder, hostAndPort, list, portRange } from "./flag-values.ts";
import { aborted, stopSignal } from "./until-stopped.ts";
import { refuseWrongOptions } from "./usage-error.ts";

interface ApiserverFlags extends EtcdFlags, RequestLimitFlags {
	readonly listen: PlaneOptions["listen"];
	readonly kubeconfig: string;
	readonly certDir?: string;
	readonly dataDir?: string;
	readonly tokenAuthFile?: string;
	readonly serviceClusterIpRange: readonly string[];
	readonly serviceNodePortRange: PlaneOptions["nodePortRange"];
	readonly clusterDomain: string;
	readonly verbose?: boolean;
}

const ROWS: readonly Row[] = [
	["--listen <host:port>", "address of the API; port 0 takes any free one", hostAndPort, "127.0.0.1:6443"],
	["--kubeconfig <path>", "where the kubeconfig is written", String, ".sliceplane/kubeconfig"],
	["--service-cluster-ip-range <v4[,v6]>", "range of cluster IPs", list, "10.96.0.0/16"],
	["--service-node-port-range <from-to>", "range of node ports", portRange, "30000-32767"],
	...REQUEST_LIMIT_ROWS,
	["--cluster-domain <domain>", "domain of the names of Services", domain, "cluster.local"],
];

export function addApiserverCommand(root: Command, setStatus: (status: number) => void): void {
	const command = root
		.command("apiserver")
		.description("Serve the API alone, with Kubernetes' roles and namespaces. Prints one line when it is ready.");
	addRows(command, ROWS);
	addEtcdOptions(command);
	command
		.option(
			"--data-dir <dir>",
			"folder that objects are kept in over restarts; without it they are in memory only",
			folder,
		)
		.option(
			"--cert-dir <dir>",
			"folder of the authority and the keys, which servers may share (default: the cache folder)",
		)
		.option(
			"--token-auth-file <file>",
			'users with tokens of their own: lines token,user,uid,"group1,group2"; the first one of system:masters is in the kubeconfig',
		)
		.option("-v, --verbose", "log every decision")
		.addHelpText("after", "\nExample:\n  $ sliceplane apiserver --listen 127.0.0.1:6443 --data-dir data\n")
		.action(async (flags: ApiserverFlags) => {
			setStatus(await serve(apiserverOptionsOf(flags)));
		});
}

/** Resolves with the exit status. */
async function serve(options: ApiserverOptions): Promise<number> {
	// Loaded only now: wrong usage and --help must answer at once.
	const { serviceRanges } = await import("../wiring/network-ranges.ts");
	const { requireOneStore } = await import("../wiring/check-options.ts");
	refuseWrongOptions(() => {
		serviceRanges(options);
		requireOneStore(options);
	});
	const { startApiserver } = await import("../wiring/start-apiserver.ts");
	const stopping = stopSignal();
	const server = await startApiserver(options, (text) => void process.stderr.write(`${text}\n`));
	process.stdout.write(`Sliceplane is ready: ${server.url}  KUBECONFIG=${path.resolve(options.kubeconfig)}\n`);
	const why = await Promise.race([aborted(stopping), server.lost]);
	process.stderr.write(`${why ?? "Stopping"}\n`);
	await server.stop();
	return why === undefined ? 0 : 1;
}

function apiserverOptionsOf(flags: ApiserverFlags): ApiserverOptions {
	return {
		listen: flags.listen,
		kubeconfig: flags.kubeconfig,
		cacheFolder: flags.certDir === undefined ? cacheFolder() : path.resolve(flags.certDir),
		dataFolder: flags.dataDir === undefined ? undefined : path.resolve(flags.dataDir),
		etcd: etcdOptionsOf(flags),
		tokenAuthFile: flags.tokenAuthFile === undefined ? undefined : path.resolve(flags.tokenAuthFile),
		serviceCIDRs: flags.serviceClusterIpRange,
		nodePortRange: flags.serviceNodePortRange,
		...requestLimitsOf(flags),
		clusterDomain: flags.clusterDomain,
		logLevel: flags.verbose === true ? "debug" : "warn",
	};
}
