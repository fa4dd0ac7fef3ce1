/** What people do with a data folder beside running a plane on it. */
import { createReadStream, createWriteStream, existsSync, mkdirSync, realpathSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import type { StoreCheck } from "../edge/lmdb-check.ts";
import { inUse } from "../edge/lmdb-log.ts";
import { loadLmdb } from "../edge/load-lmdb.ts";
import { lookAtStore } from "../edge/look-at-store.ts";
import { makeFolder, STORE_FILE } from "../edge/store-folder.ts";
import { systemCode, systemReason } from "../edge/system-reason.ts";
import { madeWhole } from "../edge/unfinished-store.ts";
import type { Revision } from "../store/entry.ts";

/** Reads everything in a folder that no plane uses. Rejects with a sentence when there is none, or it is in use. */
export async function checkDataFolder(folder: string): Promise<StoreCheck> {
	const store = path.join(folder, "store");
	requireStore(store, folder);
	const { found, holder } = await lookAtStore({ kind: "check", path: store, counts: true });
	if (holder !== undefined) throw new Error(inUse(folder, holder));
	return found;
}

/**
 * A copy that is whole, into a folder that is not there yet; a plane may go on writing meanwhile.
 * @param signal Ends it: nothing stays.
 */
export function snapshotDataFolder(folder: string, to: string, signal: AbortSignal): Promise<StoreCheck> {
	const store = path.join(folder, "store");
	requireStore(store, folder);
	if (existsSync(to)) throw new Error(`${to} is there already: a snapshot wants a folder of its own`);
	if (isWithin(to, folder)) throw new Error(`${to} is inside ${folder}: a snapshot wants a folder elsewhere`);
	const whole = path.resolve(to);
	return written({ named: to, place: path.dirname(whole), signal }, async () =>
		madeWhole(await loadLmdb(), whole, async (unfinished) => {
			const { found } = await lookAtStore({ kind: "copy", path: store, to: unfinished }, signal);
			return soundOf(found, folder);
		}),
	);
}

/**
 * Makes a new data folder of a snapshot. Rejects when the folder has a store already, or the snapshot has a fault.
 *
 * @param revision Above all that were ever given out: watches from before are told 410, and nothing has a revision twice.
 * @param signal Ends it: nothing stays.
 */
export function restoreDataFolder(
	from: string,
	folder: string,
	revision: Revision,
	signal: AbortSignal,
): Promise<StoreCheck> {
	requireStore(from, from);
	const store = path.join(folder, "store");
	if (existsSync(store)) throw new Error(`${folder} holds a store already: restore into a new folder`);
	return written({ named: folder, place: folder, signal }, async () =>
		madeWhole(await loadLmdb(), store, async (unfinished) => {
			// A copy that nobody changes: what is read is what was looked at.
			const copied = path.join(unfinished, "copied");
			mkdirSync(copied, { mode: 0o700 });
			const file = { to: path.join(copied, STORE_FILE), mode: 0o600 };
			await pipeline(createReadStream(path.join(from, STORE_FILE)), createWriteStream(file.to, file), { signal });
			await requireSound(copied, from, signal);
			const { found } = await lookAtStore({ kind: "copy", path: copied, to: unfinished, rebasedTo: revision }, signal);
			rmSync(copied, { recursive: true });
			return soundOf(found, folder);
		}),
	);
}

/** @param named What people know the folder as: it is looked at where it is being made. */
async function requireSound(folder: string, named: string, signal: AbortSignal): Promise<void> {
	const look = lookAtStore({ kind: "check", path: folder, counts: false }, signal);
	const { found } = await look.catch((error: unknown) => {
		throw new Error(systemReason(error).replace(folder, named), { cause: error });
	});
	soundOf(found, named);
}

function soundOf(found: StoreCheck, named: string): StoreCheck {
	const [first] = found.problems;
	if (first !== undefined) throw new Error(`${named} has faults, the first: ${first}`);
	return found;
}

interface Making {
	/** What people know it as. */
	readonly named: string;
	/** The folder that is made for it, when it is not there. */
	readonly place: string;
	readonly signal: AbortSignal;
}

async function written<T>({ named, place, signal }: Making, make: () => Promise<T>): Promise<T> {
	let takeBack = (): void => undefined;
	try {
		takeBack = makeFolder(place);
		return await make();
	} catch (error) {
		takeBack();
		const why = signal.aborted ? `stopped by ${systemReason(signal.reason)}` : systemReason(error);
		throw new Error(`${named} is not made: ${why}`, { cause: error });
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
	try {
		if (statSync(path.join(file, STORE_FILE), { throwIfNoEntry: false }) !== undefined) return;
	} catch (error) {
		if (systemCode(error) !== "ENOTDIR") {
			const why =
				systemCode(error) === "EACCES" ? "cannot be read by this user" : `cannot be read: ${systemReason(error)}`;
			throw new Error(`${named} ${why}`, { cause: error });
		}
	}
	throw new Error(`${named} holds no store: want a folder of --data-dir`);
}
