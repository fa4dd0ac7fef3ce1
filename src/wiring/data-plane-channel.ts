/** Two ways to run the data plane: in a thread of its own, and, for tests and from source, in this one. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { CryptoRandom } from "../edge/crypto-random.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/logger.ts";
import type { Counter, Metrics } from "../kernel/metrics.ts";
import { DataPlaneEngine } from "./data-plane-engine.ts";
import type { DataPlaneConfig, FromDataPlane, ToDataPlane } from "./data-plane-messages.ts";

/** Whoever talks to the data plane. */
export interface ChannelUser {
	/** An empty data plane is there, at the start and again after a crash: tell it everything. */
	started(): void;
	received(message: FromDataPlane): void;
}

export interface Channel {
	/** Ports in the message go over to the data plane. */
	post(message: ToDataPlane): void;
	/** Resolves when the data plane has closed its listeners and connections. */
	stop(): Promise<void>;
}

export interface ChannelPorts {
	readonly clock: Clock;
	readonly log: Logger;
	readonly metrics: Metrics;
}

const WORKER_URL = new URL("./data-plane-worker.js", import.meta.url);

/** A thread of its own when the program is built, else this one. */
export function openChannel(config: DataPlaneConfig, ports: ChannelPorts, user: ChannelUser): Channel {
	return existsSync(fileURLToPath(WORKER_URL))
		? new WorkerChannel(config, ports, user)
		: new LocalChannel(config, ports, user);
}

class LocalChannel implements Channel {
	readonly #engine: DataPlaneEngine;

	constructor(config: DataPlaneConfig, ports: ChannelPorts, user: ChannelUser) {
		const send = (message: FromDataPlane): void => user.received(message);
		this.#engine = new DataPlaneEngine(config, { ...ports, random: new CryptoRandom(), send });
		// Later, as a thread would: the user does not have its channel yet.
		queueMicrotask(() => user.started());
	}

	post(message: ToDataPlane): void {
		this.#engine.receive(message);
	}

	async stop(): Promise<void> {
		this.#engine.receive({ kind: "stop" });
	}
}

/** A data plane that crashes at once is not started more often than this. */
const RESTART_MS = 1_000;
/** Time to stop in good order, before the thread is cut off. */
const STOP_MS = 2_000;
/** MB. Measured: 10,000 Services with ten endpoints each take 47, and 100,000 Pods 67. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };

class WorkerChannel implements Channel {
	#config: DataPlaneConfig;
	readonly #ports: ChannelPorts;
	readonly #user: ChannelUser;
	readonly #restarts: Counter;
	readonly #stopping = new AbortController();
	#worker: Worker | undefined;

	constructor(config: DataPlaneConfig, ports: ChannelPorts, user: ChannelUser) {
		this.#config = config;
		this.#ports = ports;
		this.#user = user;
		this.#restarts = ports.metrics.counter({
			name: "sliceplane_data_plane_restarts_total",
			help: "Times that the data plane crashed and was started again.",
		});
		this.#start();
	}

	post(message: ToDataPlane): void {
		this.#worker?.postMessage(message, message.kind === "connect" ? [message.port] : []);
	}

	async stop(): Promise<void> {
		this.#stopping.abort();
		const worker = this.#worker;
		if (worker === undefined) return;
		const stopped = new AbortController();
		worker.once("exit", () => stopped.abort());
		worker.postMessage({ kind: "stop" } satisfies ToDataPlane);
		await this.#ports.clock.sleep(STOP_MS, stopped.signal).catch(() => undefined);
		await worker.terminate();
	}

	#start(): void {
		const startedMs = this.#ports.clock.monotonicMs();
		const worker = new Worker(WORKER_URL, { workerData: this.#config, resourceLimits: RESOURCE_LIMITS });
		this.#worker = worker;
		worker.unref();
		worker.on("message", (message: FromDataPlane) => {
			this.#config = keepingPort(this.#config, message);
			this.#user.received(message);
		});
		worker.on("error", (error) => this.#ports.log.error("Data plane crashed", { error }));
		worker.once("online", () => this.#user.started());
		worker.once("exit", () => void this.#exited(startedMs));
	}

	async #exited(startedMs: number): Promise<void> {
		this.#worker = undefined;
		const { clock, log } = this.#ports;
		const { signal } = this.#stopping;
		const delayMs = Math.max(0, startedMs + RESTART_MS - clock.monotonicMs());
		await clock.sleep(delayMs, signal).catch(() => undefined);
		if (signal.aborted) return;
		this.#restarts.add();
		log.warn("Data plane was started again");
		this.#start();
	}
}

/** People were told the port that was taken: one that is started again takes the same. */
export function keepingPort(config: DataPlaneConfig, message: FromDataPlane): DataPlaneConfig {
	const { gateway, dns } = config;
	if (message.kind === "gateway" && gateway !== undefined)
		return { ...config, gateway: { ...gateway, port: message.port } };
	return message.kind === "dns" && dns !== undefined ? { ...config, dns: { ...dns, port: message.port } } : config;
}
