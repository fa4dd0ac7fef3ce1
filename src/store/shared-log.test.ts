/** Stores whose log others write, too: read back in an order of its own, and sometimes from a whole state. */
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../api/types/meta.ts";
import type { AppendResult, Engine, LogSink } from "./engine.ts";
import type { Entry, PlacedEntry, Write } from "./entry.ts";
import { memoryStore, Store } from "./store.ts";
import { View } from "./view.ts";

const SPACE = "/registry/pods/";

function object(name: string, mark = "a"): KubeObject {
	const metadata = { name, uid: "u", resourceVersion: "", creationTimestamp: "", labels: { mark } };
	return { apiVersion: "v1", kind: "Pod", metadata };
}

const put = (key: string, mark?: string): Write => ({ kind: "put", space: SPACE, key, object: object(key, mark) });
const remove = (key: string, last?: KubeObject): Write => {
	return { kind: "delete", space: SPACE, key, ...(last === undefined ? {} : { last }) };
};

/** Answers what the test says, and sends what the test says. */
class Scripted implements Engine {
	send: LogSink = () => undefined;
	answers: (() => AppendResult)[] = [];

	append(): Promise<AppendResult> {
		return Promise.resolve(this.answers.shift()?.() ?? { kind: "unchanged", revision: 0 });
	}

	tail(_from: number, sink: LogSink): void {
		this.send = sink;
	}
}

function scripted(): { readonly engine: Scripted; readonly store: Store } {
	const engine = new Scripted();
	return { engine, store: new Store(new View(10), engine) };
}

async function committed(store: Store, ...writes: readonly Write[]): Promise<readonly (Entry | undefined)[]> {
	const result = await store.commit(writes);
	return result.kind === "committed" ? result.entries : [];
}

describe("a store whose log is read back", () => {
	test("answers for each write of a commit, though the log has them in another order, and lacks what changed nothing", async () => {
		const { engine, store } = scripted();
		engine.answers.push(() => {
			engine.send(11, [put("a"), put("b")]);
			return { kind: "appended", revision: 11 };
		});
		const entries = await committed(store, put("b"), remove("none"), put("a"));
		expect(entries.map((entry) => entry?.key)).toEqual(["b", undefined, "a"]);
		expect(entries[0]).toBe(store.space(SPACE).get("b"));
	});

	test("answers nothing for deletes of nothing, whatever else has its revision", async () => {
		const { engine, store } = scripted();
		engine.answers.push(() => {
			engine.send(11, [put("a")]);
			return { kind: "unchanged", revision: 11 };
		});
		expect(await committed(store, remove("none"))).toEqual([undefined]);
	});

	test("answers with what was written when the view has come past it another way", async () => {
		const { engine, store } = scripted();
		engine.answers.push(() => ({ kind: "appended", revision: 12 }));
		const entries = await committed(store, put("a"), remove("b", object("b", "last")), remove("c"));
		expect(entries.map((entry) => entry?.object.metadata)).toMatchObject([
			{ name: "a", resourceVersion: "12" },
			{ name: "b", resourceVersion: "12", labels: { mark: "last" } },
			undefined as never,
		]);
	});

	test("a revision without writes is one, and listeners learn of it", () => {
		const { engine, store } = scripted();
		const told: number[] = [];
		store.onCommit((spaces) => told.push(spaces.size));
		engine.send(15, []);
		expect([store.revision, told]).toEqual([15, [0]]);
	});

	test("nobody waits for a store that nobody else writes to", () => {
		expect(memoryStore(1).reach()).toBeUndefined();
	});
});

describe("View.reset()", () => {
	const placed = (key: string, modRevision: number, mark = "a"): PlacedEntry => {
		const stored = object(key, mark);
		const entry = { key, createRevision: 1, modRevision, object: stored };
		return { space: SPACE, entry };
	};

	test("has the new state and nothing else, and forgets the past of every space", () => {
		const view = new View(10);
		view.apply(11, [put("kept"), put("gone"), { ...put("x"), space: "/registry/secrets/" }]);
		const spaces = view.reset(20, [placed("new", 18), placed("kept", 19, "b")]);
		expect([...spaces].sort()).toEqual([SPACE, "/registry/secrets/"]);
		const range = view.space(SPACE).range({ prefix: "" });
		expect(range.kind === "range" && range.entries.map(({ key }) => key)).toEqual(["kept", "new"]);
		expect(view.space("/registry/secrets/").size).toBe(0);
		expect([view.revision, view.compacted, view.historyBytes, view.historyEvents]).toEqual([20, 20, 0, 0]);
		for (const space of [SPACE, "/registry/secrets/", "/registry/never-seen/"]) {
			expect(view.space(space).readAfter(19, 10, view.revision)).toEqual({ kind: "compacted", oldest: 20 });
			expect(view.space(space).range({ prefix: "", revision: 19 }).kind).toBe("compacted");
		}
		expect(view.space(SPACE).readAfter(20, 10, view.revision)).toMatchObject({ kind: "events", events: [] });
	});

	test("keeps the very objects that are as they were, with what was made for them", () => {
		const view = new View(10);
		view.apply(11, [put("kept")]);
		const before = view.space(SPACE).get("kept");
		view.reset(20, [placed("kept", 11)]);
		expect(view.space(SPACE).get("kept")).toBe(before);
	});

	test("goes on from there: history, and its limits", () => {
		const view = new View(10, { historyBytesMax: 2 ** 20, historyEventsMax: 2 });
		view.apply(11, [put("a"), put("b")]);
		view.reset(20, [placed("a", 11)]);
		for (let revision = 21; revision <= 24; revision++) view.apply(revision, [put("a", `m${revision}`)]);
		expect(view.historyEvents).toBe(2);
		const batch = view.space(SPACE).readAfter(22, 10, view.revision);
		expect(batch.kind === "events" && batch.events.map(({ revision }) => revision)).toEqual([23, 24]);
	});

	test("never goes back", () => {
		expect(() => new View(10).reset(9, [])).toThrow("Cannot go back to revision 9 from 10");
	});
});
