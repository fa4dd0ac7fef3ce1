/** A memory store that others write to, as well: what they write is there when it is asked for, and no sooner. */
import type { AppendResult, Engine, LogSink, ResetSink } from "../store/engine.ts";
import type { Commit, Place, PlacedEntry, Revision, Write } from "../store/entry.ts";
import { MemoryEngine } from "../store/memory-engine.ts";
import { Store } from "../store/store.ts";
import { View } from "../store/view.ts";

export class SharedLog implements Engine {
	readonly store: Store;
	/** How often somebody wanted the newest state. */
	reaches = 0;
	/** What asking for it is answered with; undefined: it works. */
	failure: unknown;
	readonly #memory: MemoryEngine;
	#reset: ResetSink = () => undefined;
	#unseen: Commit[] = [];

	constructor(start: Revision) {
		const view = new View(start);
		const revisionAt = ({ space, key }: Place): Revision => view.space(space).get(key)?.modRevision ?? 0;
		this.#memory = new MemoryEngine(start, revisionAt);
		this.store = new Store(view, this);
	}

	append(commit: Commit): Promise<AppendResult> {
		return this.#memory.append(commit);
	}

	tail(from: Revision, sink: LogSink, reset: ResetSink): void {
		this.#reset = reset;
		this.#memory.tail(from, sink);
	}

	async reach(): Promise<void> {
		this.reaches++;
		if (this.failure !== undefined) throw this.failure;
		for (const commit of this.#unseen.splice(0)) await this.#memory.append(commit);
	}

	/** Another server has acknowledged this. */
	foreign(...writes: readonly Write[]): void {
		this.#unseen.push({ writes, preconditions: [] });
	}

	/** What was written meanwhile is no longer to be had one by one. */
	restart(revision: Revision, state: readonly PlacedEntry[]): void {
		this.#reset(revision, state);
	}
}
