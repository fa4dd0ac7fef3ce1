/** `sliceplane explain svc/NAME`: why has this Service no, or wrong, endpoints? */

import { type Command, Option } from "commander";
import type { ClientOrigin } from "../explain/client-place.ts";
import type { Explanation } from "../explain/explain.ts";
import { errorText } from "./error-text.ts";
import type { ExplainInput, InputFlags } from "./explain-input.ts";
import { EXPLAIN_FORMS, type ExplainForm } from "./explain-output.ts";
import { CLUSTER_KUBECONFIG, CONTEXT } from "./flag-rows.ts";
import { collect } from "./flag-values.ts";
import { UsageError } from "./usage-error.ts";

interface ExplainFlags extends InputFlags {
	readonly fromNode?: string;
	readonly fromZone?: string;
	readonly fromPod?: string;
	readonly output: ExplainForm;
}

const EXAMPLES = `
Example:
  $ sliceplane explain svc/web
  $ sliceplane explain svc/web --from-pod client-0
  $ sliceplane explain svc -n shop
  $ sliceplane explain -A -o junit > explain.xml
  $ kubectl get svc,pods,endpointslices,events -o json | sliceplane explain svc/web -f -
`;

export function addExplainCommand(root: Command, setStatus: (status: number) => void): void {
	root
		.command("explain")
		.description(
			"Say why a Service has no endpoints, or wrong ones: the whole chain, with what to do. Reads only; any cluster.\n" +
				"Exit status 0: nothing in the way, 1: something is, 2: wrong usage, 3: could not look.",
		)
		.argument("[svc/NAME]", "the Service; svc alone: every one of the namespace; none with -A")
		.option("-n, --namespace <name>", "its namespace (default: default; of a scenario demo)")
		.option("-A, --all-namespaces", "every Service of every namespace, those in trouble first")
		.option(
			"-f, --filename <file>",
			"look at files (kubectl get -o json or yaml), or at the end of a scenario, instead of a cluster; - is stdin; may be repeated",
			collect,
		)
		.addOption(new Option("--from-node <name>", "the node of the client that asks").conflicts(["fromZone", "fromPod"]))
		.addOption(new Option("--from-zone <name>", "the zone of the client that asks").conflicts(["fromNode", "fromPod"]))
		.option("--from-pod <name>", "the Pod that asks: NAME, in the Service's namespace, or NAMESPACE/NAME")
		.addOption(new Option("-o, --output <form>", "how to print").choices(EXPLAIN_FORMS).default("text"))
		.option(...CLUSTER_KUBECONFIG)
		.option(...CONTEXT)
		.addHelpText("after", EXAMPLES)
		.action(async (target: string | undefined, flags: ExplainFlags) => setStatus(await explain(target, flags)));
}

/** Whatever keeps it from looking: no cluster, no right, no file; or nothing that decides was in what it saw. */
const COULD_NOT_LOOK = 3;

async function explain(target: string | undefined, flags: ExplainFlags): Promise<number> {
	const name = serviceNamed(target, flags.allNamespaces === true);
	checkPod(flags.fromPod);
	// Loaded only now: wrong usage and --help must answer at once.
	const { explainInput } = await import("./explain-input.ts");
	let input: ExplainInput;
	try {
		input = await explainInput(flags);
	} catch (error) {
		if (error instanceof UsageError) throw error;
		process.stderr.write(`error: ${errorText(error)}\n`);
		return COULD_NOT_LOOK;
	}
	return await explained(input, name, flags);
}

async function explained(input: ExplainInput, name: string | undefined, flags: ExplainFlags): Promise<number> {
	const { Explainer } = await import("../explain/explain.ts");
	const { printExplanation, printExplanations } = await import("./explain-output.ts");
	const { namespace, snapshot } = input;
	const explainer = new Explainer(snapshot);
	const from = originOf(flags, namespace);
	if (name !== undefined) {
		const one = explainer.explain({ namespace, name, ...(from === undefined ? {} : { from }) });
		await printExplanation(one, flags.output, input);
		return statusOf([one], true);
	}
	// As kubectl: with -A a namespace says nothing.
	const only = flags.allNamespaces === true ? undefined : namespace;
	const all = explainer.explainAll(from, only);
	const isComplete = explainer.isSighted(only);
	await printExplanations(all, flags.output, { input, isComplete });
	if (!isComplete) process.stderr.write(`${blindText(only)}\n`);
	return statusOf(all, isComplete);
}

function blindText(namespace: string | undefined): string {
	return namespace === undefined
		? "Services of all namespaces were not looked at; sliceplane explain svc -n NAMESPACE looks at those of one"
		: `Services of namespace ${namespace} were not looked at`;
}

/** What was found counts more than what could not be looked at. */
function statusOf(all: readonly Explanation[], isComplete: boolean): number {
	if (all.some(({ verdict }) => verdict === "error")) return 1;
	return isComplete && all.every(({ verdict }) => verdict !== "unknown") ? 0 : COULD_NOT_LOOK;
}

/** Undefined: all of them. @throws {UsageError} */
function serviceNamed(target: string | undefined, isAll: boolean): string | undefined {
	if (isAll) {
		if (target !== undefined) throw new UsageError(`${target}: -A looks at all Services; leave one out`);
		return undefined;
	}
	const [, slash, name] = /^(?:services?|svc)(\/([^/]+))?$/.exec(target ?? "") ?? ["", "/"];
	if (slash !== undefined && name === undefined) {
		throw new UsageError(
			`${target ?? "no Service"}: want svc/NAME, such as svc/web, or -A for all, svc for a namespace's`,
		);
	}
	return name;
}

/** @throws {UsageError} */
function checkPod(pod: string | undefined): void {
	if (pod === undefined || /^(?:[^/]+\/)?[^/]+$/.test(pod)) return;
	throw new UsageError(`--from-pod ${pod}: want NAME or NAMESPACE/NAME, such as default/client-0`);
}

function originOf({ fromNode, fromZone, fromPod }: ExplainFlags, namespace: string): ClientOrigin | undefined {
	if (fromNode !== undefined) return { kind: "node", name: fromNode };
	if (fromZone !== undefined) return { kind: "zone", name: fromZone };
	if (fromPod === undefined) return undefined;
	const [name = "", own = namespace] = fromPod.split("/").reverse();
	return { kind: "pod", namespace: own, name };
}
