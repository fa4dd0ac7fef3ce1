/**
 * The engine of a log that takes time to be durable: commits that come while one group is being written make the
 * next group, and share its sync.
 *
 *     append a ─┐ write [a] ........ durable: a is seen, a is answered
 *     append b ──┐                 └ write [b c] ..... durable: b and c are seen, and answered
 *     append c ───┘
 *
 * Preconditions are looked at when a group begins, with everything before it durable and seen. So there is nothing
 * to take back when a group cannot be written: it fails as a whole, and the next one begins where it began.
 */
import { assert } from "../kernel/assert.ts";
import type { AppendResult, Engine, LogSink } from "./engine.ts";
import { firstConflict } from "./engine.ts";
import type { Commit, Place, Revision, Write } from "./entry.ts";

export interface LoggedCommit {
	readonly revision: Revision;
	readonly writes: readonly Write[];
}

export interface CommitLog {
	/** All of them in this order, or none: resolves when they are on disk, rejects when they are not. */
	write(commits: readonly LoggedCommit[]): Promise<void>;
}

interface Waiting {
	readonly commit: Commit;
	resolve(result: AppendResult): void;
	reject(error: unknown): void;
}

/** Of one group; more make the next. */
const COMMITS_PER_GROUP_MAX = 1_000;

export class GroupCommitEngine implements Engine {
	readonly #log: CommitLog;
	readonly #revisionAt: (place: Place) => Revision;
	#revision: Revision;
	#sink: LogSink | undefined;
	#waiting: Waiting[] = [];
	#isWriting = false;

	/**
	 * @param start The newest revision of the log.
	 * @param revisionAt Where the view is, which has everything that is durable.
	 */
	constructor(log: CommitLog, start: Revision, revisionAt: (place: Place) => Revision) {
		this.#log = log;
		this.#revision = start;
		this.#revisionAt = revisionAt;
	}

	append(commit: Commit): Promise<AppendResult> {
		return new Promise((resolve, reject) => {
			this.#waiting.push({ commit, resolve, reject });
			if (!this.#isWriting) this.#next();
		});
	}

	tail(_from: Revision, sink: LogSink): void {
		assert(this.#sink === undefined, "tail() twice");
		this.#sink = sink;
	}

	#next(): void {
		if (this.#waiting.length === 0) {
			this.#isWriting = false;
			return;
		}
		this.#isWriting = true;
		const group = this.#waiting.slice(0, COMMITS_PER_GROUP_MAX);
		this.#waiting = this.#waiting.slice(COMMITS_PER_GROUP_MAX);
		const planned = this.#planned(group);
		const commits = planned.flatMap(({ logged }) => logged ?? []);
		const written = commits.length === 0 ? Promise.resolve() : this.#log.write(commits);
		written
			.then(
				() => this.#succeed(planned),
				(error: unknown) => {
					for (const { waiting } of planned) waiting.reject(error);
				},
			)
			.finally(() => this.#next());
	}

	/** What each becomes, were the whole group durable: those before it in the group count. */
	#planned(group: readonly Waiting[]): readonly Planned[] {
		const inGroup = new Map<string, Revision>();
		const at = (place: Place): Revision => inGroup.get(textOf(place)) ?? this.#revisionAt(place);
		let revision = this.#revision;
		return group.map((waiting) => {
			const conflict = firstConflict(waiting.commit, at);
			if (conflict !== undefined) return { waiting, conflict };
			revision++;
			const { writes } = waiting.commit;
			for (const write of writes) inGroup.set(textOf(write), write.kind === "put" ? revision : 0);
			return { waiting, logged: { revision, writes } };
		});
	}

	#succeed(planned: readonly Planned[]): void {
		const sink = this.#sink;
		assert(sink !== undefined, "append() before tail()");
		for (const { waiting, conflict, logged } of planned) {
			if (logged !== undefined) {
				this.#revision = logged.revision;
				sink(logged.revision, logged.writes);
				waiting.resolve({ kind: "appended", revision: logged.revision });
			} else if (conflict !== undefined) waiting.resolve({ kind: "conflict", place: conflict });
		}
	}
}

/** Either it is written, or it answers which precondition did not hold. */
interface Planned {
	readonly waiting: Waiting;
	readonly logged?: LoggedCommit;
	readonly conflict?: Place;
}

function textOf({ space, key }: Place): string {
	return `${space}${key}`;
}
