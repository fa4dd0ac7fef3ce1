/** What clients of a store did, and what they were told: the input of the history checker. */
import type { Revision } from "../../store/entry.ts";

/** What one commit did to one place; without a value, it deleted what was there. */
export interface Change {
	/** Space and key in one. */
	readonly place: string;
	/** Tells two states of the object apart. */
	readonly value?: string | undefined;
}

/** A commit as a complete watch of everything told it. */
export interface LoggedChanges {
	readonly revision: Revision;
	readonly changes: readonly Change[];
}

interface Timed {
	readonly client: string;
	/** Calls and answers of all clients are counted together. */
	readonly calledAt: number;
	/** Undefined: never answered. */
	readonly answeredAt?: number | undefined;
}

export interface CommitOperation extends Timed {
	readonly kind: "commit";
	readonly changes: readonly Change[];
	/** Places with the revision that must be theirs; 0: nothing is there. */
	readonly expected: ReadonlyMap<string, Revision>;
	readonly answer:
		| { readonly kind: "committed"; readonly revision: Revision }
		| { readonly kind: "conflict"; readonly place: string }
		/** It failed, or nobody heard what became of it: it may have happened once, or not. */
		| { readonly kind: "unknown" };
}

export interface ReadOperation extends Timed {
	readonly kind: "read";
	readonly place: string;
	readonly answer: {
		/** The revision that the whole answer is of. */
		readonly asOf: Revision;
		/** When the place was written last; 0: nothing is there. */
		readonly modRevision: Revision;
		readonly value?: string | undefined;
	};
}

export type Operation = CommitOperation | ReadOperation;

/** A watch from its opening to its end. */
export interface WatchSession {
	readonly name: string;
	/** Tells what happened after this revision, at places that begin with the prefix. */
	readonly after: Revision;
	readonly prefix: string;
	readonly batches: readonly WatchedBatch[];
}

export interface WatchedBatch {
	/** Everything up to this revision has been told. */
	readonly through: Revision;
	readonly events: readonly (Change & { readonly revision: Revision })[];
}

export interface StoreHistory {
	readonly log: readonly LoggedChanges[];
	readonly operations: readonly Operation[];
	readonly watches: readonly WatchSession[];
	/** What was there before the log's first commit, by place. Default: nothing. */
	readonly before?: ReadonlyMap<string, { readonly revision: Revision; readonly value: string }>;
}

/** The six promises of a watch are named as in etcd's robustness tests. */
export type StorePromise =
	/** What was acknowledged, or read, is in the log, as it was told. */
	| "durable"
	/** Nothing is in the log that nobody asked for, and nothing twice. */
	| "asked for"
	/** All operations could have happened one after another, each between its call and its answer. */
	| "linearizable"
	| "ordered"
	| "unique"
	| "atomic"
	| "reliable"
	| "resumable"
	| "bookmarkable";

export interface BrokenPromise {
	readonly promise: StorePromise;
	readonly detail: string;
}
