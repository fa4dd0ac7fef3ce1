/** `sliceplane fail node/N` and `recover node/N`: a simulated node falls silent, and comes back. */

import type { Command } from "commander";
import { CONTEXT, PLANE_KUBECONFIG } from "./flag-rows.ts";
import { UsageError } from "./usage-error.ts";

interface FailFlags {
	readonly kubeconfig?: string;
	readonly context?: string;
}

export function addFailCommands(root: Command): void {
	add(root, {
		name: "fail",
		description:
			"Make a simulated node fall silent: no heartbeats, nothing happens to its pods.\n" +
			"After the grace period (up --node-monitor-grace-period) it is NotReady, and its pods are out of service.",
		said: (node) => `node/${node} is silent`,
		isFailed: true,
	});
	add(root, {
		name: "recover",
		description: "Let a silent node come back.",
		said: (node) => `node/${node} is back`,
		isFailed: false,
	});
}

interface Words {
	readonly name: string;
	readonly description: string;
	readonly said: (node: string) => string;
	readonly isFailed: boolean;
}

function add(root: Command, { name, description, said, isFailed }: Words): void {
	root
		.command(name)
		.description(description)
		.argument("<node/NAME>", "the node")
		.option(...PLANE_KUBECONFIG)
		.option(...CONTEXT)
		.addHelpText("after", `\nExample:\n  $ sliceplane ${name} node/n2 --kubeconfig .sliceplane/kubeconfig\n`)
		.action(async (target: string, flags: FailFlags) => {
			const node = nodeNamed(target);
			await setFailed(node, isFailed, flags);
			process.stdout.write(`${said(node)}\n`);
		});
}

/** @throws {UsageError} */
function nodeNamed(target: string): string {
	const [, node] = /^(?:nodes?|no)\/([^/]+)$/.exec(target) ?? [];
	if (node === undefined) throw new UsageError(`${target}: want node/NAME, such as node/n2`);
	return node;
}

async function setFailed(node: string, isFailed: boolean, flags: FailFlags): Promise<void> {
	// Loaded only now: wrong usage and --help must answer at once.
	const { clusterClient } = await import("../wiring/cluster-client.ts");
	const { setNodeFailed } = await import("../wiring/fail-node.ts");
	const client = await clusterClient({ ...flags, files: process.env["KUBECONFIG"] });
	try {
		await setNodeFailed(client, node, isFailed);
	} finally {
		client.close();
	}
}
