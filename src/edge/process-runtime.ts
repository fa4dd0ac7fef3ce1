/**
 * Containers as processes of this machine, for whoever asked for them: one for each container with a command.
 *
 * Each is the leader of a process group of its own, so that what it started ends with it; what has left the group is
 * found by its mark, on Linux. None outlives this program, unless this program is killed by SIGKILL.
 */
import { randomBytes } from "node:crypto";
import { type AddressInfo, createServer } from "node:net";
import type { Container } from "../api/types/core.ts";
import type { Clock } from "../kernel/clock.ts";
import type { ContainerRuntime, ContainerStart, PortMap, RunningContainer } from "../kubelet/ports.ts";
import { environmentOf, expanded } from "../plan/pod-lifecycle/process-environment.ts";
import { killMarked, MARK } from "./marked-processes.ts";
import { startProcess } from "./process-container.ts";

export class ProcessRuntime implements ContainerRuntime {
	readonly #clock: Clock;
	readonly #running = new Set<RunningContainer>();
	#isStopping = false;
	/** What marks of this runtime begin with. */
	readonly #prefix = `${randomBytes(8).toString("hex")}.`;
	#started = 0;
	/** Marks of processes that have ended, while what they left behind has not been looked for. */
	readonly #over = new Set<string>();
	readonly #killAll = (): void => {
		for (const container of this.#running) container.stop("SIGKILL");
	};
	/** The last moment of this program, also after an error that nobody caught. */
	readonly #killTraces = (): void => {
		this.#killAll();
		killMarked((mark) => mark.startsWith(this.#prefix));
	};

	constructor(clock: Clock) {
		this.#clock = clock;
		process.on("exit", this.#killTraces);
	}

	runs({ command = [] }: Container): boolean {
		return command.length > 0;
	}

	async ports({ ports = [] }: Container): Promise<PortMap> {
		const found = await Promise.all(ports.map(async ({ containerPort }) => [containerPort, await freePort()] as const));
		return Object.fromEntries(found);
	}

	start({ pod, container, output, ...place }: ContainerStart): RunningContainer {
		const { variables, problems } = environmentOf(pod, container, place);
		for (const problem of problems) output(problem);
		const words = [...(container.command ?? []), ...(container.args ?? [])];
		const mark = `${this.#prefix}${this.#started++}`;
		const started = startProcess({
			words: words.map((word) => expanded(word, variables)),
			env: { ...process.env, ...Object.fromEntries(variables), [MARK]: mark },
			cwd: container.workingDir === undefined || container.workingDir === "" ? process.cwd() : container.workingDir,
			output,
			over: () => this.#sweep(mark),
		});
		this.#running.add(started);
		void started.ended.then(() => this.#running.delete(started));
		if (this.#isStopping) started.stop("SIGKILL");
		return started;
	}

	/** Resolves when no process is left: SIGTERM first, and SIGKILL after `graceMs`. */
	async stop(graceMs: number): Promise<void> {
		this.#isStopping = true;
		const all = Promise.all([...this.#running].map(({ ended }) => ended));
		for (const container of this.#running) container.stop("SIGTERM");
		const done = new AbortController();
		void this.#clock.sleep(graceMs, done.signal).then(this.#killAll, () => undefined);
		await all;
		done.abort();
		this.#killTraces();
		process.off("exit", this.#killTraces);
	}

	/** One look at all processes does for all that end at once. */
	#sweep(mark: string): void {
		this.#over.add(mark);
		if (this.#over.size > 1) return;
		setImmediate(() => {
			const over = new Set(this.#over);
			this.#over.clear();
			killMarked((found) => over.has(found));
		});
	}
}

/** Nobody listens on it now; the process takes it a moment later. */
function freePort(): Promise<number> {
	return new Promise((resolve, reject) => {
		const server = createServer().once("error", reject);
		server.listen(0, "127.0.0.1", () => {
			const { port } = server.address() as AddressInfo;
			server.close(() => resolve(port));
		});
	});
}
