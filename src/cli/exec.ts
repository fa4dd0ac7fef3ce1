/** `sliceplane exec` and `shell`: a command as a client pod of its own, on a node that is a network namespace. */

import { type Command, InvalidArgumentError, Option } from "commander";
import type { StringMap } from "../api/types/meta.ts";
import { CONTEXT, PLANE_KUBECONFIG } from "./flag-rows.ts";
import { statusOf } from "./run-around.ts";
import { runInside } from "./run-inside.ts";
import { UsageError } from "./usage-error.ts";

interface ExecFlags {
	readonly kubeconfig?: string;
	readonly context?: string;
	readonly node?: string;
	readonly namespace: string;
	readonly labels: StringMap;
}

export function addExecCommands(root: Command, setStatus: (status: number) => void): void {
	const exec = root
		.command("exec")
		.description(
			"Run a command as a client pod of its own on a node of a plane with --network netns.\n" +
				"It has a pod's address, cluster IPs, node ports and DNS; its exit status is passed on.",
		)
		.argument("<cmd...>", "the command, after --");
	withFlags(exec)
		.addHelpText("after", "\nExample:\n  $ sliceplane exec --node n2 -- curl -s http://web.default.svc/hostname\n")
		.action(async (cmd: readonly string[], flags: ExecFlags) => setStatus(await run(cmd, flags)));
	const shell = root.command("shell").description("The same with your shell as the command.");
	withFlags(shell)
		.addHelpText("after", "\nExample:\n  $ sliceplane shell --node n2\n")
		.action(async (flags: ExecFlags) => setStatus(await run([process.env["SHELL"] ?? "/bin/sh"], flags)));
}

function withFlags(command: Command): Command {
	return command
		.option("--node <name>", "node that it is behind; default: the first")
		.option("-n, --namespace <name>", "namespace of its Pod", "default")
		.addOption(
			new Option("-l, --labels <a=b,...>", "labels of its Pod: Services may select it")
				.argParser(labels)
				.default({}, "none"),
		)
		.option(...PLANE_KUBECONFIG)
		.option(...CONTEXT);
}

async function run(cmd: readonly string[], flags: ExecFlags): Promise<number> {
	// Loaded only now: wrong usage and --help must answer at once.
	const { netnsProblem } = await import("../edge/netns/netns-problem.ts");
	const problem = netnsProblem();
	if (problem !== undefined) throw new UsageError(`exec: ${problem}`);
	const { openClientPod } = await import("../wiring/open-client-pod.ts");
	// From here on there is something to remove: a signal no longer ends this program, but what it does.
	let early: NodeJS.Signals | undefined;
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
		process.on(signal, () => {
			early ??= signal;
		});
	}
	const pod = await openClientPod({ ...flags, files: process.env["KUBECONFIG"] });
	try {
		if (early !== undefined) return statusOf(early);
		return await runInside(pod, cmd, { ...process.env, KUBECONFIG: pod.kubeconfig });
	} finally {
		await pod.remove();
	}
}

function labels(value: string): StringMap {
	const pairs = value.split(",").map((pair) => /^([^=]+)=([^=]*)$/.exec(pair));
	if (pairs.some((pair) => pair === null))
		throw new InvalidArgumentError("Want NAME=VALUE, such as app=web,tier=front.");
	return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? "", pair?.[2] ?? ""]));
}
