/** The truth: an engine that orders and keeps commits, and the view that everyone reads. */
import { assert } from "../kernel/assert.ts";
import type { AppendResult, Engine } from "./engine.ts";
import { type Entry, type Place, type Precondition, type Revision, stamped, type Write } from "./entry.ts";
import { type CommitLog, GroupCommitEngine } from "./group-commit-engine.ts";
import { MemoryEngine } from "./memory-engine.ts";
import type { Space } from "./space.ts";
import { DEFAULT_VIEW_LIMITS, View, type ViewLimits } from "./view.ts";

export type CommitResult =
	| {
			readonly kind: "committed";
			readonly revision: Revision;
			/** One for each write: what is stored now, or was deleted; undefined if there was nothing to delete. */
			readonly entries: readonly (Entry | undefined)[];
	  }
	/** A failed precondition is an answer, not an exception: callers expect it. */
	| { readonly kind: "conflict"; readonly place: Place; readonly actual: Entry | undefined };

export type CommitListener = (spaces: ReadonlySet<string>) => void;

/** What a revision wrote, and what became of it, one for each write. */
interface Applied {
	readonly writes: readonly Write[];
	readonly entries: readonly (Entry | undefined)[];
}

/** Commits whose entries are kept for those who wait; the writers of older ones get what they wrote. */
const APPLIED_MAX = 10_000;

export class Store {
	readonly #view: View;
	readonly #engine: Engine;
	readonly #listeners = new Set<CommitListener>();
	/** What was put into the view while commits of this process are under way; nothing is kept at rest. */
	readonly #applied = new Map<Revision, Applied>();
	#underWay = 0;

	constructor(view: View, engine: Engine) {
		this.#view = view;
		this.#engine = engine;
		engine.tail(
			view.revision,
			(revision, writes) => {
				const entries = view.apply(revision, writes);
				if (this.#underWay > 0) this.#keep(revision, { writes, entries });
				this.#tell(new Set(writes.map((write) => write.space)));
			},
			(revision, state) => this.#tell(view.reset(revision, state)),
		);
	}

	get revision(): Revision {
		return this.#view.revision;
	}

	get view(): View {
		return this.#view;
	}

	space(prefix: string): Space {
		return this.#view.space(prefix);
	}

	/**
	 * Whoever answers for the newest state waits for this first: others may have written to the same log.
	 * Undefined: nobody else does, and there is nothing to wait for.
	 */
	reach(): Promise<void> | undefined {
		return this.#engine.reach?.();
	}

	/** All or nothing. Resolves when the commit is durable and readable. */
	commit(writes: readonly Write[], preconditions: readonly Precondition[] = []): Promise<CommitResult> {
		assert(writes.length > 0, "A commit must write at least one key");
		this.#underWay++;
		return this.#engine
			.append({ writes, preconditions })
			.then((appended) => this.#resultOf(appended, writes))
			.finally(() => {
				this.#underWay--;
				if (this.#underWay === 0) this.#applied.clear();
			});
	}

	#keep(revision: Revision, applied: Applied): void {
		this.#applied.set(revision, applied);
		if (this.#applied.size <= APPLIED_MAX) return;
		const [oldest] = this.#applied.keys();
		if (oldest !== undefined) this.#applied.delete(oldest);
	}

	#tell(spaces: ReadonlySet<string>): void {
		for (const listener of this.#listeners) listener(spaces);
	}

	#resultOf(appended: AppendResult, writes: readonly Write[]): CommitResult {
		if (appended.kind === "conflict") {
			const { space, key } = appended.place;
			return { kind: "conflict", place: appended.place, actual: this.space(space).get(key) };
		}
		const { kind, revision } = appended;
		const entries = kind === "unchanged" ? writes.map(() => undefined) : this.#entriesOf(revision, writes);
		return { kind: "committed", revision, entries };
	}

	#entriesOf(revision: Revision, writes: readonly Write[]): readonly (Entry | undefined)[] {
		const applied = this.#applied.get(revision);
		this.#applied.delete(revision);
		if (applied?.writes === writes) return applied.entries;
		// The log was read back: without what there was nothing to delete of, and in an order of its own.
		if (applied !== undefined) {
			return writes.map((write) => applied.entries[applied.writes.findIndex((other) => isSamePlace(write, other))]);
		}
		return writes.map((write) => unseenEntry(write, revision));
	}

	/** Calls `listener` after every commit, with the resources it touched. Returns how to stop. */
	onCommit(listener: CommitListener): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}
}

function isSamePlace(a: Place, b: Place): boolean {
	return a.key === b.key && a.space === b.space;
}

/** Of a commit that is durable, when what the view made of it is not at hand. */
function unseenEntry(write: Write, revision: Revision): Entry | undefined {
	const object = write.kind === "put" ? write.object : write.last;
	if (object === undefined) return undefined;
	return { key: write.key, object: stamped(object, revision), createRevision: revision, modRevision: revision };
}

/** A store whose commits are in `log` before anybody sees them. `view` has everything that the log holds. */
export function loggedStore(view: View, log: CommitLog): Store {
	const revisionAt = ({ space, key }: Place): Revision => view.space(space).get(key)?.modRevision ?? 0;
	return new Store(view, new GroupCommitEngine(log, view.revision, revisionAt));
}

/** A store without durability that starts after `start`. */
export function memoryStore(start: Revision, limits: ViewLimits = DEFAULT_VIEW_LIMITS): Store {
	const view = new View(start, limits);
	const revisionAt = ({ space, key }: Place): Revision => view.space(space).get(key)?.modRevision ?? 0;
	return new Store(view, new MemoryEngine(start, revisionAt));
}
