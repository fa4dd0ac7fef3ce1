import type { Clock } from "../kernel/clock.ts";

interface Sleeper {
	readonly wakeAtMs: number;
	readonly order: number;
	readonly wake: () => void;
}

/** Time that moves only when a test moves it. Sleepers wake in order of due time, then of arrival. */
export class VirtualClock implements Clock {
	#nowMs = 0;
	#arrivals = 0;
	readonly #epochMs: number;
	readonly #sleepers: Sleeper[] = [];

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
				this.#sleepers.splice(this.#sleepers.indexOf(sleeper), 1);
				reject(signal?.reason);
			};
			const wake = (): void => {
				signal?.removeEventListener("abort", abort);
				resolve();
			};
			const sleeper = { wakeAtMs: this.#nowMs + delayMs, order: this.#arrivals++, wake };
			this.#sleepers.push(sleeper);
			signal?.addEventListener("abort", abort, { once: true });
		});
	}

	/** How many sleep now: what is left behind is a leak. */
	get sleepers(): number {
		return this.#sleepers.length;
	}

	yield(): Promise<void> {
		return new Promise((resolve) => setImmediate(resolve));
	}

	/** Runs everything that becomes due within `byMs`, letting each wake-up finish before the next. */
	async advance(byMs: number): Promise<void> {
		const untilMs = this.#nowMs + byMs;
		await settle();
		for (;;) {
			const due = this.#sleepers
				.filter((s) => s.wakeAtMs <= untilMs)
				.sort((a, b) => a.wakeAtMs - b.wakeAtMs || a.order - b.order)[0];
			if (due === undefined) break;
			this.#sleepers.splice(this.#sleepers.indexOf(due), 1);
			this.#nowMs = Math.max(this.#nowMs, due.wakeAtMs);
			due.wake();
			await settle();
		}
		this.#nowMs = untilMs;
	}
}

/** Turns of the event loop after which everything that can run without time has run. */
const TURNS = 8;

/** Lets work that is already queued, and what it queues in turn, run to its end. */
export async function settle(): Promise<void> {
	for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
}
