/** The built program and real clients, for end-to-end tests. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = path.join(path.dirname(fileURLToPath(import.meta.url)), "../..");
export const PROGRAM: string = path.join(ROOT, "bin/sliceplane");
/** One for all tests: only the first start of a machine makes certificates. */
export const CACHE: string = path.join(ROOT, ".cache");

export interface Finished {
	readonly status: number;
	readonly stdout: string;
	readonly stderr: string;
}

/** Runs a program to its end; never rejects for its exit status. */
export function finished(
	file: string,
	args: readonly string[],
	options: { readonly env?: NodeJS.ProcessEnv; readonly input?: string; readonly cwd?: string } = {},
): Promise<Finished> {
	return new Promise((resolve) => {
		const { env = process.env, cwd = process.cwd() } = options;
		const child = execFile(
			file,
			[...args],
			{ env, cwd, maxBuffer: 64 * 1024 * 1024, timeout: 120_000 },
			(error, stdout, stderr) => {
				const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
				resolve({ status: code, stdout, stderr });
			},
		);
		// A program that ends before it has read its input is no failure.
		child.stdin?.on("error", () => undefined);
		child.stdin?.end(options.input ?? "");
	});
}

/** A plane of its own process, with a folder of its own. */
export class RunningPlane {
	readonly folder: string;
	readonly kubeconfig: string;
	readonly process: ChildProcess;
	stdout = "";
	stderr = "";

	private constructor(folder: string, flags: readonly string[], before: readonly string[]) {
		this.folder = folder;
		this.kubeconfig = path.join(folder, "kubeconfig");
		const args = [PROGRAM, "up", "--listen", "127.0.0.1:0", "--kubeconfig", this.kubeconfig, ...flags];
		const [file = "", ...words] = [...before, process.execPath, ...args];
		this.process = spawn(file, words, { cwd: folder, env: { ...process.env, XDG_CACHE_HOME: CACHE } });
		this.process.stdout?.on("data", (chunk) => {
			this.stdout += String(chunk);
		});
		this.process.stderr?.on("data", (chunk) => {
			this.stderr += String(chunk);
		});
	}

	/**
	 * Resolves when the plane has said that it is ready.
	 * @param before What its program is run by, such as `ip netns exec NAME`.
	 */
	static async start(flags: readonly string[] = [], before: readonly string[] = []): Promise<RunningPlane> {
		const plane = new RunningPlane(mkdtempSync(path.join(tmpdir(), "sliceplane-")), flags, before);
		await new Promise<void>((resolve, reject) => {
			plane.process.stdout?.on("data", () => {
				if (plane.stdout.includes("Sliceplane is ready")) resolve();
			});
			plane.process.once("exit", (status) => reject(new Error(`up ended with ${status}: ${plane.stderr}`)));
		});
		return plane;
	}

	/** `https://127.0.0.1:PORT` */
	get url(): string {
		return /https:\/\/\S+/.exec(this.stdout)?.[0] ?? "";
	}

	/** Runs kubectl with a HOME of its own: discovery is cached there. */
	kubectl(binary: string, args: readonly string[], input?: string): Promise<Finished> {
		const home = path.join(this.folder, path.basename(binary));
		const env = { ...process.env, HOME: home, KUBECONFIG: this.kubeconfig };
		return finished(binary, args, { env, cwd: this.folder, ...(input === undefined ? {} : { input }) });
	}

	/** Ends the plane with SIGTERM, or another signal, and resolves with its exit status. */
	async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
		const exited = new Promise<number | null>((resolve) => this.process.once("exit", (status) => resolve(status)));
		if (this.process.exitCode !== null) return this.process.exitCode;
		this.process.kill(signal);
		const status = await exited;
		rmSync(this.folder, { recursive: true, force: true });
		return status;
	}
}

/** Asks until `ask` gives what `isRight` wants; the last answer is shown when time is over. */
export async function eventually<T>(
	ask: () => Promise<T>,
	isRight: (answer: T) => boolean,
	options: { readonly withinMs?: number; readonly what?: string } = {},
): Promise<T> {
	const endMs = performance.now() + (options.withinMs ?? 30_000);
	for (;;) {
		const answer = await ask();
		if (isRight(answer)) return answer;
		if (performance.now() > endMs)
			throw new Error(`${options.what ?? "never became right"}: ${JSON.stringify(answer)}`);
		await new Promise((resolve) => setTimeout(resolve, 50));
	}
}
