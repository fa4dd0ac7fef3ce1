/** The truth: an engine that orders and keeps commits, and the view that everyone reads. */
import { assert } from "../kernel/assert.ts";
import type { AppendResult, Engine } from "./engine.ts";
import type { Entry, Place, Precondition, Revision, Write } from "./entry.ts";
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

export class Store {
	readonly #view: View;
	readonly #engine: Engine;
	readonly #listeners = new Set<CommitListener>();
	/** What was put into the view while commits of this process are under way; nothing is kept at rest. */
	readonly #applied = new Map<Revision, readonly (Entry | undefined)[]>();
	#underWay = 0;

	constructor(view: View, engine: Engine) {
		this.#view = view;
		this.#engine = engine;
		engine.tail(view.revision, (revision, writes) => {
			const entries = view.apply(revision, writes);
			if (this.#underWay > 0) this.#applied.set(revision, entries);
			const spaces = new Set(writes.map((write) => write.space));
			for (const listener of this.#listeners) listener(spaces);
		});
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

	/** All or nothing. Resolves when the commit is durable and readable. */
	commit(writes: readonly Write[], preconditions: readonly Precondition[] = []): Promise<CommitResult> {
		assert(writes.length > 0, "A commit must write at least one key");
		this.#underWay++;
		return this.#engine
			.append({ writes, preconditions })
			.then((appended) => this.#resultOf(appended))
			.finally(() => {
				this.#underWay--;
				if (this.#underWay === 0) this.#applied.clear();
			});
	}

	#resultOf(appended: AppendResult): CommitResult {
		if (appended.kind === "conflict") {
			const { space, key } = appended.place;
			return { kind: "conflict", place: appended.place, actual: this.space(space).get(key) };
		}
		const entries = this.#applied.get(appended.revision) ?? [];
		return { kind: "committed", revision: appended.revision, entries };
	}

	/** Calls `listener` after every commit, with the resources it touched. Returns how to stop. */
	onCommit(listener: CommitListener): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}
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
