/** Folders of stores: for their user alone, and on disk. */
import { chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, rmdirSync } from "node:fs";
import path from "node:path";

/** What LMDB keeps a store in. */
export const STORE_FILE = "data.mdb";
/** Of the processes that have it open. */
export const READERS_FILE = "lock.mdb";

/**
 * What a read-only disk says is told only of a folder whose parent is there.
 * @returns Takes back what it made, as far as it is empty.
 */
export function makeFolder(folder: string): () => void {
	if (existsSync(folder)) return () => undefined;
	const whole = path.resolve(folder);
	const recursive = !existsSync(path.dirname(whole));
	const first = mkdirSync(whole, { recursive, mode: 0o700 }) ?? whole;
	return () => {
		try {
			for (let made = whole; made.startsWith(first); made = path.dirname(made)) rmdirSync(made);
		} catch {
			// Somebody uses it meanwhile.
		}
	};
}

/** LMDB makes its files for everybody to read, but for the umask. */
export function keepPrivate(folder: string): void {
	chmodSync(folder, 0o700);
	for (const name of readdirSync(folder)) chmodSync(path.join(folder, name), 0o600);
}

export function syncToDisk(fileOrFolder: string): void {
	const descriptor = openSync(fileOrFolder, "r");
	try {
		fsyncSync(descriptor);
	} finally {
		closeSync(descriptor);
	}
}
