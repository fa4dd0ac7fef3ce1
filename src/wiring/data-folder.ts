/** What people do with a data folder beside running a plane on it. */
import { copyFileSync, existsSync, mkdirSync, realpathSync } from "node:fs";
import path from "node:path";
import { inUse } from "../edge/lmdb-log.ts";
import type { StoreCheck } from "../edge/lmdb-store.ts";
import { lookAtStore } from "../edge/look-at-store.ts";
import { madeWhole, makeFolder, STORE_FILE } from "../edge/store-folder.ts";
import { systemReason } from "../edge/system-reason.ts";
import type { Revision } from "../store/entry.ts";

/** Reads everything in a folder that no plane uses. Rejects with a sentence when there is none, or it is in use. */
export async function checkDataFolder(folder: string): Promise<StoreCheck> {
	const store = path.join(folder, "store");
	requireStore(store, folder);
	const { found, holder } = await lookAtStore({ kind: "check", path: store, counts: true });
	if (holder !== undefined) throw new Error(inUse(folder, holder));
	return found;
}

/** A copy that is whole, into a folder that is not there yet; a plane may go on writing meanwhile. */
export function snapshotDataFolder(folder: string, to: string): Promise<StoreCheck> {
	const store = path.join(folder, "store");
	requireStore(store, folder);
	if (existsSync(to)) throw new Error(`${to} is there already: a snapshot wants a folder of its own`);
	if (isWithin(to, folder)) throw new Error(`${to} is inside ${folder}: a snapshot wants a folder elsewhere`);
	return written(to, async () => {
		mkdirSync(path.dirname(path.resolve(to)), { recursive: true, mode: 0o700 });
		return await madeWhole(path.resolve(to), async (unfinished) => {
			await lookAtStore({ kind: "copy", path: store, to: unfinished });
			return requireSound(unfinished, folder);
		});
	});
}

/**
 * Makes a new data folder of a snapshot. Rejects when the folder has a store already, or the snapshot has a fault.
 *
 * @param revision Above all that were ever given out: watches from before are told 410, and nothing has a revision twice.
 */
export function restoreDataFolder(from: string, folder: string, revision: Revision): Promise<StoreCheck> {
	requireStore(from, from);
	const store = path.join(folder, "store");
	if (existsSync(store)) throw new Error(`${folder} holds a store already: restore into a new folder`);
	return written(folder, async () => {
		makeFolder(folder);
		return await madeWhole(store, async (unfinished) => {
			copyFileSync(path.join(from, STORE_FILE), path.join(unfinished, STORE_FILE));
			await requireSound(unfinished, from);
			return (await lookAtStore({ kind: "rebase", path: unfinished, revision })).found;
		});
	});
}

/** @param named What people know the folder as: it is looked at where it is being made. */
async function requireSound(folder: string, named: string): Promise<StoreCheck> {
	const { found } = await lookAtStore({ kind: "check", path: folder, counts: true }).catch((error: unknown) => {
		throw new Error(systemReason(error).replace(folder, named), { cause: error });
	});
	const [first] = found.problems;
	if (first !== undefined) throw new Error(`${named} has faults, the first: ${first}`);
	return found;
}

async function written<T>(folder: string, make: () => Promise<T>): Promise<T> {
	try {
		return await make();
	} catch (error) {
		throw new Error(`${folder} is not made: ${systemReason(error)}`, { cause: error });
	}
}

/** Where links lead counts: the nearest folder above that is there. */
function isWithin(inner: string, outer: string): boolean {
	let parent = path.dirname(path.resolve(inner));
	while (!existsSync(parent)) parent = path.dirname(parent);
	const relative = path.relative(realpathSync(outer), realpathSync(parent));
	return relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}

function requireStore(file: string, named: string): void {
	if (!existsSync(path.join(file, STORE_FILE))) throw new Error(`${named} holds no store: want a folder of --data-dir`);
}
