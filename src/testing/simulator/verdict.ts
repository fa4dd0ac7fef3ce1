/** Promises that a run may find broken. The first six are named as in etcd's robustness tests. */
export type PromiseName =
	/** Events of a watch come in the order of revisions. */
	| "ordered"
	/** No event comes twice. */
	| "unique"
	/** Of one commit a watch tells everything or nothing before it goes on. */
	| "atomic"
	/** Nothing that a watch should tell is left out. */
	| "reliable"
	/** A watch that is opened again goes on right after the revision that it names. */
	| "resumable"
	/** Everything up to the revision of a bookmark has been told. */
	| "bookmarkable"
	/** A watch tells what its selectors choose, as ADDED, MODIFIED or DELETED, with the object as it was stored. */
	| "filtered"
	/** What starts from before a compaction is told so, and nothing else is. */
	| "compacted"
	/** A list, or a page of one, is the state at its revision. */
	| "listed"
	/** A request is answered, or refused for a reason that a client can act on. */
	| "answered"
	/** What must be refused is refused, and a refused write changes nothing. */
	| "refused"
	/** Rules that every commit keeps: revisions, uids, generations. */
	| "stored"
	/** Cluster IPs and node ports belong to one Service each. */
	| "claimed"
	/** The plane comes to rest when nothing happens to it. */
	| "restful"
	/** At rest, controllers have made what the full plan says. */
	| "settled"
	/** The same holds after every controller has started anew. */
	| "restarted"
	/** Controllers that start anew over what is right write nothing. */
	| "idle";

export interface Violation {
	readonly promise: PromiseName;
	readonly detail: string;
	/** Virtual milliseconds since the run began. */
	readonly atMs: number;
}

/** More of them say nothing new. */
const VIOLATIONS_MAX = 20;

export class Verdict {
	readonly violations: Violation[] = [];
	readonly #nowMs: () => number;

	constructor(nowMs: () => number) {
		this.#nowMs = nowMs;
	}

	get isBroken(): boolean {
		return this.violations.length > 0;
	}

	broke(promise: PromiseName, detail: string): void {
		if (this.violations.length >= VIOLATIONS_MAX) return;
		this.violations.push({ promise, detail, atMs: this.#nowMs() });
	}
}
