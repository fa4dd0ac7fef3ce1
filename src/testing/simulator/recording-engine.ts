/** A memory store whose commits are told to somebody else before anybody can read them. */
import type { AppendResult, Engine, LogSink, ResetSink } from "../../store/engine.ts";
import type { Commit, Place, Revision } from "../../store/entry.ts";
import { MemoryEngine } from "../../store/memory-engine.ts";
import { Store } from "../../store/store.ts";
import { View } from "../../store/view.ts";

class RecordingEngine implements Engine {
	readonly #engine: Engine;
	readonly #told: LogSink;

	constructor(engine: Engine, told: LogSink) {
		this.#engine = engine;
		this.#told = told;
	}

	append(commit: Commit): Promise<AppendResult> {
		return this.#engine.append(commit);
	}

	tail(from: Revision, sink: LogSink, reset: ResetSink): void {
		const told = (...commit: Parameters<LogSink>): void => {
			this.#told(...commit);
			sink(...commit);
		};
		this.#engine.tail(from, told, reset);
	}
}

/** @param start The revision before the first commit. */
export function recordedStore(start: Revision, told: LogSink): Store {
	const view = new View(start);
	const revisionAt = ({ space, key }: Place): Revision => view.space(space).get(key)?.modRevision ?? 0;
	return new Store(view, new RecordingEngine(new MemoryEngine(start, revisionAt), told));
}
