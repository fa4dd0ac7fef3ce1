/**
 * The multi-version view of everything: what the store looks like now, and the recent past.
 *
 *     apply 1  put /a          revision 1     log of /: 1
 *     apply 2  put /b          revision 2     log of /: 1 2
 *     apply 3  put /a, del /b  revision 3     log of /: 1 2 3 3    one commit, one revision
 *
 * It is the same in every mode: engines only order commits and make them durable. Nothing gets in here
 * before it is durable, so no reader or watcher ever sees a revision that can be lost.
 *
 * The past is limited by bytes over all resources together; the oldest events go first.
 */
import { assert } from "../kernel/assert.ts";
import type { Entry, PlacedEntry, Revision, StoreEvent, Write } from "./entry.ts";
import { stamped } from "./entry.ts";
import { freezeAndMeasure } from "./freeze.ts";
import { Space } from "./space.ts";

export interface ViewLimits {
	/** Bytes of memory that past states may take, over all resources. */
	readonly historyBytesMax: number;
	/** Events that may be kept, over all resources. */
	readonly historyEventsMax: number;
}

/** About ten minutes of a busy test plane: 64 MiB, 100,000 events. */
export const DEFAULT_VIEW_LIMITS: ViewLimits = { historyBytesMax: 64 * 1024 * 1024, historyEventsMax: 100_000 };

interface Kept {
	readonly space: Space;
	readonly bytes: number;
}

export class View {
	readonly #spaces = new Map<string, Space>();
	readonly #limits: ViewLimits;
	#start: Revision;
	#revision: Revision;
	#compacted: Revision = 0;
	#kept: Kept[] = [];
	#keptHead = 0;
	#historyBytes = 0;

	/** @param start The revision before the first commit: older resourceVersions are answered as expired. */
	constructor(start: Revision, limits: ViewLimits = DEFAULT_VIEW_LIMITS) {
		this.#start = start;
		this.#revision = start;
		this.#limits = limits;
	}

	get revision(): Revision {
		return this.#revision;
	}

	/**
	 * The revision of the last {@link compact}: no read or watch may start from before it, though a watch that is open
	 * goes on, and a resource that was silent since then would have no gap.
	 */
	get compacted(): Revision {
		return this.#compacted;
	}

	get historyBytes(): number {
		return this.#historyBytes;
	}

	get historyEvents(): number {
		return this.#kept.length - this.#keptHead;
	}

	/** Of every resource that was ever asked for. */
	get spaces(): readonly Space[] {
		return [...this.#spaces.values()];
	}

	space(prefix: string): Space {
		let space = this.#spaces.get(prefix);
		if (space === undefined) {
			// A resource that was never written has no past to miss, but for what ran before this start.
			space = new Space(this.#start);
			this.#spaces.set(prefix, space);
		}
		return space;
	}

	/** Current state out of a log that was kept: as of the view's start, without a past. Before the first commit only. */
	restore(space: string, entry: Entry): void {
		assert(this.#revision === this.#start, "restore() after a commit");
		freezeAndMeasure(entry.object);
		this.space(space).put(entry);
	}

	/** Makes a durable commit visible. Deletes of what is not there change nothing. */
	apply(revision: Revision, writes: readonly Write[]): readonly (Entry | undefined)[] {
		assert(revision > this.#revision, `Cannot apply revision ${revision} after ${this.#revision}`);
		const results = writes.map((write) => this.#applyOne(write, revision));
		this.#revision = revision;
		this.#forgetOldest();
		return results;
	}

	/**
	 * Puts another state in the place of everything, as of `revision`, and forgets the whole past: whoever reads or
	 * watches from before must start anew. Objects whose revision is the same stay the same.
	 * @returns The spaces that there are.
	 */
	reset(revision: Revision, state: readonly PlacedEntry[]): ReadonlySet<string> {
		assert(revision >= this.#revision, `Cannot go back to revision ${revision} from ${this.#revision}`);
		const bySpace = new Map<string, Entry[]>([...this.#spaces.keys()].map((prefix) => [prefix, []]));
		for (const { space, entry } of state) {
			freezeAndMeasure(entry.object);
			const entries = bySpace.get(space);
			if (entries === undefined) bySpace.set(space, [entry]);
			else entries.push(entry);
		}
		for (const [prefix, entries] of bySpace) this.space(prefix).reset(revision, entries);
		this.#start = revision;
		this.#revision = revision;
		this.#compacted = revision;
		this.#kept = [];
		this.#keptHead = 0;
		this.#historyBytes = 0;
		return new Set(bySpace.keys());
	}

	/** Forgets the past up to and including `revision`, as far as it is kept. Current state stays. */
	compact(revision: Revision): void {
		assert(revision <= this.#revision, `Cannot compact the future: ${revision} > ${this.#revision}`);
		this.#compacted = Math.max(this.#compacted, revision);
		for (;;) {
			const oldest = this.#kept[this.#keptHead];
			if (oldest === undefined) return;
			const next = oldest.space.history.after(oldest.space.history.compacted, 1)[0];
			if (next === undefined || next.revision > revision) return;
			this.#dropOldest(oldest);
		}
	}

	#applyOne(write: Write, revision: Revision): Entry | undefined {
		const space = this.space(write.space);
		if (write.kind === "put") {
			const object = stamped(write.object, revision);
			const bytes = freezeAndMeasure(object);
			const createRevision = space.get(write.key)?.createRevision ?? revision;
			const current: Entry = { key: write.key, object, createRevision, modRevision: revision };
			this.#keep(space, { kind: "put", revision, current, previous: space.put(current) }, bytes);
			return current;
		}
		const previous = space.remove(write.key);
		if (previous === undefined) return undefined;
		const object = stamped(write.last ?? previous.object, revision);
		const bytes = freezeAndMeasure(object);
		const current: Entry = { ...previous, object, modRevision: revision };
		this.#keep(space, { kind: "delete", revision, current, previous }, bytes);
		return current;
	}

	#keep(space: Space, event: StoreEvent, bytes: number): void {
		space.history.append(event);
		this.#kept.push({ space, bytes });
		this.#historyBytes += bytes;
	}

	#forgetOldest(): void {
		const { historyBytesMax, historyEventsMax } = this.#limits;
		for (;;) {
			const oldest = this.#kept[this.#keptHead];
			if (oldest === undefined) return;
			if (this.#historyBytes <= historyBytesMax && this.historyEvents <= historyEventsMax) return;
			this.#dropOldest(oldest);
		}
	}

	#dropOldest(oldest: Kept): void {
		oldest.space.history.dropOldest();
		this.#historyBytes -= oldest.bytes;
		this.#keptHead++;
		if (this.#keptHead < 1024 || this.#keptHead < this.#kept.length / 2) return;
		this.#kept = this.#kept.slice(this.#keptHead);
		this.#keptHead = 0;
	}
}
