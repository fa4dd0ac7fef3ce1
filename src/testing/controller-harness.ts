/** One controller over a recording client, with informers that run, on virtual time. */
import type { Logger } from "../kernel/logger.ts";
import type { EventInput } from "../machinery/event-recorder.ts";
import { Informers } from "../machinery/informers.ts";
import { WorkQueues } from "../machinery/work-queues.ts";
import { RecordingClient } from "./recording-client.ts";
import { RecordingMetrics } from "./recording-metrics.ts";
import { SeededRandom } from "./seeded.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** What a controller is given, as `controllers/ports.ts` has it, with ways to look at what it did. */
export class ControllerHarness {
	readonly client: RecordingClient = new RecordingClient();
	readonly clock: VirtualClock = new VirtualClock();
	readonly random: SeededRandom = new SeededRandom(1);
	readonly metrics: RecordingMetrics = new RecordingMetrics();
	readonly events: string[] = [];
	readonly warnings: string[] = [];
	readonly recorder: { record(event: EventInput): void } = {
		record: ({ type, reason, message }) => this.events.push(`${type} ${reason} ${message}`),
	};
	readonly log: Logger = {
		debug: () => undefined,
		info: () => undefined,
		warn: (message) => this.warnings.push(message),
		error: (message) => this.warnings.push(message),
	};
	readonly informers: Informers = new Informers(this);
	readonly queues: WorkQueues = new WorkQueues(this);
	readonly #stop = new AbortController();
	#running: Promise<unknown> = Promise.resolve();

	/** Starts the controller and its informers, and lets them do what can be done without time. */
	async start(controller: { run(signal: AbortSignal): Promise<void> }): Promise<void> {
		const { signal } = this.#stop;
		this.#running = Promise.all([controller.run(signal), this.informers.run(signal)]);
		await this.clock.advance(0);
	}

	async stop(): Promise<void> {
		this.#stop.abort();
		await this.#running;
	}
}
