import { describe, expect, test } from "vitest";
import { checkHistory } from "./check-history.ts";
import type { CommitOperation, LoggedChanges, ReadOperation, StoreHistory, WatchedBatch } from "./operation.ts";

/** `r7 x=1 -y`: a commit, or an event of a watch. */
function logged(text: string): LoggedChanges {
	const [revision = "", ...changes] = text.split(" ");
	return {
		revision: Number(revision.slice(1)),
		changes: changes.map((change) => {
			const [place = "", value = ""] = change.split("=");
			return change.startsWith("-") ? { place: change.slice(1) } : { place, value };
		}),
	};
}

const LOG = ["r1 x=1 y=1", "r2 x=2", "r3 -y", "r4 x=3"].map(logged);

interface Told {
	readonly at?: readonly [called: number, answered?: number];
	readonly expected?: Readonly<Record<string, number>>;
	readonly told?: CommitOperation["answer"] | number;
}

function commit(
	text: string,
	{ at: [calledAt, answeredAt] = [0, 100], expected = {}, told }: Told = {},
): CommitOperation {
	const { revision, changes } = logged(text);
	const answer = typeof told === "object" ? told : ({ kind: "committed", revision: told ?? revision } as const);
	return {
		kind: "commit",
		client: "c",
		calledAt,
		answeredAt,
		changes,
		expected: new Map(Object.entries(expected)),
		answer,
	};
}

function read(
	place: string,
	asOf: number,
	modRevision: number,
	value?: string,
	at: readonly [number, number] = [0, 100],
): ReadOperation {
	const answer = { asOf, modRevision, ...(value === undefined ? {} : { value }) };
	return { kind: "read", client: "c", calledAt: at[0], answeredAt: at[1], place, answer };
}

const ALL = ["r1 x=1 y=1", "r2 x=2", "r3 -y", "r4 x=3"].map((text) => commit(text));

function batch(through: number, ...events: readonly string[]): WatchedBatch {
	const told = events
		.map(logged)
		.flatMap(({ revision, changes }) => changes.map((change) => ({ revision, ...change })));
	return { through, events: told };
}

function broken(history: Partial<StoreHistory>): readonly string[] {
	return checkHistory({ log: LOG, operations: ALL, watches: [], ...history }).map(({ promise }) => promise);
}

const watch = (after: number, ...batches: readonly WatchedBatch[]): Partial<StoreHistory> => ({
	watches: [{ name: "w", prefix: "x", after, batches }],
});
const unknown = { kind: "unknown" } as const;
const conflict = { kind: "conflict", place: "x" } as const;

describe("what a store may do", () => {
	test.each<{ what: string; history: Partial<StoreHistory> }>([
		{ what: "answer what it has logged", history: {} },
		{
			what: "do what nobody was answered",
			history: { operations: [...ALL.slice(1), commit("r0 y=1 x=1", { told: unknown })] },
		},
		{ what: "not do what nobody was answered", history: { operations: [...ALL, commit("r0 z=1", { told: unknown })] } },
		{
			what: "refuse what would not hold at some moment",
			history: { operations: [...ALL, commit("r0 x=9", { told: conflict, expected: { x: 2 } })] },
		},
		{ what: "answer a read of the past while that was new", history: { operations: [...ALL, read("x", 2, 2, "2")] } },
		{ what: "delete nothing with no commit", history: { operations: [...ALL, commit("r3 -y", { told: 3 })] } },
		{
			what: "refuse what another wrote, whose revision is told to one who deletes nothing later",
			history: {
				operations: [
					...ALL.slice(0, 3),
					commit("r4 x=3", { at: [1, 20] }),
					commit("r0 x=9", { at: [4, 5], told: conflict, expected: { x: 2 } }),
					commit("r4 -z", { at: [6, 7] }),
				],
			},
		},
		{
			what: "delete nothing with the revision of another's commit",
			history: { operations: [commit("r2 -z", { told: 2 }), ...ALL] },
		},
		{ what: "tell a watch only what it asks for", history: watch(0, batch(1, "r1 x=1"), batch(4, "r2 x=2", "r4 x=3")) },
		{ what: "tell a watch nothing yet", history: watch(2, batch(2)) },
	])("$what", ({ history }) => {
		expect(broken(history)).toEqual([]);
	});
});

describe("what is found", () => {
	test.each<{ what: string; promise: string; history: Partial<StoreHistory> }>([
		{ what: "an answer that was lost", promise: "durable", history: { operations: [...ALL, commit("r9 x=9")] } },
		{ what: "a read of what was lost", promise: "durable", history: { operations: [...ALL, read("x", 9, 9, "9")] } },
		{ what: "a write that nobody asked for", promise: "asked for", history: { operations: ALL.slice(1) } },
		{
			what: "a write that was done twice",
			promise: "asked for",
			history: { operations: [...ALL.slice(0, 3), commit("r0 z=1", { told: unknown })] },
		},
		{ what: "half a commit", promise: "atomic", history: { operations: [commit("r1 x=1 y=1 z=1"), ...ALL.slice(1)] } },
		{ what: "one revision for two", promise: "unique", history: { operations: [...ALL, commit("r2 x=2")] } },
		{
			what: "a log that goes back",
			promise: "ordered",
			history: { log: [...LOG.slice(0, 2), ...LOG.slice(3), LOG[2] as LoggedChanges] },
		},
		{
			what: "a precondition that did not hold",
			promise: "linearizable",
			history: { operations: [...ALL.slice(0, 3), commit("r4 x=3", { expected: { x: 1 } })] },
		},
		{
			what: "a write before what was known",
			promise: "linearizable",
			history: {
				operations: [
					...ALL.slice(0, 1),
					commit("r2 x=2", { at: [60, 70] }),
					...ALL.slice(2, 3),
					commit("r4 x=3", { at: [1, 50] }),
				],
			},
		},
		{
			what: "a read of the past after its end",
			promise: "linearizable",
			history: { operations: [...ALL.slice(0, 3), commit("r4 x=3", { at: [1, 50] }), read("x", 2, 2, "2", [60, 70])] },
		},
		{
			what: "a read of another state",
			promise: "linearizable",
			history: { operations: [...ALL, read("x", 3, 1, "1")] },
		},
		{
			what: "a refusal without a cause",
			promise: "linearizable",
			history: {
				operations: [
					commit("r1 x=1 y=1", { at: [0, 1] }),
					commit("r2 x=2", { at: [2, 3] }),
					commit("r3 -y", { at: [6, 7] }),
					commit("r4 x=3", { at: [8, 9] }),
					commit("r0 x=9", { at: [4, 5], told: conflict, expected: { x: 2 } }),
				],
			},
		},
		{
			what: "events out of order",
			promise: "ordered",
			history: watch(0, batch(4, "r1 x=1", "r2 x=2", "r4 x=3", "r2 x=2")),
		},
		{ what: "an event twice", promise: "unique", history: watch(0, batch(1, "r1 x=1"), batch(2, "r1 x=1", "r2 x=2")) },
		{
			what: "half a revision",
			promise: "atomic",
			history: { watches: [{ name: "w", prefix: "", after: 0, batches: [batch(1, "r1 x=1")] }] },
		},
		{ what: "an event that was left out", promise: "reliable", history: watch(0, batch(4, "r1 x=1", "r4 x=3")) },
		{ what: "a gap after the start", promise: "resumable", history: watch(1, batch(4, "r4 x=3")) },
		{ what: "a bookmark past what was not told", promise: "bookmarkable", history: watch(1, batch(3)) },
		{ what: "an event of a commit that is gone", promise: "durable", history: watch(4, batch(5, "r5 x=9")) },
	])("$what is not $promise", ({ promise, history }) => {
		expect(broken(history)).toContain(promise);
	});
});
