/** Writes down what clients of stores do, and what they are told. */
import type { KubeObject } from "../../api/types/meta.ts";
import type { Entry, Place, Precondition, Revision, StoreEvent, Write } from "../../store/entry.ts";
import type { CommitResult, Store } from "../../store/store.ts";
import type { Change, LoggedChanges, Operation, StoreHistory, WatchedBatch, WatchSession } from "./operation.ts";

/** Tells two states of an object apart: tests give each a mark of its own. */
export const MARK = "mark";

export class HistoryRecorder {
	readonly #operations: Operation[] = [];
	readonly #sessions: (WatchSession & { readonly batches: WatchedBatch[] })[] = [];
	readonly #log: LoggedChanges[] = [];
	readonly #spaces: readonly string[];
	#counted = 0;
	#logged: Revision | undefined;

	/** @param spaces Those that clients write to. */
	constructor(spaces: readonly string[]) {
		this.#spaces = spaces;
	}

	/** Takes every commit down from now on; a store that is opened again goes on where the log ends. */
	follow(store: Store): () => void {
		this.#logged ??= store.revision;
		this.#takeDown(store);
		return store.onCommit(() => this.#takeDown(store));
	}

	async commit(
		client: string,
		store: Store,
		writes: readonly Write[],
		preconditions: readonly Precondition[],
	): Promise<CommitResult | undefined> {
		const calledAt = this.#count();
		const changes = writes.map(changeOf);
		const expected = new Map(preconditions.map((wanted) => [placeOf(wanted), wanted.expected]));
		const asked = { kind: "commit", client, calledAt, changes, expected } as const;
		try {
			const result = await store.commit(writes, preconditions);
			const answeredAt = this.#count();
			const answer =
				result.kind === "committed"
					? ({ kind: "committed", revision: result.revision } as const)
					: ({ kind: "conflict", place: placeOf(result.place) } as const);
			this.#operations.push({ ...asked, answeredAt, answer });
			return result;
		} catch {
			this.#operations.push({ ...asked, answer: { kind: "unknown" } });
			return undefined;
		}
	}

	async read(client: string, store: Store, { space, key }: Place): Promise<Entry | undefined> {
		const calledAt = this.#count();
		await store.reach();
		const entry = store.space(space).get(key);
		const answer = {
			asOf: store.revision,
			modRevision: entry?.modRevision ?? 0,
			...(entry === undefined ? {} : { value: markOf(entry.object) }),
		};
		const place = placeOf({ space, key });
		this.#operations.push({ kind: "read", client, calledAt, answeredAt: this.#count(), place, answer });
		return entry;
	}

	/** A watch that is read by hand: each call reads a batch of at most `limit` events. */
	watch(name: string, space: string, after: Revision): (store: Store, limit: number) => "told" | "compacted" {
		const session = { name, prefix: space, after, batches: [] as WatchedBatch[] };
		this.#sessions.push(session);
		let cursor = after;
		return (store, limit) => {
			const batch = store.space(space).readAfter(cursor, limit, store.revision);
			if (batch.kind === "compacted") return "compacted";
			session.batches.push({ through: batch.through, events: batch.events.map((event) => eventOf(space, event)) });
			cursor = batch.through;
			return "told";
		};
	}

	history(): StoreHistory {
		return { log: this.#log, operations: this.#operations, watches: this.#sessions };
	}

	#takeDown(store: Store): void {
		const after = this.#logged ?? 0;
		const changes = new Map<Revision, Change[]>();
		for (const space of this.#spaces) {
			const batch = store.space(space).readAfter(after, Number.MAX_SAFE_INTEGER, store.revision);
			if (batch.kind === "compacted") throw new Error(`${space}: the past after ${after} is gone`);
			for (const { revision, ...change } of batch.events.map((event) => eventOf(space, event))) {
				changes.set(revision, [...(changes.get(revision) ?? []), change]);
			}
		}
		const revisions = [...changes.keys()].sort((a, b) => a - b);
		for (const revision of revisions) this.#log.push({ revision, changes: changes.get(revision) ?? [] });
		this.#logged = Math.max(after, store.revision);
	}

	#count(): number {
		this.#counted++;
		return this.#counted;
	}
}

function placeOf({ space, key }: Place): string {
	return `${space}${key}`;
}

function changeOf(write: Write): Change {
	return write.kind === "delete" ? { place: placeOf(write) } : { place: placeOf(write), value: markOf(write.object) };
}

function eventOf(space: string, { kind, revision, current }: StoreEvent): WatchedBatch["events"][number] {
	const place = placeOf({ space, key: current.key });
	return kind === "delete" ? { revision, place } : { revision, place, value: markOf(current.object) };
}

function markOf({ metadata }: KubeObject): string {
	return metadata.labels?.[MARK] ?? "";
}
