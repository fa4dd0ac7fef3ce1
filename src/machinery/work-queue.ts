/**
 * Keys waiting to be reconciled, by the rules of client-go's work queue:
 *
 *  - a key waits at most once, and is never handed to two workers;
 *  - a key added while it is being processed waits until `done`, then is handed out once more;
 *  - of two delayed adds of one key the earlier wins; an immediate add leaves a delayed one standing.
 *
 * Keys are compared as a Map compares them: strings by value, objects by identity.
 */
import type { Clock } from "../kernel/clock.ts";
import type { Metrics } from "../kernel/metrics.ts";
import { DelayedKeys } from "./delayed-keys.ts";
import { RetryLimiter, type RetryLimits } from "./retry-limiter.ts";
import { type QueueMetrics, queueMetrics } from "./work-queue-metrics.ts";

export interface WorkQueueOptions {
	/** Label of the queue's metrics, such as `endpoint_slice`. A queue without a name is not measured. */
	readonly name?: string;
	readonly clock: Clock;
	readonly metrics?: Metrics;
	readonly retries?: RetryLimits;
}

/** Keys of a queue, counted by what they wait for. */
export interface QueueLoad {
	/** Added, and not handed out yet. */
	readonly waiting: number;
	/** Handed out and not done. */
	readonly processing: number;
	/** Due at a later time, though nothing failed. */
	readonly delayed: number;
	/** Failed, and due for another try at a later time. */
	readonly retrying: number;
}

export class WorkQueue<Key> {
	readonly #clock: Clock;
	readonly #metrics: QueueMetrics;
	readonly #limiter: RetryLimiter<Key>;
	readonly #delayed: DelayedKeys<Key>;
	/** Keys in order of arrival; those before `#head` have been handed out. */
	#waiting: Key[] = [];
	#head = 0;
	/** When each key was added that is not yet handed out. */
	readonly #dirty = new Map<Key, number>();
	readonly #processing = new Map<Key, number>();
	readonly #takers: ((key: Key | undefined) => void)[] = [];
	#stopped = false;

	constructor(options: WorkQueueOptions) {
		this.#clock = options.clock;
		const { name = "" } = options;
		this.#metrics = queueMetrics(name === "" ? undefined : options.metrics, name, () => this.#workingSeconds());
		this.#limiter = new RetryLimiter(options.retries);
		this.#delayed = new DelayedKeys(options.clock, (key) => this.add(key));
	}

	/** Keys that could be handed out now. */
	get depth(): number {
		return this.#waiting.length - this.#head;
	}

	load(): QueueLoad {
		const retrying = this.retrying().length;
		return {
			waiting: this.#dirty.size,
			processing: this.#processing.size,
			delayed: this.#delayed.size - retrying,
			retrying,
		};
	}

	/** The keys that failed and are due for another try at a later time. */
	retrying(): readonly Key[] {
		return this.#delayed.keys().filter((key) => this.requeues(key) > 0);
	}

	add(key: Key): void {
		if (this.#stopped || this.#dirty.has(key)) return;
		this.#dirty.set(key, this.#clock.monotonicMs());
		this.#metrics.added();
		if (!this.#processing.has(key)) this.#hand(key);
	}

	/** A delay of 0 or less adds at once. */
	addAfter(key: Key, delayMs: number): void {
		if (this.#stopped) return;
		if (delayMs <= 0) this.add(key);
		else this.#delayed.add(key, delayMs);
	}

	/** Counts a failure of the key and adds it again after its back-off. */
	addRateLimited(key: Key): void {
		this.#metrics.retried();
		this.addAfter(key, this.#limiter.delayMs(key, this.#clock.monotonicMs()));
	}

	/** How often in a row the key was added by `addRateLimited`. */
	requeues(key: Key): number {
		return this.#limiter.failures(key);
	}

	/** Forgets the key's failures: it succeeded, or was given up. */
	forget(key: Key): void {
		this.#limiter.forget(key);
	}

	/** The next key; undefined once the queue is stopped. Every key taken must be given to `done`. */
	take(): Promise<Key | undefined> {
		return new Promise((resolve) => {
			if (this.#stopped) resolve(undefined);
			else if (this.depth > 0) resolve(this.#start(this.#shift()));
			else this.#takers.push(resolve);
		});
	}

	done(key: Key): void {
		const startedMs = this.#processing.get(key);
		if (startedMs === undefined) return;
		this.#processing.delete(key);
		this.#metrics.finished((this.#clock.monotonicMs() - startedMs) / 1000);
		if (this.#dirty.has(key)) this.#hand(key);
	}

	/** Hands out nothing more and takes nothing in. Waiting takers get undefined. */
	stop(): void {
		this.#stopped = true;
		this.#delayed.stop();
		this.#waiting = [];
		this.#head = 0;
		this.#dirty.clear();
		for (const taker of this.#takers.splice(0)) taker(undefined);
	}

	#hand(key: Key): void {
		if (this.#stopped) return;
		const taker = this.#takers.shift();
		if (taker === undefined) this.#waiting.push(key);
		else taker(this.#start(key));
		this.#metrics.depth(this.depth);
	}

	#shift(): Key {
		const key = this.#waiting[this.#head++] as Key;
		// Cut off what was handed out once it is half of the list, so that taking stays cheap.
		if (this.#head * 2 > this.#waiting.length) {
			this.#waiting.splice(0, this.#head);
			this.#head = 0;
		}
		this.#metrics.depth(this.depth);
		return key;
	}

	#workingSeconds(): readonly number[] {
		const nowMs = this.#clock.monotonicMs();
		return [...this.#processing.values()].map((startedMs) => (nowMs - startedMs) / 1000);
	}

	#start(key: Key): Key {
		const nowMs = this.#clock.monotonicMs();
		this.#metrics.started((nowMs - (this.#dirty.get(key) ?? nowMs)) / 1000);
		this.#dirty.delete(key);
		this.#processing.set(key, nowMs);
		return key;
	}
}
