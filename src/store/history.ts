/**
 * The recent past of one resource: its events, oldest first, at most one per revision and key.
 *
 *     append r5, r9, r12      events 5 9 12      watching from 4 gives 5 9 12
 *     dropOldest (r5)         events 9 12        watching from 5 gives 9 12; from 4: compacted
 */
import { assertDefined } from "../kernel/assert.ts";
import type { Revision, StoreEvent } from "./entry.ts";

export class History {
	/** Slots before `#head` are dropped ones; they are cut off when they are the larger half. */
	#events: StoreEvent[] = [];
	#head = 0;
	#compacted: Revision;

	constructor(start: Revision) {
		this.#compacted = start;
	}

	/** The newest revision whose event may be missing here. Reading after an older one would have a gap. */
	get compacted(): Revision {
		return this.#compacted;
	}

	get length(): number {
		return this.#events.length - this.#head;
	}

	append(event: StoreEvent): void {
		this.#events.push(event);
	}

	dropOldest(): void {
		this.#compacted = assertDefined(this.#events[this.#head], "oldest event").revision;
		this.#head++;
		if (this.#head < 1024 || this.#head < this.#events.length / 2) return;
		this.#events = this.#events.slice(this.#head);
		this.#head = 0;
	}

	/** Forgets the whole past, up to and including `revision`. */
	reset(revision: Revision): void {
		this.#events = [];
		this.#head = 0;
		this.#compacted = revision;
	}

	/** Events with a revision above `after`, oldest first, at most `limit`; a revision is never split. */
	after(after: Revision, limit: number): readonly StoreEvent[] {
		const start = this.#firstAfter(after);
		let end = Math.min(start + limit, this.#events.length);
		while (
			end > start &&
			end < this.#events.length &&
			this.#events[end]?.revision === this.#events[end - 1]?.revision
		) {
			end++;
		}
		return this.#events.slice(start, end);
	}

	#firstAfter(after: Revision): number {
		let low = this.#head;
		let high = this.#events.length;
		while (low < high) {
			const middle = (low + high) >>> 1;
			if (assertDefined(this.#events[middle], "event").revision <= after) low = middle + 1;
			else high = middle;
		}
		return low;
	}
}
