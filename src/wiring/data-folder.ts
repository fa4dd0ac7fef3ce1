/** What people do with a data folder beside running a plane on it. */
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import { lockFolder } from "../edge/folder-lock.ts";
import { openStore } from "../edge/lmdb-log.ts";
import type { LmdbStore, StoreCheck } from "../edge/lmdb-store.ts";
import { systemReason } from "../edge/system-reason.ts";

const FILE = "data.mdb";

/** Reads everything in a folder that no plane uses. Rejects with a sentence when there is none, or it is in use. */
export async function checkDataFolder(folder: string): Promise<StoreCheck> {
	requireStore(path.join(folder, "store"), folder);
	const unlock = lockFolder(folder);
	try {
		return await withStore(path.join(folder, "store"), (store) => store.check());
	} finally {
		unlock();
	}
}

/** A copy that is whole, into a folder that is not there yet; a plane may go on writing meanwhile. */
export async function snapshotDataFolder(folder: string, to: string): Promise<StoreCheck> {
	requireStore(path.join(folder, "store"), folder);
	if (existsSync(to)) throw new Error(`${to} is there already: a snapshot wants a folder of its own`);
	mkdirSync(to, { recursive: true, mode: 0o700 });
	await withStore(path.join(folder, "store"), (store) => store.copyTo(to));
	return checkSnapshot(to);
}

/** Makes a new data folder of a snapshot. Rejects when the folder has a store already, or the snapshot has a fault. */
export async function restoreDataFolder(from: string, folder: string): Promise<StoreCheck> {
	requireStore(from, from);
	const store = path.join(folder, "store");
	if (existsSync(store)) throw new Error(`${folder} holds a store already: restore into a new folder`);
	const found = await checkSnapshot(from);
	if (found.problems.length > 0) throw new Error(`${from} has faults, the first: ${found.problems[0]}`);
	const unlock = lockFolder(folder);
	try {
		mkdirSync(store, { recursive: true, mode: 0o700 });
		copyFileSync(path.join(from, FILE), path.join(store, FILE));
	} finally {
		unlock();
	}
	return found;
}

function checkSnapshot(folder: string): Promise<StoreCheck> {
	return withStore(folder, (store) => store.check());
}

async function withStore<T>(file: string, use: (store: LmdbStore) => T | Promise<T>): Promise<T> {
	try {
		const store = await openStore({ path: file, commitsMax: Number.MAX_SAFE_INTEGER, start: 0 });
		try {
			return await use(store);
		} finally {
			await store.close();
		}
	} catch (error) {
		throw new Error(`${file}: ${systemReason(error)}`, { cause: error });
	}
}

function requireStore(file: string, named: string): void {
	if (!existsSync(path.join(file, FILE))) throw new Error(`${named} holds no store: want a folder of --data-dir`);
}
