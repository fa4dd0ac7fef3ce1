import {
	chmodSync,
	cpSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { open as openRoot } from "lmdb";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { KubeObject } from "../api/types/meta.ts";
import type { Write } from "../store/entry.ts";
import { loggedStore, type Store } from "../store/store.ts";
import { meta } from "../testing/builders.ts";
import { engineSuite } from "../testing/engine-suite.ts";
import { silentMetrics } from "../testing/silent.ts";
import { type OpenedFolder, openDataFolder } from "./lmdb-log.ts";
import { LmdbStore } from "./lmdb-store.ts";

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

/** As a process does that does not know of this one. */
async function takeOver(): Promise<void> {
	const other = new LmdbStore(openRoot, { path: path.join(folder, "store"), commitsMax: 10 });
	other.claim();
	await other.close();
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

	test("that another one has taken takes no more of this one, and says so", async () => {
		const store = await open();
		await store.commit([put("a")]);
		await takeOver();
		await expect(store.commit([put("b")])).rejects.toThrow(
			`${folder}: another process has taken it, and this one may not write any more`,
		);
		expect(await opened?.lost).toBe(`${folder}: another process has taken it, and this one may not write any more`);
		const again = await reopen();
		expect([again.revision, again.space(SPACE).get("b")]).toEqual([101, undefined]);
	});

	test("that another one has taken is said to be lost, also when nothing is written", async () => {
		await open();
		await takeOver();
		expect(await opened?.lost).toContain("another process has taken it");
	});

	test.each([
		{ what: "removed", away: () => rmSync(folder, { recursive: true }) },
		{ what: "moved", away: () => renameSync(folder, `${folder}-moved`) },
		{ what: "without its store", away: () => rmSync(path.join(folder, "store"), { recursive: true }) },
		{ what: "without its file", away: () => rmSync(path.join(folder, "store", "data.mdb")) },
		{
			what: "replaced by a copy",
			away: () => {
				cpSync(folder, `${folder}-copy`, { recursive: true });
				rmSync(folder, { recursive: true });
				renameSync(`${folder}-copy`, folder);
			},
		},
	])("that is $what takes no more, and says so", async ({ away }) => {
		const store = await open();
		await store.commit([put("a")]);
		away();
		const says = `${folder}: its store is not there any more: it was removed, moved or replaced while this process used it`;
		await expect(store.commit([put("b")])).rejects.toThrow(says);
		expect(await opened?.lost).toContain(says);
		await expect(store.commit([put("c")])).rejects.toThrow(says);
		expect(store.space(SPACE).get("b")).toBeUndefined();
		rmSync(`${folder}-moved`, { recursive: true, force: true });
	});

	test("that is removed is said to be lost, also when nothing is written", async () => {
		await open();
		rmSync(folder, { recursive: true });
		expect(await opened?.lost).toContain("its store is not there any more");
	});

	test("waits at its end for what is being written, and refuses what comes later", async () => {
		const store = await open();
		const written = store.commit([put("a")]);
		const closed = opened?.close();
		const late = expect(store.commit([put("b")])).rejects.toThrow("the plane is stopping");
		expect(await written).toMatchObject({ kind: "committed", revision: 101 });
		await late;
		await closed;
		opened = undefined;
	});

	test("that was there before keeps its mode, and what is in it is its user's alone", async () => {
		chmodSync(folder, 0o755);
		await (await open()).commit([put("a")]);
		await reopen();
		const inside = path.join(folder, "store");
		const modes = [folder, inside, ...readdirSync(inside).map((name) => path.join(inside, name))].map(
			(file) => statSync(file).mode & 0o777,
		);
		expect(modes).toEqual([0o755, 0o700, 0o600, 0o600]);
	});

	test.each([
		{ what: "an empty file", make: (file: string) => writeFileSync(file, ""), says: "it is empty" },
		{ what: "no file", make: () => undefined, says: "it is not there" },
	])("with $what is refused: a new one has no store at all", async ({ make, says }) => {
		mkdirSync(path.join(folder, "store"));
		make(path.join(folder, "store", "data.mdb"));
		await expect(open()).rejects.toThrow(
			`${folder}/store/data.mdb: ${says}: restore a snapshot, or remove its folder to start anew`,
		);
	});

	test.each([
		{
			damage: "bits that have changed",
			to: (bytes: Buffer) => {
				const at = bytes.lastIndexOf("MARK");
				bytes.write("m", at);
				return bytes;
			},
			says: /its store is damaged: log 101: its checksum is wrong, the disk has changed it: restore a snapshot/,
		},
		{
			damage: "a page that is gone",
			to: (bytes: Buffer) => {
				const page = Math.floor(bytes.lastIndexOf("MARK") / 4_096);
				return bytes.fill(0, page * 4_096, (page + 1) * 4_096);
			},
			says: /its pages are damaged, reading them ended with \S+.*: restore a snapshot/,
		},
	])("with $damage is refused, and ends nothing", async ({ to, says }) => {
		await (await open()).commit([put("a", "MARK")]);
		await opened?.close();
		opened = undefined;
		const file = path.join(folder, "store", "data.mdb");
		writeFileSync(file, to(readFileSync(file)));
		await expect(open()).rejects.toThrow(says);
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
