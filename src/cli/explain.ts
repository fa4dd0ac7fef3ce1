/** `sliceplane explain svc/NAME`: why has this Service no, or wrong, endpoints? */
import { type Command, Option } from "commander";
import type { Explanation } from "../explain/explain.ts";
import type { ClusterSnapshot } from "../explain/snapshot.ts";
import { collect } from "./flag-values.ts";
import { manifestText } from "./manifest-text.ts";
import { UsageError } from "./usage-error.ts";

interface ExplainFlags {
	readonly namespace: string;
	readonly allNamespaces?: boolean;
	readonly filename?: readonly string[];
	readonly fromNode?: string;
	readonly output: "text" | "json";
	readonly kubeconfig?: string;
	readonly context?: string;
}

const WIDTH_DEFAULT = 100;
const WIDTH_MIN = 40;

export function addExplainCommand(root: Command, setStatus: (status: number) => void): void {
	root
		.command("explain")
		.description(
			"Say why a Service has no endpoints, or wrong ones: the whole chain, with what to do. Reads only; any cluster.\n" +
				"Exit status 0: nothing in the way, 1: something is, 2: wrong usage.",
		)
		.argument("[svc/NAME]", "the Service; none with -A")
		.option("-n, --namespace <name>", "its namespace", "default")
		.option("-A, --all-namespaces", "every Service, those in trouble first")
		.option(
			"-f, --filename <file>",
			"look at files (kubectl get -o yaml) instead of a cluster; - is stdin; may be repeated",
			collect,
		)
		.option("--from-node <name>", "the node of the client that asks")
		.addOption(new Option("-o, --output <form>", "how to print").choices(["text", "json"]).default("text"))
		.option("--kubeconfig <path>", "kubeconfig of the cluster; default: the variable KUBECONFIG, then ~/.kube/config")
		.option("--context <name>", "context in the kubeconfig")
		.addHelpText(
			"after",
			"\nExample:\n  $ sliceplane explain svc/web\n  $ kubectl get svc,pods,endpointslices -o yaml | sliceplane explain svc/web -f -\n",
		)
		.action(async (target: string | undefined, flags: ExplainFlags) => setStatus(await explain(target, flags)));
}

async function explain(target: string | undefined, flags: ExplainFlags): Promise<number> {
	const name = serviceNamed(target, flags.allNamespaces === true);
	// Loaded only now: wrong usage and --help must answer at once.
	const { Explainer } = await import("../explain/explain.ts");
	const explainer = new Explainer(await snapshotOf(flags));
	const from = flags.fromNode === undefined ? {} : { fromNode: flags.fromNode };
	if (name === undefined) return printAll(explainer.explainAll(flags.fromNode), flags);
	return printOne(explainer.explain({ namespace: flags.namespace, name, ...from }), flags);
}

/** @throws {UsageError} */
function serviceNamed(target: string | undefined, isAll: boolean): string | undefined {
	if (isAll) {
		if (target !== undefined) throw new UsageError(`${target}: -A looks at all Services; leave one out`);
		return undefined;
	}
	const [, name] = /^(?:services?|svc)\/([^/]+)$/.exec(target ?? "") ?? [];
	if (name === undefined) throw new UsageError(`${target ?? "no Service"}: want svc/NAME, such as svc/web, or -A`);
	return name;
}

async function snapshotOf({ filename, ...cluster }: ExplainFlags): Promise<ClusterSnapshot> {
	const { readCluster, readFiles } = await import("../wiring/read-snapshot.ts");
	if (filename !== undefined) {
		const files = await Promise.all(filename.map(async (file) => ({ file, text: await manifestText(file) })));
		return readFiles(files);
	}
	const { clusterClient } = await import("../wiring/cluster-client.ts");
	const client = await clusterClient({ ...cluster, files: process.env["KUBECONFIG"] }, { part: "explain" });
	try {
		return await readCluster(client);
	} finally {
		client.close();
	}
}

function textOptions() {
	const { columns, isTTY } = process.stdout;
	return {
		width: Math.max(WIDTH_MIN, columns ?? WIDTH_DEFAULT),
		isColoured: isTTY === true && !process.env["NO_COLOR"],
	};
}

async function printOne(explanation: Explanation, { output }: ExplainFlags): Promise<number> {
	const { explanationText } = await import("../explain/render.ts");
	const text = output === "json" ? `${JSON.stringify(explanation)}\n` : explanationText(explanation, textOptions());
	process.stdout.write(text);
	return isTrouble(explanation) ? 1 : 0;
}

async function printAll(all: readonly Explanation[], { output }: ExplainFlags): Promise<number> {
	const { verdictText } = await import("../explain/render.ts");
	if (output === "json") process.stdout.write(`${JSON.stringify(all)}\n`);
	else for (const each of all) process.stdout.write(`${each.service}: ${verdictText(each, textOptions())}\n`);
	return all.some(isTrouble) ? 1 : 0;
}

function isTrouble({ cause }: Explanation): boolean {
	return cause?.severity === "error";
}
