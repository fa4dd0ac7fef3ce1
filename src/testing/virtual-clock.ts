import { assert } from "../kernel/assert.ts";
import type { Clock } from "../kernel/clock.ts";
import { MinHeap } from "../kernel/min-heap.ts";

interface Sleeper {
	readonly wakeAtMs: number;
	readonly order: number;
	readonly wake: () => void;
	isGone: boolean;
}

/** Turns of the event loop without anything to do after which nothing more is expected to happen. */
const QUIET_TURNS = 8;
/** So many turns without time passing: something runs in circles. */
const TURNS_MAX = 1_000_000;

/**
 * Time that moves only when a test moves it. Sleepers wake in order of due time, then of arrival.
 *
 * @see src/kernel/clock.ts All times are in milliseconds.
 * @example
 *     const clock = new VirtualClock("2026-01-01T00:00:00Z");
 *     const slept = clock.sleep(60_000);
 *     await clock.advance(60_000);
 *     await slept;
 *     assert.equal(clock.monotonicMs(), 60_000);
 */
export class VirtualClock implements Clock {
	#nowMs = 0;
	#arrivals = 0;
	#yielding = 0;
	#asleep = 0;
	readonly #epochMs: number;
	readonly #sleepers: MinHeap<Sleeper> = new MinHeap(
		(a, b) => a.wakeAtMs < b.wakeAtMs || (a.wakeAtMs === b.wakeAtMs && a.order < b.order),
	);

	/** @param epoch What the wall clock shows at the start, RFC 3339. */
	constructor(epoch = "2026-01-01T00:00:00Z") {
		this.#epochMs = Date.parse(epoch);
	}

	wallMs(): number {
		return this.#epochMs + this.#nowMs;
	}

	monotonicMs(): number {
		return this.#nowMs;
	}

	sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
		return new Promise((resolve, reject) => {
			if (signal?.aborted) return reject(signal.reason);
			const abort = (): void => {
				sleeper.isGone = true;
				this.#asleep--;
				reject(signal?.reason);
			};
			const wake = (): void => {
				signal?.removeEventListener("abort", abort);
				this.#asleep--;
				resolve();
			};
			const sleeper: Sleeper = { wakeAtMs: this.#nowMs + delayMs, order: this.#arrivals++, wake, isGone: false };
			this.#sleepers.push(sleeper);
			this.#asleep++;
			signal?.addEventListener("abort", abort, { once: true });
		});
	}

	/** How many sleep now: what is left behind is a leak. */
	get sleepers(): number {
		return this.#asleep;
	}

	yield(): Promise<void> {
		this.#yielding++;
		return new Promise((resolve) =>
			setImmediate(() => {
				this.#yielding--;
				resolve();
			}),
		);
	}

	/** Runs everything that becomes due within `byMs`, letting each wake-up finish before the next. */
	async advance(byMs: number): Promise<void> {
		const untilMs = this.#nowMs + byMs;
		do await this.settle();
		while (this.#wakeFirst(untilMs));
		this.#nowMs = untilMs;
	}

	/**
	 * Runs what becomes due until `holds`, which is asked after every wake-up, and stops there. False, `withinMs`
	 * later, when it never did.
	 */
	async until(holds: () => boolean, withinMs: number): Promise<boolean> {
		const untilMs = this.#nowMs + withinMs;
		do {
			await this.settle();
			if (holds()) return true;
		} while (this.#wakeFirst(untilMs));
		this.#nowMs = untilMs;
		return false;
	}

	/**
	 * Lets everything run that can run without time passing, however long the chain is: whoever waits for this
	 * clock's `yield` has work left, and all other work is done within a turn.
	 */
	async settle(): Promise<void> {
		let quiet = 0;
		for (let turn = 0; quiet < QUIET_TURNS; turn++) {
			assert(turn < TURNS_MAX, `Still busy after ${TURNS_MAX} turns in which no time passed`);
			await nextTurn();
			quiet = this.#yielding > 0 ? 0 : quiet + 1;
		}
	}

	/** False when nobody sleeps that wakes up by then. */
	#wakeFirst(untilMs: number): boolean {
		for (let first = this.#sleepers.peek(); first !== undefined; first = this.#sleepers.peek()) {
			if (!first.isGone && first.wakeAtMs > untilMs) return false;
			this.#sleepers.pop();
			if (first.isGone) continue;
			this.#nowMs = Math.max(this.#nowMs, first.wakeAtMs);
			first.wake();
			return true;
		}
		return false;
	}
}

function nextTurn(): Promise<void> {
	return new Promise((resolve) => setImmediate(resolve));
}

/** Lets work that is already queued, and what it queues in turn, run to its end. For tests without a clock. */
export async function settle(): Promise<void> {
	for (let turn = 0; turn < QUIET_TURNS; turn++) await nextTurn();
}
