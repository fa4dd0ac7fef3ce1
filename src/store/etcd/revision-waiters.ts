/** Those who wait until a view has come to a revision. */
import type { Revision } from "../entry.ts";

interface Waiter {
	readonly revision: Revision;
	readonly sinceMs: number;
	resolve(): void;
	reject(error: unknown): void;
}

export class RevisionWaiters {
	/** Oldest first. */
	#waiters: Waiter[] = [];

	until(revision: Revision, nowMs: number): Promise<void> {
		return new Promise((resolve, reject) => {
			this.#waiters.push({ revision, sinceMs: nowMs, resolve, reject });
		});
	}

	reached(revision: Revision): void {
		if (this.#waiters.length === 0) return;
		const met = this.#waiters.filter((waiter) => waiter.revision <= revision);
		if (met.length === 0) return;
		this.#waiters = this.#waiters.filter((waiter) => waiter.revision > revision);
		for (const waiter of met) waiter.resolve();
	}

	/** Gives up on those who began to wait at `sinceMs`, or before. Returns how many there were. */
	expire(sinceMs: number, errorFor: (revision: Revision) => unknown): number {
		const late = this.#waiters.filter((waiter) => waiter.sinceMs <= sinceMs);
		if (late.length === 0) return 0;
		this.#waiters = this.#waiters.filter((waiter) => waiter.sinceMs > sinceMs);
		for (const waiter of late) waiter.reject(errorFor(waiter.revision));
		return late.length;
	}
}
