import { assert } from "../kernel/assert.ts";
import type { AppendResult, Engine, LogSink } from "./engine.ts";
import { firstConflict } from "./engine.ts";
import type { Commit, Place, Revision } from "./entry.ts";

/** The engine without durability: a commit is in the view at once, and gone when the process ends. */
export class MemoryEngine implements Engine {
	#revision: Revision;
	#sink: LogSink | undefined;
	readonly #revisionAt: (place: Place) => Revision;

	/**
	 * @param start The revision before the first commit. A plane that restarts must start above every revision
	 * of the run before, so that no client takes new objects for old ones: see {@link startRevision}.
	 * @param revisionAt Where the view is, which this engine keeps up to date without delay.
	 */
	constructor(start: Revision, revisionAt: (place: Place) => Revision) {
		this.#revision = start;
		this.#revisionAt = revisionAt;
	}

	append(commit: Commit): Promise<AppendResult> {
		const sink = this.#sink;
		assert(sink !== undefined, "append() before tail()");
		const place = firstConflict(commit, this.#revisionAt);
		if (place !== undefined) return Promise.resolve({ kind: "conflict", place });
		this.#revision++;
		sink(this.#revision, commit.writes);
		return Promise.resolve({ kind: "appended", revision: this.#revision });
	}

	tail(_from: Revision, sink: LogSink): void {
		assert(this.#sink === undefined, "tail() twice");
		this.#sink = sink;
	}
}

/**
 * Ten revisions for each millisecond since 1970: above all revisions of an earlier run, as long as that
 * did not write more than 10,000 times a second from its start to its end, and below 2^53 until the year 2255.
 */
export function startRevision(wallMs: number): Revision {
	return Math.floor(wallMs) * 10;
}
