/** The objects of one resource: current state in key order, and the recent past. */
import { lowerBound } from "../kernel/order.ts";
import type { Entry, Revision, StoreEvent } from "./entry.ts";
import { History } from "./history.ts";

export interface RangeOptions {
	/** Keys that start with this: `default/` for a namespace, "" for all. */
	readonly prefix: string;
	/** First key to return, inclusive. Absent: the first of the prefix. */
	readonly start?: string;
	/** At most so many matching entries. Absent: all. */
	readonly limit?: number;
	/** The state as of this revision. Absent: the newest. */
	readonly revision?: Revision;
	/** Entries to count and return. Absent: every one. */
	readonly filter?: (entry: Entry) => boolean;
}

export type RangeResult =
	| {
			readonly kind: "range";
			readonly entries: readonly Entry[];
			/** Keys of the prefix behind the last one returned, whether the filter takes them or not. */
			readonly remaining: number;
	  }
	| { readonly kind: "compacted"; readonly oldest: Revision };

export type WatchBatch =
	| { readonly kind: "events"; readonly through: Revision; readonly events: readonly StoreEvent[] }
	| { readonly kind: "compacted"; readonly oldest: Revision };

const keyItself = (key: string): string => key;
/** Above every character of a key, so `prefix + LAST` ends the prefix' keys. */
const LAST = "\uffff";

export class Space {
	readonly #entries = new Map<string, Entry>();
	/** The keys of `#entries`, sorted by code unit. */
	readonly #keys: string[] = [];
	readonly #history: History;

	constructor(start: Revision) {
		this.#history = new History(start);
	}

	get size(): number {
		return this.#entries.size;
	}

	get history(): History {
		return this.#history;
	}

	get(key: string): Entry | undefined {
		return this.#entries.get(key);
	}

	/**
	 * What happened after `after`, oldest first, at most `limit` events. A watcher is therefore one
	 * number, not a buffer: a slow one costs no memory and learns of its lateness here.
	 *
	 * @param revision The newest revision of the whole store: everything up to it has been applied.
	 */
	readAfter(after: Revision, limit: number, revision: Revision): WatchBatch {
		if (after < this.#history.compacted) return { kind: "compacted", oldest: this.#history.compacted };
		const events = this.#history.after(after, limit);
		const last = events.at(-1);
		const isAll = events.length < limit;
		return { kind: "events", events, through: isAll || last === undefined ? Math.max(revision, after) : last.revision };
	}

	range(options: RangeOptions): RangeResult {
		if (options.revision === undefined) return this.#scan(options, this.#keys, (key) => this.#entries.get(key));
		if (options.revision < this.#history.compacted) return { kind: "compacted", oldest: this.#history.compacted };
		const undone = this.#undoneTo(options.revision);
		if (undone.size === 0) return this.#scan(options, this.#keys, (key) => this.#entries.get(key));
		const keys = [...new Set([...this.#keys, ...undone.keys()])].sort();
		const entryAt = (key: string): Entry | undefined => (undone.has(key) ? undone.get(key) : this.#entries.get(key));
		return this.#scan(
			options,
			keys.filter((key) => entryAt(key) !== undefined),
			entryAt,
		);
	}

	put(entry: Entry): Entry | undefined {
		const previous = this.#entries.get(entry.key);
		if (previous === undefined) this.#insert(entry.key);
		this.#entries.set(entry.key, entry);
		return previous;
	}

	/** A state that is loaded comes in order: then nothing is searched. */
	#insert(key: string): void {
		const last = this.#keys.at(-1);
		if (last === undefined || last < key) this.#keys.push(key);
		else this.#keys.splice(lowerBound(this.#keys, key, keyItself), 0, key);
	}

	remove(key: string): Entry | undefined {
		const previous = this.#entries.get(key);
		if (previous === undefined) return undefined;
		this.#entries.delete(key);
		this.#keys.splice(lowerBound(this.#keys, key, keyItself), 1);
		return previous;
	}

	/** Exactly these entries, without a past. */
	reset(revision: Revision, entries: readonly Entry[]): void {
		const known = new Map(this.#entries);
		this.#entries.clear();
		for (const entry of entries) {
			const before = known.get(entry.key);
			this.#entries.set(entry.key, before?.modRevision === entry.modRevision ? before : entry);
		}
		this.#keys.splice(0, this.#keys.length);
		for (const key of [...this.#entries.keys()].sort()) this.#keys.push(key);
		this.#history.reset(revision);
	}

	/** What each key changed since `revision` held then; undefined where it did not exist. */
	#undoneTo(revision: Revision): Map<string, Entry | undefined> {
		const undone = new Map<string, Entry | undefined>();
		for (const event of this.#history.after(revision, Number.MAX_SAFE_INTEGER)) {
			if (!undone.has(event.current.key)) undone.set(event.current.key, event.previous);
		}
		return undone;
	}

	#scan(
		{ prefix, start, limit = Number.MAX_SAFE_INTEGER, filter }: RangeOptions,
		keys: readonly string[],
		entryAt: (key: string) => Entry | undefined,
	): RangeResult {
		const end = prefix === "" ? keys.length : lowerBound(keys, prefix + LAST, keyItself);
		const first = start === undefined || start < prefix ? prefix : start;
		let index = lowerBound(keys, first, keyItself);
		const entries: Entry[] = [];
		for (; index < end && entries.length < limit; index++) {
			const entry = entryAt(keys[index] as string);
			if (entry !== undefined && (filter === undefined || filter(entry))) entries.push(entry);
		}
		return { kind: "range", entries, remaining: end - index };
	}
}
