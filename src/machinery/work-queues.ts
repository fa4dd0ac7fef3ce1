/** The work queues of a process, by one door: so that somebody can ask whether its work is done. */
import type { Clock } from "../kernel/clock.ts";
import type { Metrics } from "../kernel/metrics.ts";
import { type QueueLoad, WorkQueue, type WorkQueueOptions } from "./work-queue.ts";

/** What all queues have in common, whatever their keys are. */
type AnyQueue = Pick<WorkQueue<unknown>, "load" | "retrying">;

export interface QueueOptions extends Pick<WorkQueueOptions, "retries"> {
	readonly name: string;
	/** Default true. False for a queue that upstream has no metrics of. */
	readonly isMeasured?: boolean;
}

export class WorkQueues {
	readonly #ports: { readonly clock: Clock; readonly metrics: Metrics };
	readonly #queues = new Map<string, AnyQueue>();

	constructor({ clock, metrics }: { readonly clock: Clock; readonly metrics: Metrics }) {
		this.#ports = { clock, metrics };
	}

	/** A queue that is measured under its name. It takes the place of an earlier one of that name. */
	make<Key>({ name, isMeasured = true, ...options }: QueueOptions): WorkQueue<Key> {
		const { clock, metrics } = this.#ports;
		const queue = new WorkQueue<Key>({ clock, ...options, ...(isMeasured ? { name, metrics } : {}) });
		this.#queues.set(name, queue);
		return queue;
	}

	/** What all queues together have to do. */
	load(): QueueLoad {
		const total = { waiting: 0, processing: 0, delayed: 0, retrying: 0 };
		for (const queue of this.#queues.values()) {
			const load = queue.load();
			total.waiting += load.waiting;
			total.processing += load.processing;
			total.delayed += load.delayed;
			total.retrying += load.retrying;
		}
		return total;
	}

	/** The keys of this queue that failed and wait for another try. Empty for a queue that there is not. */
	retrying(name: string): readonly unknown[] {
		return this.#queues.get(name)?.retrying() ?? [];
	}
}
