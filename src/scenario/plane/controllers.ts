/** A component that runs controllers: it can be stopped, started and paused, and its door to the API can be faulty. */
import { setMaxListeners } from "node:events";
import type { InProcessClient } from "../../apiserver/in-process-client.ts";
import type { Controller, ControllerPorts } from "../../controllers/ports.ts";
import type { Random } from "../../kernel/random.ts";
import { EventRecorder } from "../../machinery/event-recorder.ts";
import { Informers } from "../../machinery/informers.ts";
import { WorkQueues } from "../../machinery/work-queues.ts";
import { FaultyClient } from "../../testing/faulty-client.ts";
import { silentMetrics } from "../../testing/silent.ts";
import type { VirtualClock } from "../../testing/virtual-clock.ts";
import type { ComponentFaults } from "./component-faults.ts";
import { ComponentLog } from "./component-log.ts";

export interface ControllersPorts {
	readonly client: InProcessClient;
	readonly clock: VirtualClock;
	readonly random: Random;
	readonly faults: ComponentFaults;
	readonly make: (ports: ControllerPorts) => readonly Controller[];
}

interface Life {
	readonly client: FaultyClient;
	readonly informers: Informers;
	readonly queues: WorkQueues;
	readonly log: ComponentLog;
	readonly stopping: AbortController;
	readonly running: Promise<unknown>;
}

export class Controllers {
	readonly faults: ComponentFaults;
	readonly #ports: ControllersPorts;
	#life: Life | undefined;
	/** Of the last life, also when it is over. */
	#log: ComponentLog;

	constructor(ports: ControllersPorts) {
		this.#ports = ports;
		this.faults = ports.faults;
		this.#log = new ComponentLog(ports.clock);
	}

	get log(): ComponentLog {
		return this.#log;
	}

	/** What its readiness check says. */
	get isReady(): boolean {
		return this.#life?.informers.hasSynced ?? false;
	}

	/** Keys of this queue whose last sync failed, and who wait for another. */
	retrying(queue: string): readonly unknown[] {
		return this.#life?.queues.retrying(queue) ?? [];
	}

	start(): void {
		if (this.#life !== undefined) return;
		const { client: server, clock, random, faults, make } = this.#ports;
		const log = new ComponentLog(clock);
		const client = new FaultyClient(server, faults);
		const shared = { client, clock, random, log, metrics: silentMetrics };
		const informers = new Informers(shared);
		const recorder = new EventRecorder(shared);
		const queues = new WorkQueues(shared);
		const stopping = new AbortController();
		// Every sleep of every controller listens to this one signal.
		setMaxListeners(0, stopping.signal);
		const parts = [recorder, ...make({ ...shared, informers, queues, recorder }), informers];
		const running = Promise.all(parts.map((part) => part.run(stopping.signal)));
		this.#life = { client, informers, queues, log, stopping, running };
		this.#log = log;
	}

	async stop(): Promise<void> {
		const life = this.#life;
		this.#life = undefined;
		life?.stopping.abort();
		await life?.running;
	}

	breakWatches(): void {
		this.#life?.client.breakWatches();
	}

	/** What is left to do, for people. */
	unsettled(): readonly string[] {
		if (this.#life === undefined || this.faults.pause.isClosed) return [];
		const { informers, queues } = this.#life;
		const left = Object.entries(queues.load()).filter(([, count]) => count > 0);
		return [
			...(informers.areFollowing ? [] : [`${this.faults.name}: caches do not follow the server`]),
			...left.map(([what, count]) => `${this.faults.name}: ${count} ${what}`),
		];
	}

	/**
	 * Whether nothing is left to do, once everything has run that needs no time. What is paused, stopped or held
	 * back does not count.
	 */
	isSettled(allowRetry: boolean): boolean {
		if (this.#life === undefined || this.faults.pause.isClosed) return true;
		const { informers, queues } = this.#life;
		if (!informers.areFollowing) return false;
		const { waiting, processing, delayed, retrying } = queues.load();
		if (waiting > 0 || processing > this.faults.heldReplies) return false;
		// A cache that lags makes its controllers come back again and again.
		return this.faults.isLagging || (delayed === 0 && (retrying === 0 || allowRetry));
	}
}
