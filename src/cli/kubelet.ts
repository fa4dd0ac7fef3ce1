/** `sliceplane kubelet`: simulated nodes alone, for any cluster that a kubeconfig leads to, or around this Pod. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { dns1123SubdomainProblems, labelValueProblems, qualifiedNameProblems } from "../api/names.ts";
import type { Taint } from "../api/types/core.ts";
import type { KubeletOptions } from "../wiring/run-kubelet.ts";
import { addRows, CLUSTER_KUBECONFIG, CONTEXT, type Row } from "./flag-rows.ts";
import { list, type Place, place, placeOrNone, whole, zones } from "./flag-values.ts";
import { stopSignal } from "./until-stopped.ts";
import { refuseWrongOptions } from "./usage-error.ts";

interface KubeletFlags {
	readonly kubeconfig?: string;
	readonly context?: string;
	readonly nodes: number;
	readonly nodePrefix: string;
	readonly nodeNames?: readonly string[];
	readonly zones: readonly string[];
	readonly maxPods: number;
	readonly clusterCidr: readonly string[];
	readonly nodeCidrMaskSize: number;
	readonly nodeCidr: readonly string[];
	readonly registerWithTaints?: readonly Taint[];
	readonly metricsBindAddress: Place;
	readonly verbose?: boolean;
}

const ROWS: readonly Row[] = [
	["--nodes <n>", "simulated nodes", whole(1, 10_000), "3"],
	["--node-prefix <text>", "what their names begin with; a number follows", nodeName, "n"],
	["--zones <a,b,c>", "zones, spread over the nodes", zones, ""],
	["--max-pods <n>", "pods that fit on one node", whole(1, 10_000), "110"],
	[
		"--cluster-cidr <v4[,v6]>",
		"range of the addresses of their pods, which no other node has a part of",
		list,
		"10.244.0.0/16",
	],
	["--node-cidr-mask-size <n>", "bits of a node's part of the IPv4 range", whole(1, 32), "24"],
	["--node-cidr <v4[,v6]>", "range of the nodes' own addresses", list, "192.168.0.0/16,fd00:192:168::/64"],
	[
		"--metrics-bind-address <host:port>",
		"where /healthz and /metrics are served; '' is nowhere",
		place,
		"127.0.0.1:10255",
	],
];

export function addKubeletCommand(root: Command, setStatus: (status: number) => void): void {
	const command = root
		.command("kubelet")
		.description(
			"Run simulated nodes alone, for any API server, beside real nodes too. Prints one line when they are there.\n" +
				"It touches its own Nodes, and the Pods on them; names that others have are refused.",
		)
		.option(...CLUSTER_KUBECONFIG)
		.option(...CONTEXT)
		.addOption(
			new Option("--node-names <a,b,c>", "their names, instead of --nodes and --node-prefix").argParser(names),
		);
	addRows(command, ROWS);
	command
		.addOption(
			new Option(
				"--register-with-taints <list>",
				"taints of the Nodes, KEY=VALUE:EFFECT,...; '' is none " +
					"(default: none on a Sliceplane API server, else sliceplane.dev/simulated=true:NoSchedule)",
			).argParser(taints),
		)
		.option("-v, --verbose", "log every decision")
		.addHelpText(
			"after",
			"\nExample:\n  $ sliceplane kubelet --nodes 100 --node-prefix sim- --cluster-cidr 10.200.0.0/16\n",
		)
		.action(async (flags: KubeletFlags) => {
			await serve(flags);
			setStatus(0);
		});
}

async function serve(flags: KubeletFlags): Promise<void> {
	const options = kubeletOptionsOf(flags);
	// Loaded only now: wrong usage and --help must answer at once.
	const { checkKubeletOptions, runKubelet } = await import("../wiring/run-kubelet.ts");
	const { clusterAccess } = await import("../wiring/cluster-client.ts");
	refuseWrongOptions(() => checkKubeletOptions(options));
	const signal = stopSignal();
	const access = await clusterAccess({ ...flags, files: process.env["KUBECONFIG"] });
	const news = {
		progress: (text: string) => void process.stderr.write(`${text}\n`),
		ready: (text: string) => void process.stdout.write(`Kubelet is ready: ${text}\n`),
	};
	await runKubelet(access, options, news, signal);
}

function kubeletOptionsOf(flags: KubeletFlags): KubeletOptions {
	const { nodeNames, registerWithTaints } = flags;
	return {
		nodes: nodeNames?.length ?? flags.nodes,
		namePrefix: flags.nodePrefix,
		...(nodeNames === undefined ? {} : { names: nodeNames }),
		zones: flags.zones,
		maxPods: flags.maxPods,
		clusterCIDRs: flags.clusterCidr,
		nodeCIDRMaskSizes: [flags.nodeCidrMaskSize, 64],
		nodeCIDRs: flags.nodeCidr,
		...(registerWithTaints === undefined ? {} : { taints: registerWithTaints }),
		status: placeOrNone(flags.metricsBindAddress),
		logLevel: flags.verbose === true ? "debug" : "warn",
	};
}

function nodeName(value: string): string {
	if (dns1123SubdomainProblems(`${value}1`).length === 0) return value;
	throw new InvalidArgumentError("Want small letters, digits, - and ., with a letter or digit first, such as sim-.");
}

function names(value: string): readonly string[] {
	const found = list(value);
	const isRight = found.every((name) => dns1123SubdomainProblems(name).length === 0);
	if (found.length > 0 && isRight && new Set(found).size === found.length) return found;
	throw new InvalidArgumentError("Want different names of small letters, digits, - and ., such as sim-a,sim-b.");
}

const EFFECTS: readonly Taint["effect"][] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

function taints(value: string): readonly Taint[] {
	return list(value).map((text) => {
		const [, key = "", given, named] = /^([^=:]+)(?:=([^:]*))?:(\w+)$/.exec(text) ?? [];
		const effect = EFFECTS.find((known) => known === named);
		const isRight = qualifiedNameProblems(key).length === 0 && labelValueProblems(given ?? "").length === 0;
		if (effect !== undefined && isRight) return { key, ...(given === undefined ? {} : { value: given }), effect };
		throw new InvalidArgumentError(`Want KEY=VALUE:EFFECT with one of ${EFFECTS.join(", ")}; ${text} is none.`);
	});
}
