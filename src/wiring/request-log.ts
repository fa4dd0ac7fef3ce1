/** The requests that echo pods answered, on their way to the containers' logs: in batches, and so many at most. */

import type { Clock } from "../kernel/clock.ts";
import type { Counter, Metrics } from "../kernel/metrics.ts";
import type { AnsweredRequest } from "../machinery/answered-request.ts";

const FLUSH_MS = 50;
/** Requests of one batch; what comes beyond is counted and not told. */
const BATCH_MAX = 500;

export interface RequestLogPorts {
	readonly clock: Clock;
	readonly metrics: Metrics;
	tell(requests: readonly AnsweredRequest[]): void;
}

export class RequestLog {
	readonly #ports: RequestLogPorts;
	readonly #dropped: Counter;
	#batch: AnsweredRequest[] = [];

	constructor(ports: RequestLogPorts) {
		this.#ports = ports;
		this.#dropped = ports.metrics.counter({
			name: "sliceplane_request_log_dropped_total",
			help: "Answered requests that are in no container's log, for too many came at once.",
		});
	}

	add(request: AnsweredRequest): void {
		if (this.#batch.length >= BATCH_MAX) this.#dropped.add(1);
		else if (this.#batch.push(request) === 1) void this.#flushSoon();
	}

	async #flushSoon(): Promise<void> {
		await this.#ports.clock.sleep(FLUSH_MS);
		this.#ports.tell(this.#batch);
		this.#batch = [];
	}
}
