import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../kernel/clock.ts";

/** setTimeout takes no more than this; longer sleeps are made of several. */
const TIMER_MS_MAX = 2_147_483_647;

export class SystemClock implements Clock {
	wallMs(): number {
		return Date.now();
	}

	monotonicMs(): number {
		return performance.now();
	}

	async sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
		signal?.throwIfAborted();
		let leftMs = Math.max(0, delayMs);
		do {
			const partMs = Math.min(leftMs, TIMER_MS_MAX);
			await this.#sleepPart(partMs, signal);
			leftMs -= partMs;
		} while (leftMs > 0);
	}

	yield(): Promise<void> {
		return new Promise((resolve) => setImmediate(resolve));
	}

	/** Written out, since an AbortSignal per sleep is what a busy server has thousands of. */
	#sleepPart(partMs: number, signal: AbortSignal | undefined): Promise<void> {
		if (signal === undefined) return delay(partMs);
		return new Promise((resolve, reject) => {
			const abort = (): void => {
				clearTimeout(timer);
				reject(signal.reason);
			};
			const timer = setTimeout(() => {
				signal.removeEventListener("abort", abort);
				resolve();
			}, partMs);
			signal.addEventListener("abort", abort, { once: true });
		});
	}
}
