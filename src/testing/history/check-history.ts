/**
 * Says whether a store kept its promises, by what its clients were told.
 *
 * Every answer names a revision, so there is nothing to search for: the order of revisions is the only one in which
 * the operations can have happened, and it is looked at whether that order explains every answer, and agrees with
 * the order in which calls and answers came.
 *
 *     a: commit x=1 ──────── r7          r7 < r8, and b was called after a was answered: right
 *     b:              commit x=2 ── r8
 *     c:                      read x ── 1 as of r7    wrong, if b was answered before c was called
 *
 * @see https://github.com/etcd-io/etcd/tree/main/tests/robustness
 */
import type { Revision } from "../../store/entry.ts";
import { checkWatch } from "./check-watch.ts";
import type {
	BrokenPromise,
	Change,
	CommitOperation,
	LoggedChanges,
	Operation,
	ReadOperation,
	StoreHistory,
	StorePromise,
} from "./operation.ts";
import { PlaceStates } from "./place-states.ts";

/** Nothing, when every promise was kept. */
export function checkHistory(history: StoreHistory): readonly BrokenPromise[] {
	const check = new HistoryCheck(history);
	return [...check.all(), ...history.watches.flatMap((session) => checkWatch(session, history.log))];
}

class HistoryCheck {
	readonly #history: StoreHistory;
	readonly #log: ReadonlyMap<Revision, LoggedChanges>;
	readonly #states: PlaceStates;
	readonly #broken: BrokenPromise[] = [];

	constructor(history: StoreHistory) {
		this.#history = history;
		this.#log = new Map(history.log.map((commit) => [commit.revision, commit]));
		this.#states = new PlaceStates(history.log, history.before ?? new Map());
	}

	all(): readonly BrokenPromise[] {
		this.#checkLog();
		const claimed = this.#checkCommits();
		this.#checkUnclaimed(claimed);
		for (const operation of this.#history.operations) {
			if (operation.kind === "read") this.#checkRead(operation);
		}
		this.#checkOrder();
		return this.#broken;
	}

	#checkLog(): void {
		let last: Revision = 0;
		for (const { revision } of this.#history.log) {
			if (revision === last) this.#broke("unique", `the log has revision ${revision} twice`);
			if (revision < last) this.#broke("ordered", `the log has revision ${revision} after ${last}`);
			last = revision;
		}
	}

	/** Returns the revisions that somebody was told of as the revision of a commit of theirs. */
	#checkCommits(): ReadonlySet<Revision> {
		const claimed = new Set<Revision>();
		for (const operation of commitsOf(this.#history.operations)) {
			if (operation.answer.kind !== "committed") continue;
			const { revision } = operation.answer;
			const logged = this.#log.get(revision);
			const isFree = logged !== undefined && !claimed.has(revision);
			const isItself = isFree && sameChanges(operation.changes, logged.changes);
			if (!isItself && this.#isIdle(operation.changes, revision)) continue;
			const written = this.#effective(operation.changes, revision);
			if (logged === undefined) {
				this.#broke("durable", `${named(operation)} is not in the log`);
				continue;
			}
			if (!isFree) this.#broke("unique", `${named(operation)}: somebody else was told the same revision`);
			claimed.add(revision);
			if (!sameChanges(written, logged.changes)) {
				this.#broke("atomic", `${named(operation)} is in the log as ${shown(logged.changes)}`);
			}
			this.#checkExpected(operation, revision);
		}
		return claimed;
	}

	#checkExpected(operation: CommitOperation, revision: Revision): void {
		for (const [place, expected] of operation.expected) {
			const actual = this.#states.before(place, revision).revision;
			if (actual === expected) continue;
			this.#broke("linearizable", `${named(operation)} wanted ${place} at ${expected}, and it was at ${actual}`);
		}
	}

	/** A commit that nobody was told of must be one of which nobody knows what became of it. */
	#checkUnclaimed(claimed: ReadonlySet<Revision>): void {
		const unknown = commitsOf(this.#history.operations).filter(({ answer }) => answer.kind === "unknown");
		const used = new Set<CommitOperation>();
		for (const { revision, changes } of this.#history.log) {
			if (claimed.has(revision)) continue;
			const match = unknown.find(
				(operation) => !used.has(operation) && sameChanges(this.#effective(operation.changes, revision), changes),
			);
			if (match === undefined) this.#broke("asked for", `r${revision} ${shown(changes)}: nobody asked for it`);
			else {
				used.add(match);
				this.#checkExpected(match, revision);
			}
		}
	}

	#checkRead(operation: ReadOperation): void {
		const { asOf, modRevision, value } = operation.answer;
		const state = this.#states.at(operation.place, asOf);
		if (state.revision === modRevision && state.value === value) return;
		const isKnown = modRevision === 0 || this.#log.has(modRevision) || this.#history.before !== undefined;
		const want = `${state.value ?? "nothing"}@${state.revision}`;
		this.#broke(isKnown ? "linearizable" : "durable", `${named(operation)}, want ${want}`);
	}

	/** Whoever was called after another was answered comes after it. */
	#checkOrder(): void {
		const answered = this.#history.operations
			.flatMap((operation) => {
				const effect = effectOf(operation);
				return effect === undefined ? [] : [{ at: operation.answeredAt ?? Infinity, effect }];
			})
			.sort((a, b) => a.at - b.at);
		const newest: Revision[] = [];
		for (const { effect } of answered) newest.push(Math.max(effect, newest.at(-1) ?? 0));
		for (const operation of [...this.#history.operations].sort((a, b) => a.calledAt - b.calledAt)) {
			const before = lastBefore(answered, operation.calledAt);
			const floor = before < 0 ? 0 : (newest[before] as Revision);
			if (operation.kind === "commit" && operation.answer.kind === "conflict") this.#checkConflict(operation, floor);
			const effect = effectOf(operation);
			if (effect !== undefined && effect < floor) {
				this.#broke("linearizable", `${named(operation)} came after somebody knew of ${floor}`);
			}
		}
	}

	/** The precondition must have failed at some moment between call and answer. */
	#checkConflict(operation: CommitOperation, floor: Revision): void {
		if (operation.answer.kind !== "conflict") return;
		const { place } = operation.answer;
		const expected = operation.expected.get(place);
		const { answeredAt = Infinity } = operation;
		const later = commitsOf(this.#history.operations).flatMap((other) => {
			if (other.calledAt <= answeredAt || other.answer.kind !== "committed") return [];
			const { revision } = other.answer;
			// Whoever deleted nothing was told a revision that was there before.
			return [this.#isIdle(other.changes, revision) ? revision : revision - 1];
		});
		const ceiling = later.reduce((least, revision) => Math.min(least, revision), Infinity);
		const states = this.#states.between(place, floor, ceiling);
		if (states.some(({ revision }) => revision !== expected)) return;
		this.#broke("linearizable", `${named(operation)}, and ${place} was at ${expected} all the time`);
	}

	/** Deletes of what is not there make no commit, and may be told the revision of one before. */
	#isIdle(changes: readonly Change[], revision: Revision): boolean {
		return changes.every(({ place, value }) => value === undefined && this.#states.at(place, revision).revision === 0);
	}

	/** Without deletes of what was not there. */
	#effective(changes: readonly Change[], revision: Revision): readonly Change[] {
		return changes.filter(
			({ place, value }) => value !== undefined || this.#states.before(place, revision).revision !== 0,
		);
	}

	#broke(promise: StorePromise, detail: string): void {
		this.#broken.push({ promise, detail });
	}
}

function commitsOf(operations: readonly Operation[]): readonly CommitOperation[] {
	return operations.filter((operation) => operation.kind === "commit");
}

function effectOf(operation: Operation): Revision | undefined {
	if (operation.kind === "read") return operation.answer.asOf;
	return operation.answer.kind === "committed" ? operation.answer.revision : undefined;
}

/** Index of the last that was answered before `at`; -1: none. */
function lastBefore(answered: readonly { readonly at: number }[], at: number): number {
	let [low, high] = [0, answered.length];
	while (low < high) {
		const middle = (low + high) >>> 1;
		if ((answered[middle] as { readonly at: number }).at < at) low = middle + 1;
		else high = middle;
	}
	return low - 1;
}

function sameChanges(a: readonly Change[], b: readonly Change[]): boolean {
	return shown(a) === shown(b);
}

/** In order of places: a commit has no order of its own. */
function shown(changes: readonly Change[]): string {
	return changes
		.map(({ place, value }) => (value === undefined ? `-${place}` : `${place}=${value}`))
		.sort()
		.join(" ");
}

function named(operation: Operation): string {
	const by = `${operation.client}'s`;
	if (operation.kind === "read") {
		const { asOf, modRevision, value } = operation.answer;
		return `${by} read of ${operation.place} as of r${asOf}: ${value ?? "nothing"}@${modRevision}`;
	}
	const { answer } = operation;
	const told = answer.kind === "committed" ? `r${answer.revision}` : answer.kind;
	return `${by} commit of ${shown(operation.changes)} (${told})`;
}
