/** The plane's end of a process in a network namespace. One that ends by itself is started again, and told everything. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { systemPath } from "../edge/netns/run-ip.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/logger.ts";
import type { FromNodeAgent, NodeAgentConfig, ToNodeAgent } from "./node-agent-messages.ts";

export interface AgentProcessPorts {
	readonly clock: Clock;
	readonly log: Logger;
	/** What is neither an answer nor a line of the log. */
	received(message: FromNodeAgent): void;
	/** An empty one is there again: tell it everything. */
	restarted(): void;
}

const PROGRAM = fileURLToPath(new URL("./node-agent.js", import.meta.url));
/** One that ends at once is not started more often than this. */
const RESTART_MS = 1_000;
/** To start, on a machine under load. */
const START_MS_MAX = 30_000;

export class AgentProcess {
	/** Resolves when it works. Rejects when it cannot. */
	readonly ready: Promise<void>;
	readonly #namespace: string;
	readonly #config: NodeAgentConfig;
	readonly #ports: AgentProcessPorts;
	readonly #waiting = new Map<number, () => void>();
	#next = 1;
	#child: ChildProcess | undefined;
	readonly #stopping = new AbortController();

	constructor(namespace: string, config: NodeAgentConfig, ports: AgentProcessPorts) {
		this.#namespace = namespace;
		this.#config = config;
		this.#ports = ports;
		this.ready = this.#start();
	}

	/** Resolves when it is carried out, or its process is gone: then all is told to the next one anyway. */
	ask(message: WithoutId): Promise<void> {
		const id = this.#next++;
		return new Promise((resolve) => {
			if (this.#child?.connected !== true) return resolve();
			this.#waiting.set(id, resolve);
			this.tell({ ...message, id });
		});
	}

	tell(message: ToNodeAgent): void {
		if (this.#child?.connected === true) this.#child.send(message, () => undefined);
	}

	/** Resolves when the process is gone. */
	stop(): Promise<void> {
		this.#stopping.abort();
		const child = this.#child;
		if (child === undefined || child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
		return new Promise((resolve) => {
			child.once("exit", () => resolve());
			child.kill("SIGKILL");
		});
	}

	#start(): Promise<void> {
		const child = spawn("ip", ["netns", "exec", this.#namespace, process.execPath, PROGRAM], {
			stdio: ["ignore", "ignore", "inherit", "ipc"],
			serialization: "advanced",
			env: { PATH: systemPath() },
		});
		this.#child = child;
		const ready = new Promise<void>((resolve, reject) => {
			void this.#ports.clock
				.sleep(START_MS_MAX, this.#stopping.signal)
				.then(() => reject(new Error(`no answer from namespace ${this.#namespace} in ${START_MS_MAX / 1_000} s`)))
				.catch(() => undefined);
			child.on("message", (message) => this.#received(message as FromNodeAgent, resolve, reject));
			child.once("error", reject);
			child.once("exit", (status, signal) => {
				reject(new Error(`the process in namespace ${this.#namespace} ended with ${signal ?? status}`));
				void this.#exited(child);
			});
		});
		// Whoever wants to know asks.
		ready.catch(() => undefined);
		this.tell({ kind: "start", config: this.#config });
		return ready;
	}

	#received(message: FromNodeAgent, resolve: () => void, reject: (error: Error) => void): void {
		const { log, received } = this.#ports;
		switch (message.kind) {
			case "ready":
				resolve();
				return;
			case "failed":
				log.error("A process of a node failed", { namespace: this.#namespace, reason: message.message });
				reject(new Error(`namespace ${this.#namespace}: ${message.message}`));
				return;
			case "done":
				this.#waiting.get(message.id)?.();
				this.#waiting.delete(message.id);
				return;
			case "log":
				log[message.level](message.message, message.fields);
				return;
			default:
				received(message);
		}
	}

	async #exited(child: ChildProcess): Promise<void> {
		if (this.#child !== child) return;
		for (const resolve of this.#waiting.values()) resolve();
		this.#waiting.clear();
		const { signal } = this.#stopping;
		const { clock, log, restarted } = this.#ports;
		await clock.sleep(RESTART_MS, signal).catch(() => undefined);
		if (signal.aborted) return;
		log.warn("A process of a node ended, and is started again", { namespace: this.#namespace });
		await this.#start().then(restarted, () => undefined);
	}
}

type WithoutId = ToNodeAgent extends infer Message
	? Message extends { readonly id: number }
		? Omit<Message, "id">
		: never
	: never;
