/** What every controller is given, and what it is. */
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/logger.ts";
import type { Metrics } from "../kernel/metrics.ts";
import type { Random } from "../kernel/random.ts";
import type { ApiClient } from "../machinery/api-client.ts";
import type { EventSink } from "../machinery/event-recorder.ts";
import type { Informers } from "../machinery/informers.ts";
import type { WorkQueues } from "../machinery/work-queues.ts";

export interface ControllerPorts {
	readonly client: ApiClient;
	/** Shared by all controllers; whoever made them runs them. */
	readonly informers: Informers;
	readonly queues: WorkQueues;
	readonly clock: Clock;
	readonly random: Random;
	readonly log: Logger;
	readonly metrics: Metrics;
	readonly recorder: EventSink;
}

export interface Controller {
	/** As kube-controller-manager spells it in `--controllers`: `endpointslice-controller`. */
	readonly name: string;
	/** Works until `signal` aborts; nothing is processed before the caches it reads are filled. Never rejects for that. */
	run(signal: AbortSignal): Promise<void>;
}
