/** Folders of stores: they appear whole, on disk, and for their user alone, or not at all. */
import { randomBytes } from "node:crypto";
import {
	chmodSync,
	closeSync,
	existsSync,
	fsyncSync,
	mkdirSync,
	openSync,
	readdirSync,
	renameSync,
	rmSync,
} from "node:fs";
import path from "node:path";

/** What LMDB keeps a store in. */
export const STORE_FILE = "data.mdb";
/** Of the processes that have it open. */
const READERS_FILE = "lock.mdb";

/** What a read-only disk says is told only of a folder whose parent is there. */
export function makeFolder(folder: string): void {
	if (existsSync(folder)) return;
	const recursive = !existsSync(path.dirname(folder));
	mkdirSync(folder, { recursive, mode: 0o700 });
}

/**
 * Makes a folder of a store under another name, and gives it its own when it is whole and on disk. Whatever goes wrong,
 * nothing stays. Rejects with the system's error when there is one of that name already.
 */
export async function madeWhole<T>(folder: string, make: (unfinished: string) => Promise<T>): Promise<T> {
	const unfinished = `${folder}.${randomBytes(6).toString("hex")}.part`;
	try {
		mkdirSync(unfinished, { mode: 0o700 });
		const made = await make(unfinished);
		rmSync(path.join(unfinished, READERS_FILE), { force: true });
		keepPrivate(unfinished);
		syncToDisk(path.join(unfinished, STORE_FILE));
		syncToDisk(unfinished);
		renameSync(unfinished, folder);
		syncToDisk(path.dirname(folder));
		return made;
	} catch (error) {
		rmSync(unfinished, { recursive: true, force: true });
		throw error;
	}
}

/** LMDB makes its files for everybody to read, but for the umask. */
export function keepPrivate(folder: string): void {
	chmodSync(folder, 0o700);
	for (const name of readdirSync(folder)) chmodSync(path.join(folder, name), 0o600);
}

function syncToDisk(fileOrFolder: string): void {
	const descriptor = openSync(fileOrFolder, "r");
	try {
		fsyncSync(descriptor);
	} finally {
		closeSync(descriptor);
	}
}
