import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../api/types/meta.ts";
import type { Write } from "./entry.ts";
import { startRevision } from "./memory-engine.ts";
import type { WatchBatch } from "./space.ts";
import { memoryStore, type Store } from "./store.ts";

const SPACE = "/registry/pods/";

function object(name: string, mark = "a"): KubeObject {
	return {
		apiVersion: "v1",
		kind: "Pod",
		metadata: { name, uid: "u", resourceVersion: "", creationTimestamp: "", labels: { mark } },
	};
}

function put(key: string, mark?: string): Write {
	return { kind: "put", space: SPACE, key, object: object(key, mark) };
}

function remove(key: string): Write {
	return { kind: "delete", space: SPACE, key };
}

function watched(store: Store, after: number, limit = 100): string {
	return rendered(store.space(SPACE).readAfter(after, limit, store.revision));
}

function rendered(batch: WatchBatch): string {
	if (batch.kind === "compacted") return `compacted ${batch.oldest}`;
	const events = batch.events.map((event) => `${event.kind} ${event.current.key}@${event.revision}`);
	return [...events, `through ${batch.through}`].join(", ");
}

function keysAt(store: Store, revision?: number, prefix = ""): string {
	const result = store.space(SPACE).range({ prefix, ...(revision === undefined ? {} : { revision }) });
	if (result.kind === "compacted") return `compacted ${result.oldest}`;
	return result.entries.map((entry) => `${entry.key}=${entry.object.metadata.labels?.["mark"]}`).join(" ");
}

describe("Store", () => {
	test("freezes what it keeps, so that readers can share it", async () => {
		const store = memoryStore(0);
		await store.commit([put("a")]);
		expect(Object.isFrozen(store.space(SPACE).get("a")?.object.metadata.labels)).toBe(true);
	});

	test("never splits a revision over two batches of a watch", async () => {
		const store = memoryStore(0);
		await store.commit([put("a"), put("b"), put("c")]);
		await store.commit([put("d")]);
		expect(watched(store, 0, 1)).toBe("put a@1, put b@1, put c@1, through 1");
		expect(watched(store, 1, 1)).toBe("put d@2, through 2");
	});

	test("answers a watcher that asks for forgotten history with compacted, never with a gap", async () => {
		const store = memoryStore(0);
		for (const mark of ["1", "2", "3"]) await store.commit([put("a", mark)]);
		store.view.compact(2);
		expect(watched(store, 1)).toBe("compacted 2");
		expect(watched(store, 2)).toBe("put a@3, through 3");
		expect(keysAt(store, 1)).toBe("compacted 2");
	});

	test("answers a watcher from before the start with compacted", () => {
		expect(watched(memoryStore(100), 99)).toBe("compacted 100");
	});

	test("reads one namespace without its neighbours", async () => {
		const store = memoryStore(0);
		await store.commit([put("ns/a"), put("ns2/a"), put("ns-x/a"), put("ns/b")]);
		expect(keysAt(store, undefined, "ns/")).toBe("ns/a=a ns/b=a");
	});

	test("forgets the oldest events of all resources when the byte limit is reached", async () => {
		const store = memoryStore(0, { historyBytesMax: 4_000, historyEventsMax: 1_000 });
		for (let i = 0; i < 100; i++) await store.commit([put("a", String(i))]);
		expect(store.view.historyBytes).toBeLessThanOrEqual(4_000);
		expect(store.view.historyEvents).toBeGreaterThan(2);
		expect(keysAt(store)).toBe("a=99");
		expect(watched(store, 1)).toMatch(/^compacted/);
	});

	test("keeps at most the given number of events", async () => {
		const store = memoryStore(0, { historyBytesMax: 1e9, historyEventsMax: 5 });
		for (let i = 0; i < 5_000; i++) await store.commit([put(`p${i % 7}`)]);
		expect(store.view.historyEvents).toBe(5);
		expect(watched(store, 4_995)).toContain("through 5000");
	});

	test("reads any kept revision as it was", () => {
		const step = fc.record({ key: fc.constantFrom("a", "b", "c/d", "c/e"), mark: fc.option(fc.nat(9)) });
		return fc.assert(
			fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
				const store = memoryStore(0);
				const snapshots: [number, string][] = [[0, ""]];
				for (const { key, mark } of steps) {
					await store.commit([mark === null ? remove(key) : put(key, String(mark))]);
					snapshots.push([store.revision, keysAt(store)]);
				}
				for (const [revision, keys] of snapshots) expect(keysAt(store, revision)).toBe(keys);
			}),
		);
	});

	test("starts a memory plane above every revision of an earlier run", () => {
		const started = Date.parse("2026-01-01T00:00:00Z");
		const restartedMs = started + 1_000;
		expect(startRevision(restartedMs)).toBeGreaterThan(startRevision(started) + 9_000);
		expect(startRevision(restartedMs)).toBeLessThan(Number.MAX_SAFE_INTEGER);
	});
});
