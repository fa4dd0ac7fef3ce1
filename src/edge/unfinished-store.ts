/**
 * Stores that are being made: they appear whole and on disk, or not at all.
 *
 *     store.0123456789ab.part/     while it is made; its maker is among the readers that LMDB knows by locks of the system
 *         marked                   from when the maker is among them until the store is whole
 *     store/
 *
 * A maker that is killed leaves its part behind, which holds Secrets: whoever makes a store of that name removes it.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { open } from "lmdb";
import { createTables, type StoreTables } from "./lmdb-tables.ts";
import { hasReaders } from "./look-at-store.ts";
import { keepPrivate, READERS_FILE, STORE_FILE, syncToDisk } from "./store-folder.ts";

const MARK = "marked";
/** Without a mark nobody knows who makes it: one that nobody has touched for so long is left behind. */
const UNMARKED_MS_MAX = 60_000;

/**
 * Makes a store under another name, and gives it its own when it is whole and on disk. Whatever goes wrong, nothing
 * stays. Rejects with the system's error when there is one of that name already.
 */
export async function madeWhole<T>(
	openLmdb: typeof open,
	folder: string,
	make: (unfinished: string, tables: StoreTables) => Promise<T>,
): Promise<T> {
	await removeAbandoned(folder);
	const unfinished = `${folder}.${randomBytes(6).toString("hex")}.part`;
	let tables: StoreTables | undefined;
	try {
		mkdirSync(unfinished, { mode: 0o700 });
		tables = createTables(openLmdb, unfinished);
		// Who reads is among the readers from then on.
		tables.meta.get("format");
		writeFileSync(path.join(unfinished, MARK), "");
		const made = await make(unfinished, tables);
		keepPrivate(unfinished);
		syncToDisk(path.join(unfinished, STORE_FILE));
		rmSync(path.join(unfinished, MARK));
		await tables.root.close();
		tables = undefined;
		rmSync(path.join(unfinished, READERS_FILE), { force: true });
		syncToDisk(unfinished);
		renameSync(unfinished, folder);
		syncToDisk(path.dirname(folder));
		return made;
	} catch (error) {
		await tables?.root.close();
		rmSync(unfinished, { recursive: true, force: true });
		throw error;
	}
}

/** Removes parts of this name that no process makes any more. */
export async function removeAbandoned(folder: string): Promise<void> {
	for (const part of partsOf(folder)) {
		try {
			if (!(await isBeingMade(part))) rmSync(part, { recursive: true, force: true });
		} catch {
			// Another one has removed it, or it is another user's.
		}
	}
}

function partsOf(folder: string): readonly string[] {
	const parent = path.dirname(folder);
	const name = path.basename(folder);
	if (!existsSync(parent)) return [];
	return readdirSync(parent)
		.filter((other) => other.startsWith(`${name}.`) && /^\.[0-9a-f]{12}\.part$/.test(other.slice(name.length)))
		.map((other) => path.join(parent, other));
}

async function isBeingMade(part: string): Promise<boolean> {
	if (existsSync(path.join(part, MARK))) {
		const isRead = await hasReaders(part);
		if (isRead !== undefined) return isRead;
	}
	const files = [part, ...readdirSync(part).map((name) => path.join(part, name))];
	const touchedMs = Math.max(...files.map((file) => statSync(file).mtimeMs));
	return Date.now() - touchedMs < UNMARKED_MS_MAX;
}
