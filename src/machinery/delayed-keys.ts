/** Keys that become due later. However many there are, one sleeper waits for the first of them. */
import type { Clock } from "../kernel/clock.ts";
import { MinHeap } from "../kernel/min-heap.ts";

interface Due<Key> {
	readonly key: Key;
	readonly atMs: number;
	/** Keys due at the same time come out in order of arrival. */
	readonly order: number;
}

export class DelayedKeys<Key> {
	readonly #clock: Clock;
	readonly #release: (key: Key) => void;
	readonly #dueAtMs = new Map<Key, number>();
	readonly #heap: MinHeap<Due<Key>> = new MinHeap(
		(a, b) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order),
	);
	#arrivals = 0;
	#sleep: { readonly untilMs: number; readonly abort: AbortController } | undefined;

	constructor(clock: Clock, release: (key: Key) => void) {
		this.#clock = clock;
		this.#release = release;
	}

	get size(): number {
		return this.#dueAtMs.size;
	}

	keys(): Key[] {
		return [...this.#dueAtMs.keys()];
	}

	/** The earlier of two times for one key wins. */
	add(key: Key, delayMs: number): void {
		const atMs = this.#clock.monotonicMs() + delayMs;
		const known = this.#dueAtMs.get(key);
		if (known !== undefined && known <= atMs) return;
		this.#dueAtMs.set(key, atMs);
		this.#heap.push({ key, atMs, order: this.#arrivals++ });
		this.#sleepUntilFirst();
	}

	stop(): void {
		this.#dueAtMs.clear();
		this.#heap.clear();
		this.#sleepUntilFirst();
	}

	#sleepUntilFirst(): void {
		const first = this.#heap.peek();
		if (this.#sleep !== undefined) {
			if (first !== undefined && this.#sleep.untilMs <= first.atMs) return;
			this.#sleep.abort.abort();
			this.#sleep = undefined;
		}
		if (first === undefined) return;
		const sleep = { untilMs: first.atMs, abort: new AbortController() };
		this.#sleep = sleep;
		this.#clock.sleep(Math.max(0, first.atMs - this.#clock.monotonicMs()), sleep.abort.signal).then(
			() => this.#wake(sleep),
			() => undefined, // An earlier key came, or the queue stopped.
		);
	}

	#wake(sleep: object): void {
		if (this.#sleep !== sleep) return;
		this.#sleep = undefined;
		const nowMs = this.#clock.monotonicMs();
		for (let first = this.#heap.peek(); first !== undefined && first.atMs <= nowMs; first = this.#heap.peek()) {
			this.#heap.pop();
			if (this.#dueAtMs.get(first.key) !== first.atMs) continue; // An earlier add of the key has won.
			this.#dueAtMs.delete(first.key);
			this.#release(first.key);
		}
		this.#sleepUntilFirst();
	}
}
