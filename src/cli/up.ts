/** `sliceplane up`: the whole plane, for as long as it is wanted. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Command, CommanderError } from "commander";
import { DEFAULT_PLANE_OPTIONS, type PlaneOptions } from "../wiring/plane-options.ts";
import { manifestText } from "./manifest-text.ts";
import { proxyVariables } from "./proxy-variables.ts";
import { runAround } from "./run-around.ts";
import { aborted } from "./until-stopped.ts";
import { addUpOptions, planeOptionsOf, type UpFlags } from "./up-options.ts";
import { refuseWrongOptions } from "./usage-error.ts";

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
	up.exitOverride((error) => hintAtDashes(up, error));
	up.action(async (cmd: readonly string[], flags: UpFlags) => setStatus(await runUp(cmd, flags)));
}

/** `up sh -c x`: the flag that is not known is one of the command that should run. */
function hintAtDashes(up: Command, error: CommanderError): never {
	const [first = "-"] = up.args;
	if (error.code === "commander.unknownOption" && !first.startsWith("-")) {
		process.stderr.write(`(a command to run inside the plane comes after --: sliceplane up -- ${up.args.join(" ")})\n`);
	}
	throw error;
}

async function runUp(cmd: readonly string[], flags: UpFlags): Promise<number> {
	const hasOwnFolder = flags.kubeconfig === undefined && cmd.length > 0;
	// Two commands at once in one folder must not share the file.
	const folder = hasOwnFolder ? await mkdtemp(path.join(tmpdir(), "sliceplane-")) : undefined;
	const byDefault = folder === undefined ? DEFAULT_PLANE_OPTIONS.kubeconfig : path.join(folder, "kubeconfig");
	try {
		return await runPlane(cmd, flags.filename ?? [], planeOptionsOf(flags, flags.kubeconfig ?? byDefault));
	} finally {
		if (folder !== undefined) await rm(folder, { recursive: true, force: true });
	}
}

async function runPlane(cmd: readonly string[], files: readonly string[], options: PlaneOptions): Promise<number> {
	// Loaded only now: wrong usage and --help must answer at once.
	const { checkOptions } = await import("../wiring/check-options.ts");
	refuseWrongOptions(() => checkOptions(options));
	const manifests = await Promise.all(files.map(async (file) => ({ file, text: await manifestText(file) })));
	const { startPlane } = await import("../wiring/start-plane.ts");
	const stopping = new AbortController();
	for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stopping.abort(signal));
	const { signal } = stopping;
	const plane = await startPlane(options, progress, signal).catch((error: unknown) => {
		// It stood by, and was told to stop.
		if (signal.aborted) return undefined;
		throw error;
	});
	if (plane === undefined) return 0;
	let lostStatus = 0;
	void plane.lost.then((why) => {
		progress(why);
		lostStatus = 1;
		stopping.abort("SIGTERM");
	});
	try {
		for (const { file, text } of manifests) await plane.apply(file, text, progress);
		const { kubeconfig } = plane;
		if (cmd.length > 0) {
			const status = await runAround(cmd, { kubeconfig, env: proxyVariables(plane.gateway), stopping: signal });
			return lostStatus || status;
		}
		process.stdout.write(`Sliceplane is ready: ${plane.url}  KUBECONFIG=${path.resolve(plane.kubeconfig)}\n`);
		await aborted(signal);
		progress("Stopping");
		return lostStatus;
	} finally {
		await plane.stop();
	}
}

function progress(text: string): void {
	process.stderr.write(`${text}\n`);
}
