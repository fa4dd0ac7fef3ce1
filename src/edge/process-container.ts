/** One container as a process, and the commands that run beside it. */
import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import type { ContainerExit, ProbeOutcome, RunningContainer } from "../kubelet/ports.ts";
import { forEachLine } from "./output-lines.ts";
import { systemReason } from "./system-reason.ts";

export interface ProcessStart {
	/** The program, and its arguments. */
	readonly words: readonly string[];
	readonly env: NodeJS.ProcessEnv;
	readonly cwd: string;
	/** Told each line that it prints. */
	output(text: string): void;
	/** It has ended, and its group with it; what has left the group may still be there. */
	over(): void;
}

/** What a shell reports for a process that a signal ended. */
const SIGNAL_STATUS = 128;
/** What a kubelet reports for a container that could not be started. */
const NOT_STARTED: Pick<ContainerExit, "exitCode" | "reason"> = { exitCode: 128, reason: "StartError" };
/** After the end of a process, for the last lines that it printed. */
const PIPES_MS = 1_000;
/** Bytes of a command's output that are kept, as a kubelet does. */
const OUTPUT_BYTES_MAX = 10_240;
/** Windows has no groups of processes. */
const HAS_GROUPS = process.platform !== "win32";

/** One that cannot be started has ended at once. */
export function startProcess(start: ProcessStart): RunningContainer {
	try {
		return new ProcessContainer(start);
	} catch (error) {
		const exit = { ...NOT_STARTED, message: `failed to start: ${systemReason(error)}` };
		return {
			ended: Promise.resolve(exit),
			stop: () => undefined,
			exec: async () => ({ isSuccess: false, message: exit.message }),
		};
	}
}

class ProcessContainer implements RunningContainer {
	readonly ended: Promise<ContainerExit>;
	readonly #start: ProcessStart;
	readonly #child: ChildProcess;
	#isOver = false;

	constructor(start: ProcessStart) {
		this.#start = start;
		this.#child = started(start.words, start);
		for (const stream of [this.#child.stdout, this.#child.stderr]) {
			if (stream !== null) forEachLine(stream, start.output);
		}
		this.#child.once("exit", () => {
			this.#isOver = true;
			killGroup(this.#child);
			start.over();
		});
		this.ended = exitOf(this.#child);
	}

	stop(how: "SIGTERM" | "SIGKILL"): void {
		if (this.#isOver) return;
		// As in a container: SIGTERM is for the first process, the end is for all.
		if (how === "SIGKILL") killGroup(this.#child);
		this.#child.kill(how);
	}

	exec(words: readonly string[], signal: AbortSignal): Promise<ProbeOutcome> {
		let child: ChildProcess;
		try {
			child = started(words, this.#start);
		} catch (error) {
			return Promise.resolve({ isSuccess: false, message: systemReason(error) });
		}
		const chunks: Buffer[] = [];
		let bytes = 0;
		for (const stream of [child.stdout, child.stderr]) {
			stream?.on("data", (chunk: Buffer) => {
				if (bytes < OUTPUT_BYTES_MAX) chunks.push(chunk);
				bytes += chunk.length;
			});
		}
		const end = (): void => {
			if (child.exitCode !== null || child.signalCode !== null) return;
			killGroup(child);
			child.kill("SIGKILL");
		};
		if (signal.aborted) end();
		else signal.addEventListener("abort", end, { once: true });
		void this.ended.then(end);
		return exitOf(child).then(({ exitCode, message }) => {
			signal.removeEventListener("abort", end);
			const output = message ?? Buffer.concat(chunks).toString().slice(0, OUTPUT_BYTES_MAX);
			return { isSuccess: exitCode === 0, message: signal.aborted ? `command timed out: ${output}` : output };
		});
	}
}

function started([file = "", ...args]: readonly string[], { env, cwd }: ProcessStart): ChildProcess {
	return spawn(file, args, { env, cwd, stdio: ["ignore", "pipe", "pipe"], detached: HAS_GROUPS });
}

/** The process, or it and what it started. Of a leader that has just ended the group is still its own. */
function killGroup({ pid }: ChildProcess): void {
	if (pid === undefined || !HAS_GROUPS) return;
	try {
		process.kill(-pid, "SIGKILL");
	} catch {
		// Nobody is left in it.
	}
}

/** Resolves when it has ended and its output is read. */
function exitOf(child: ChildProcess): Promise<ContainerExit> {
	return new Promise((resolve) => {
		child.once("error", (error) => resolve({ ...NOT_STARTED, message: `failed to start: ${systemReason(error)}` }));
		// One that left the group may hold the pipes for ever; its container is over all the same.
		child.once("exit", () => {
			const timer = setTimeout(() => [child.stdout, child.stderr].map((stream) => stream?.destroy()), PIPES_MS);
			child.once("close", () => clearTimeout(timer));
		});
		child.once("close", (code, signal) => {
			resolve({ exitCode: code ?? SIGNAL_STATUS + constants.signals[signal ?? "SIGKILL"] });
		});
	});
}
