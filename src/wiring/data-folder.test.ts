import {
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { open as openLmdb } from "lmdb";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { KubeObject } from "../api/types/meta.ts";
import { openDataFolder } from "../edge/lmdb-log.ts";
import { LmdbStore } from "../edge/lmdb-store.ts";
import { createTables } from "../edge/lmdb-tables.ts";
import type { Write } from "../store/entry.ts";
import { loggedStore, type Store } from "../store/store.ts";
import { meta } from "../testing/builders.ts";
import { silentMetrics } from "../testing/silent.ts";
import { checkDataFolder, restoreDataFolder, snapshotDataFolder } from "./data-folder.ts";

const SPACE = "/registry/configmaps/";
const LATER = 1_000_000;
const { signal } = new AbortController();
let folder: string;
const at = (...names: readonly string[]): string => path.join(folder, ...names);

beforeEach(() => {
	folder = mkdtempSync(path.join(tmpdir(), "sliceplane-copies-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(key: string, text: string): Write {
	const object: KubeObject & { readonly data: object } = {
		apiVersion: "v1",
		kind: "ConfigMap",
		metadata: meta(key),
		data: { text },
	};
	return { kind: "put", space: SPACE, key, object };
}

/** What `work` does in a plane's place, and what its store shows at the end. */
async function inFolder(name: string, work: (store: Store) => Promise<unknown>, commitsMax = 10_000): Promise<unknown> {
	const { view, log, close } = await openDataFolder({
		folder: at(name),
		start: 100,
		metrics: silentMetrics,
		commitsMax,
	});
	const store = loggedStore(view, log);
	await work(store);
	const range = store.space(SPACE).range({ prefix: "" });
	await close();
	return range.kind === "range" ? range.entries : range;
}

/** Of many objects, with commits of each kind in the log and before. */
function filled(commits: number, objects: number, bytes: number): (store: Store) => Promise<void> {
	return async (store) => {
		const text = "x".repeat(bytes);
		const perCommit = Math.ceil(objects / commits);
		for (let from = 0; from < commits; from += 500) {
			const indexes = Array.from({ length: Math.min(500, commits - from) }, (_, index) => from + index);
			await Promise.all(
				indexes.map((index) =>
					store.commit(Array.from({ length: perCommit }, (_, each) => put(`k-${index}-${each}`, `${index} ${text}`))),
				),
			);
		}
		await store.commit([put("k-0-0", "changed"), { kind: "delete", space: SPACE, key: "k-1-0" }]);
	};
}

const nothing = (): Promise<void> => Promise.resolve();

describe("a copy of a data folder", () => {
	test.each([
		{ what: "5,000 commits", commits: 5_000, objects: 5_000, bytes: 100, commitsMax: 10_000 },
		{ what: "5,000 commits, of which 1,000 are kept", commits: 5_000, objects: 5_000, bytes: 100, commitsMax: 1_000 },
		{ what: "20,000 objects", commits: 2_000, objects: 20_000, bytes: 100, commitsMax: 10_000 },
		{ what: "60 objects of 900 kB", commits: 60, objects: 60, bytes: 900_000, commitsMax: 10_000 },
	])(
		"of $what is restored with every object and its revisions",
		async ({ commits, objects, bytes, commitsMax }) => {
			const before = await inFolder("a", filled(commits, objects, bytes), commitsMax);
			const copied = await snapshotDataFolder(at("a"), at("copy"), signal);
			expect(copied).toMatchObject({ revision: 101 + commits, objects: objects - 1, problems: [] });
			expect(copied.commits).toBe(Math.min(commits + 1, commitsMax));
			const restored = await restoreDataFolder(at("copy"), at("b"), LATER, signal);
			expect(restored).toEqual({
				revision: LATER,
				baseRevision: LATER,
				objects: objects - 1,
				commits: 0,
				problems: [],
			});
			expect([readdirSync(at("copy")), readdirSync(at("b"))]).toEqual([["data.mdb"], ["store"]]);
			expect(await inFolder("b", nothing)).toEqual(before);
			// It goes on: the log fills, and what leaves it is brought into the base.
			await inFolder("b", filled(1_500, 1_500, 300), 100);
			expect(await checkDataFolder(at("b"))).toMatchObject({ revision: LATER + 1_501, problems: [] });
		},
		60_000,
	);

	test("that LMDB has compacted is restored, too", async () => {
		const before = await inFolder("a", filled(4_000, 4_000, 300));
		const store = new LmdbStore(openLmdb, { path: at("a", "store"), commitsMax: 10_000 });
		mkdirSync(at("copy"));
		await store.tables.root.backup(at("copy"), true);
		await store.close();
		await restoreDataFolder(at("copy"), at("b"), LATER, signal);
		expect(await inFolder("b", nothing)).toEqual(before);
	}, 60_000);

	test("is a store that a plane may use as it is, with the past", async () => {
		const before = await inFolder("a", filled(4_000, 4_000, 300));
		await snapshotDataFolder(at("a"), at("copy"), signal);
		cpSync(at("copy"), at("b", "store"), { recursive: true });
		expect(await inFolder("b", nothing)).toEqual(before);
		// Two of the log leave it with each that comes, up to 2,000 at once.
		await inFolder("b", filled(2_000, 2_000, 300), 1);
		expect(await checkDataFolder(at("b"))).toMatchObject({ commits: 2_000, problems: [] });
	}, 60_000);

	test("goes above its own revisions where the clock is behind", async () => {
		await inFolder("a", filled(10, 10, 1));
		await snapshotDataFolder(at("a"), at("copy"), signal);
		expect(await restoreDataFolder(at("copy"), at("b"), 1, signal)).toMatchObject({ revision: 112 });
	});

	test("that fails leaves nothing behind", async () => {
		await inFolder("a", filled(10, 10, 1));
		const { copy, says } = { copy: at("copy"), says: /log 101: its checksum is wrong/ };
		await snapshotDataFolder(at("a"), copy, signal);
		const file = path.join(copy, "data.mdb");
		const bytes = readFileSync(file);
		bytes.write("y", bytes.indexOf("0 x"));
		writeFileSync(file, bytes);
		await expect(restoreDataFolder(copy, at("new", "b"), LATER, signal)).rejects.toThrow(says);
		expect(readdirSync(folder).sort()).toEqual(["a", "copy"]);
	});

	test("that is stopped leaves nothing behind", async () => {
		await inFolder("a", filled(10, 10, 1));
		await snapshotDataFolder(at("a"), at("copy"), signal);
		const stopped = AbortSignal.abort(new Error("SIGINT"));
		await expect(snapshotDataFolder(at("a"), at("x", "y"), stopped)).rejects.toThrow(
			"y is not made: stopped by SIGINT",
		);
		await expect(restoreDataFolder(at("copy"), at("b"), LATER, stopped)).rejects.toThrow(
			"b is not made: stopped by SIGINT",
		);
		expect(readdirSync(folder).sort()).toEqual(["a", "copy"]);
	});

	test.each([
		{ what: "of no tables", tables: 0 },
		{ what: "of tables but no format", tables: 3 },
	])("$what is told to be half made", async ({ tables }) => {
		mkdirSync(at("a", "store"), { recursive: true });
		if (tables > 0) await createTables(openLmdb, at("a", "store")).root.close();
		else {
			const root = openLmdb({ path: at("a", "store"), noSubdir: false, overlappingSync: false });
			root.putSync("x", 1);
			await root.close();
		}
		const says =
			/a\/store\/data\.mdb: it is half made, damaged, or was copied while a plane wrote to it: restore a snapshot/;
		await expect(checkDataFolder(at("a"))).rejects.toThrow(says);
		await expect(inFolder("a", nothing)).rejects.toThrow(says);
	});
});

describe("what a maker of a store has left behind", () => {
	const part = "store.0123456789ab.part";

	beforeEach(() => inFolder("a", nothing));

	/** @returns Ends the part's maker. */
	async function making(isMarked: boolean, touchedMs: number): Promise<() => Promise<void>> {
		mkdirSync(at("a", part));
		const { root, meta: table } = createTables(openLmdb, at("a", part));
		table.get("format");
		if (isMarked) writeFileSync(at("a", part, "marked"), "");
		for (const name of ["", ...readdirSync(at("a", part))])
			utimesSync(at("a", part, name), touchedMs / 1_000, touchedMs / 1_000);
		return () => root.close();
	}

	test.each([
		{ what: "is marked, and its maker is gone", isMarked: true, ageMs: 0, isMade: false, isKept: false },
		{ what: "is marked, and its maker lives", isMarked: true, ageMs: 1e9, isMade: true, isKept: true },
		{
			what: "has no mark, and nobody touched it for long",
			isMarked: false,
			ageMs: 61_000,
			isMade: false,
			isKept: false,
		},
		{ what: "has no mark yet", isMarked: false, ageMs: 0, isMade: false, isKept: true },
	])("and $what: kept at the next start $isKept", async ({ isMarked, ageMs, isMade, isKept }) => {
		const end = await making(isMarked, Date.now() - ageMs);
		if (!isMade) await end();
		await inFolder("a", nothing);
		expect(existsSync(at("a", part))).toBe(isKept);
		if (isMade) await end();
	});

	test("goes with the next snapshot and restore of that name, and nothing else does", async () => {
		for (const name of [
			"copy.0123456789ab.part",
			"b/store.0123456789ab.part",
			"copy.part",
			"copyx.0123456789ab.part",
		]) {
			mkdirSync(at(name), { recursive: true });
			utimesSync(at(name), 0, 0);
		}
		await snapshotDataFolder(at("a"), at("copy"), signal);
		await restoreDataFolder(at("copy"), at("b"), LATER, signal);
		expect(readdirSync(folder).sort()).toEqual(["a", "b", "copy", "copy.part", "copyx.0123456789ab.part"]);
		expect(readdirSync(at("b"))).toEqual(["store"]);
	});
});
