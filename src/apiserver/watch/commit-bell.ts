/** Rings when a resource was written: how readers in this process sleep until there is news. */
import type { Revision } from "../../store/entry.ts";
import type { Store } from "../../store/store.ts";

export class CommitBell {
	readonly #store: Store;
	readonly #sleepers = new Map<string, Set<() => void>>();

	constructor(store: Store) {
		this.#store = store;
		store.onCommit((spaces) => {
			for (const space of spaces) this.ring(space);
		});
	}

	/** Resolves when `space` may hold more than it did at `after`, or when the signal aborts. */
	news(space: string, after: Revision, signal: AbortSignal): Promise<void> {
		if (signal.aborted || this.#isNewer(space, after)) return Promise.resolve();
		return new Promise((resolve) => {
			const sleepers = this.#sleepers.get(space) ?? new Set();
			this.#sleepers.set(space, sleepers);
			const wake = (): void => {
				signal.removeEventListener("abort", wake);
				sleepers.delete(wake);
				resolve();
			};
			sleepers.add(wake);
			signal.addEventListener("abort", wake, { once: true });
		});
	}

	#isNewer(space: string, after: Revision): boolean {
		const batch = this.#store.space(space).readAfter(after, 1, this.#store.revision);
		return batch.kind === "compacted" || batch.events.length > 0;
	}

	/** Wakes whoever sleeps until the resource has news; to be looked after is also news. */
	ring(space: string): void {
		for (const wake of [...(this.#sleepers.get(space) ?? [])]) wake();
	}
}
