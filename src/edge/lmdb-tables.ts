/**
 * What a store is made of: three tables in LMDB, and how commits and objects are written in them.
 *
 *     log    revision -> writes of the commit, as JSON; the recent past, for watches that go on after a restart
 *     base   place -> the object as of the revision before the log's first, with the revisions it came and changed at
 *     meta   format, the revision of the base, and the owner: who may write
 *
 * Every value but the format has a checksum.
 *
 * @see https://github.com/kriszyp/lmdb-js
 */
import { statfsSync, statSync } from "node:fs";
import path from "node:path";
import type { Database, open, RootDatabase } from "lmdb";
import type { KubeObject } from "../api/types/meta.ts";
import { type Entry, type Revision, stamped, type Write } from "../store/entry.ts";
import { sealed, unsealed } from "./sealed.ts";
import { READERS_FILE } from "./store-folder.ts";
import { NO_SPACE } from "./store-reason.ts";

export interface StoreTables {
	readonly root: RootDatabase;
	readonly log: Database<Buffer, Revision>;
	readonly base: Database<Buffer, string>;
	readonly meta: Database<Buffer, string>;
}

/** Of the layout above. */
const FORMAT = 2;
/** Address space that LMDB reserves for the file, to begin with: memory is taken for what is used. */
const MAP_BYTES = 256 * 2 ** 20;
/** More than the table of readers takes. */
const READERS_BYTES = 64 * 1024;
const BLANK = 0x20;

const KEYS = { keyEncoding: "ordered-binary", encoding: "binary" } as const;
const HALF_MADE =
	"it is half made, damaged, or was copied while a plane wrote to it: restore a snapshot (sliceplane store snapshot makes one)";

export function openRoot(openLmdb: typeof open, path: string, readOnly: boolean): RootDatabase {
	requireReadersSpace(path);
	return openLmdb({ path, noSubdir: false, mapSize: MAP_BYTES, maxDbs: 4, overlappingSync: false, readOnly });
}

/** New ones, of no format yet: nobody takes them for a store until `finishTables`. */
export function createTables(openLmdb: typeof open, path: string): StoreTables {
	const root = openRoot(openLmdb, path, false);
	const log = root.openDB<Buffer, Revision>({ name: "log", ...KEYS });
	const base = root.openDB<Buffer, string>({ name: "base", ...KEYS });
	return { root, log, base, meta: root.openDB<Buffer, string>({ name: "meta", ...KEYS }) };
}

/** @param revision Of the base. */
export function finishTables({ root, meta }: StoreTables, revision: Revision): void {
	root.transactionSync(() => {
		meta.putSync("base", sealed("base", String(revision)));
		meta.putSync("format", Buffer.from(String(FORMAT)));
	});
}

/** @throws {Error} A sentence, when it is no store, or one of another version. */
export function tablesOf(root: RootDatabase): StoreTables {
	const tables = [
		root.openDB<Buffer, string>({ name: "meta", ...KEYS }),
		root.openDB<Buffer, Revision>({ name: "log", ...KEYS }),
		root.openDB<Buffer, string>({ name: "base", ...KEYS }),
		// Against its types, a table that is not there is undefined in a store that is open for reading.
	] as const satisfies readonly unknown[];
	const [meta, log, base] = tables;
	if (tables.some((table: unknown) => table === undefined)) throw new Error(HALF_MADE);
	const format = meta.get("format")?.toString("utf8");
	if (format === undefined) throw new Error(HALF_MADE);
	if (format !== String(FORMAT)) {
		throw new Error(`it has format ${format}, want ${FORMAT}: another version of this program wrote it`);
	}
	return { root, log, base, meta };
}

export function baseRevisionOf({ meta }: StoreTables): Revision {
	const value = meta.get("base");
	if (value === undefined) throw new Error(HALF_MADE);
	return Number(unsealed("base", value).toString("utf8"));
}

/** Processes that have the file open and have read in it. */
export function readersOf(root: RootDatabase): ReadonlySet<number> {
	// LMDB lists them as text: a head, and a line each that begins with the process.
	return new Set([...root.readerList().matchAll(/^\s*(\d+)\s/gm)].map(([, pid]) => Number(pid)));
}

/** Brings a write of a commit that leaves the log into the base. @returns The bytes that it wrote. */
export function foldWrite(base: Database<Buffer, string>, revision: Revision, write: Write): number {
	const key = keyOf(write.space, write.key);
	if (write.kind === "delete") {
		base.removeSync(key);
		return 0;
	}
	const before = base.get(key);
	const created = before === undefined ? revision : entryHead(unsealed(key, before)).createRevision;
	const value = sealed(key, `${created} ${revision} ${JSON.stringify(write.object)}`);
	base.putSync(key, value);
	return value.length;
}

export function writesOf(revision: Revision, value: Buffer): readonly Write[] {
	return JSON.parse(unsealed(revision, value).toString("utf8")) as readonly Write[];
}

/** Neither part holds a blank. */
export function keyOf(space: string, place: string): string {
	return `${space} ${place}`;
}

export function placeOf(key: string): { readonly space: string; readonly place: string } {
	const blank = key.indexOf(" ");
	return { space: key.slice(0, blank), place: key.slice(blank + 1) };
}

interface EntryHead {
	readonly createRevision: Revision;
	readonly modRevision: Revision;
	/** Where the object begins. */
	readonly end: number;
}

/** The revisions stand before the object, so that they can be read without it. */
export function entryHead(value: Buffer): EntryHead {
	const first = value.indexOf(BLANK);
	const second = value.indexOf(BLANK, first + 1);
	return {
		createRevision: Number(value.toString("latin1", 0, first)),
		modRevision: Number(value.toString("latin1", first + 1, second)),
		end: second + 1,
	};
}

export function entryOf(value: Buffer): Omit<Entry, "key"> {
	const { createRevision, modRevision, end } = entryHead(value);
	const object = JSON.parse(value.toString("utf8", end)) as KubeObject;
	return { createRevision, modRevision, object: stamped(object, modRevision) };
}

/** LMDB maps the table of readers: on a disk that is full, using it would end the process without a word. */
function requireReadersSpace(folder: string): void {
	const table = statSync(path.join(folder, READERS_FILE), { throwIfNoEntry: false });
	if (table !== undefined && table.blocks * BLOCK_BYTES >= table.size) return;
	const { bavail, bsize } = statfsSync(folder);
	if (bavail * bsize < READERS_BYTES) throw new Error(NO_SPACE);
}

/** What `blocks` counts in. */
const BLOCK_BYTES = 512;
