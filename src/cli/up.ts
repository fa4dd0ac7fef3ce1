/** `sliceplane up`: the whole plane, for as long as it is wanted. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Command } from "commander";
import type { Plane } from "../wiring/start-plane.ts";
import { runAround } from "./run-around.ts";
import { addUpOptions, planeOptionsOf, type UpFlags } from "./up-options.ts";

export function addUpCommand(root: Command, setStatus: (status: number) => void): void {
	const up = root
		.command("up")
		.description(
			"Start the whole plane: API, controllers, simulated nodes and traffic. Prints one line when it is ready.\n" +
				"With -- CMD, run CMD with KUBECONFIG set, pass its exit status on, and tear everything down.",
		)
		.argument("[cmd...]", "command to run inside the plane, after --")
		.addHelpText(
			"after",
			"\nExamples:\n" +
				"  $ sliceplane up --nodes 5 --zones a,b,c\n" +
				"  $ sliceplane up -f deployment.yaml -f service.yaml\n" +
				"  $ sliceplane up --listen 127.0.0.1:0 -- npm test\n",
		);
	addUpOptions(up);
	up.action(async (cmd: readonly string[], flags: UpFlags) => setStatus(await runUp(cmd, flags)));
}

async function runUp(cmd: readonly string[], flags: UpFlags): Promise<number> {
	const options = planeOptionsOf(flags);
	const manifests = await Promise.all((flags.filename ?? []).map(async (file) => ({ file, text: await textOf(file) })));
	// Loaded only now: wrong usage and --help must answer at once.
	const { startPlane } = await import("../wiring/start-plane.ts");
	const stopping = new AbortController();
	const stop = (): void => stopping.abort();
	process.once("SIGINT", stop);
	process.once("SIGTERM", stop);
	const plane = await startPlane(options, progress);
	try {
		for (const { file, text } of manifests) await plane.apply(file, text, progress);
		if (cmd.length > 0) return await runAround(cmd, plane, stopping.signal);
		process.stdout.write(`Sliceplane is ready: ${plane.url}  KUBECONFIG=${shown(plane)}\n`);
		await aborted(stopping.signal);
		progress("Stopping");
		return 0;
	} finally {
		await plane.stop();
	}
}

function shown(plane: Plane): string {
	return path.resolve(plane.kubeconfig);
}

async function textOf(file: string): Promise<string> {
	if (file !== "-") return readFile(file, "utf8");
	const chunks: Buffer[] = [];
	for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
	return Buffer.concat(chunks).toString("utf8");
}

function progress(text: string): void {
	process.stderr.write(`${text}\n`);
}

function aborted(signal: AbortSignal): Promise<void> {
	if (signal.aborted) return Promise.resolve();
	return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
