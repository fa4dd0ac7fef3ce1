import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { KubeObject } from "../api/types/meta.ts";
import type { Write } from "../store/entry.ts";
import { loggedStore, type Store } from "../store/store.ts";
import { meta } from "../testing/builders.ts";
import { engineSuite } from "../testing/engine-suite.ts";
import { silentMetrics } from "../testing/silent.ts";
import { type OpenedFolder, openDataFolder } from "./lmdb-log.ts";

const SPACE = "/registry/configmaps/";
let folder: string;
let opened: OpenedFolder | undefined;

beforeEach(() => {
	folder = mkdtempSync(path.join(tmpdir(), "sliceplane-lmdb-"));
});
afterEach(async () => {
	await opened?.close();
	opened = undefined;
	rmSync(folder, { recursive: true, force: true });
});

async function open(more: { readonly commitsMax?: number } = {}): Promise<Store> {
	opened = await openDataFolder({ folder, start: 100, metrics: silentMetrics, ...more });
	return loggedStore(opened.view, opened.log);
}

async function reopen(more: { readonly commitsMax?: number } = {}): Promise<Store> {
	await opened?.close();
	opened = undefined;
	return open(more);
}

function put(key: string, text = "x"): Write {
	const object: KubeObject & { readonly data: object } = {
		apiVersion: "v1",
		kind: "ConfigMap",
		metadata: meta(key),
		data: { text },
	};
	return { kind: "put", space: SPACE, key, object };
}
const gone = (key: string): Write => ({ kind: "delete", space: SPACE, key });

/** Every object with its revisions, and what a watcher from `after` would get. */
function shown(store: Store, after: number): unknown {
	const range = store.space(SPACE).range({ prefix: "" });
	const entries = range.kind === "range" ? range.entries : [];
	const batch = store.space(SPACE).readAfter(after, 1_000, store.revision);
	return {
		revision: store.revision,
		entries: entries.map(({ key, createRevision, modRevision, object }) => [key, createRevision, modRevision, object]),
		events: batch.kind === "events" ? batch.events : batch,
	};
}

describe("the LMDB engine", () => {
	engineSuite(() => ({
		isKept: true,
		open: async () => {
			const { view, log, close } = await openDataFolder({ folder, start: 100, metrics: silentMetrics });
			return { stores: [loggedStore(view, log)], close };
		},
	}));
});

describe("a data folder", () => {
	test("gives back every object, its revisions and the recent past", async () => {
		const store = await open();
		await store.commit([put("a"), put("b")]);
		await store.commit([put("a", "changed")]);
		await store.commit([gone("b"), put("c")]);
		const before = shown(store, 100);
		expect(shown(await reopen(), 100)).toEqual(before);
	});

	test("keeps as many commits as it may, and the state of those before", async () => {
		const store = await open({ commitsMax: 3 });
		for (let index = 0; index < 10; index++) await store.commit([put(`k${index % 4}`, `${index}`)]);
		await store.commit([gone("k0")]);
		const again = await reopen({ commitsMax: 3 });
		expect(again.revision).toBe(111);
		expect(shown(again, 108)).toEqual(shown(store, 108));
		expect(again.space(SPACE).readAfter(107, 10, again.revision)).toEqual({ kind: "compacted", oldest: 108 });
	});

	test("goes on above the revisions of the run before, also when all objects are gone", async () => {
		await (await open({ commitsMax: 1 })).commit([put("a")]);
		const store = await reopen();
		await store.commit([gone("a")]);
		expect((await reopen()).revision).toBe(102);
	});

	test("is for one process: another is told who has it", async () => {
		await open();
		await expect(openDataFolder({ folder, start: 1, metrics: silentMetrics })).rejects.toThrow(
			`${folder} is in use by process ${process.pid}: end it first, or take another folder`,
		);
	});

	test("that another process writes to all the same takes nothing from the one that was first", async () => {
		const store = await open();
		const lock = path.join(folder, "lock");
		// As in another container, or after somebody has removed it.
		rmSync(lock);
		const other = await openDataFolder({ folder, start: 100, metrics: silentMetrics });
		const second = loggedStore(other.view, other.log);
		await store.commit([put("first")]);
		await expect(second.commit([put("second")])).rejects.toThrow("another process has written to it, up to 101");
		await store.commit([put("third")]);
		await other.close();
		const again = await reopen();
		expect(again.space(SPACE).range({ prefix: "" })).toMatchObject({ entries: [{ key: "first" }, { key: "third" }] });
	});

	test("is its user's alone, also when the folder was there before", async () => {
		chmodSync(folder, 0o755);
		await (await open()).commit([put("secret")]);
		const modes = [
			path.join(folder, "store"),
			...["data.mdb", "lock.mdb"].map((name) => path.join(folder, "store", name)),
		];
		expect(modes.map((file) => (statSync(file).mode & 0o777).toString(8))).toEqual(["700", "600", "600"]);
	});

	test.each([
		{
			damage: "emptied",
			to: (bytes: Buffer) => bytes.subarray(0, 0),
			says: /data\.mdb: it is empty: restore a snapshot, or remove its folder/,
		},
		{
			damage: "cut off",
			to: (bytes: Buffer) => bytes.subarray(0, 8_192),
			says: /data\.mdb: it is cut off: 8192 bytes of \d+;/,
		},
		{
			damage: "overwritten at its start",
			to: (bytes: Buffer) => Buffer.concat([Buffer.alloc(4_096, 7), bytes.subarray(4_096)]),
			says: /data\.mdb: its start is damaged, or it is no store: restore a snapshot/,
		},
	])("that was $damage is refused, not mapped", async ({ to, says }) => {
		await (await open()).commit([put("a"), put("b")]);
		await opened?.close();
		opened = undefined;
		const file = path.join(folder, "store", "data.mdb");
		writeFileSync(file, to(readFileSync(file)));
		await expect(open()).rejects.toThrow(says);
	});
});
