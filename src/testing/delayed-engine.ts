/** An engine whose commits take time, as durable ones do: other requests run before each is done. */
import type { AppendResult, Engine, LogSink, ResetSink } from "../store/engine.ts";
import type { Commit, Revision } from "../store/entry.ts";
import { MemoryEngine } from "../store/memory-engine.ts";
import { Store } from "../store/store.ts";
import { DEFAULT_VIEW_LIMITS, View } from "../store/view.ts";

class DelayedEngine implements Engine {
	readonly #engine: Engine;

	constructor(engine: Engine) {
		this.#engine = engine;
	}

	async append(commit: Commit): Promise<AppendResult> {
		await new Promise((resolve) => setImmediate(resolve));
		return this.#engine.append(commit);
	}

	tail(from: Revision, sink: LogSink, reset: ResetSink): void {
		this.#engine.tail(from, sink, reset);
	}
}

/** A memory store in which writes of different requests overlap. */
export function delayedStore(start: Revision): Store {
	const view = new View(start, DEFAULT_VIEW_LIMITS);
	const engine = new MemoryEngine(start, ({ space, key }) => view.space(space).get(key)?.modRevision ?? 0);
	return new Store(view, new DelayedEngine(engine));
}
