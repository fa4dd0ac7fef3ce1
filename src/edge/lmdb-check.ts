/** Reads a whole store, and finds what cannot be. */
import type { Database } from "lmdb";
import type { Revision } from "../store/entry.ts";
import { baseRevisionOf, entryHead, keyOf, type StoreTables, writesOf } from "./lmdb-tables.ts";
import { unsealed } from "./sealed.ts";

/** What a look at everything found. */
export interface StoreCheck {
	readonly revision: Revision;
	readonly baseRevision: Revision;
	/** Not counted where there is a problem. */
	readonly objects?: number;
	readonly commits: number;
	/** A sentence for each thing that is not as it should be. */
	readonly problems: readonly string[];
}

/** @param counts Counts the objects, too, which takes longer. */
export function checkTables(tables: StoreTables, counts: boolean): StoreCheck {
	const { base, log } = tables;
	const problems: string[] = [];
	const baseRevision = baseRevisionOf(tables);
	let revision = baseRevision;
	let commits = 0;
	for (const { key, value } of entriesOf(base, "base", problems)) {
		const problem = problemOf(() => unsealed(key, value));
		if (problem !== undefined) problems.push(`base ${key}: ${problem}`);
		else if (entryHead(unsealed(key, value)).modRevision > baseRevision) {
			problems.push(`base ${key}: newer than the base`);
		}
	}
	for (const { key, value } of entriesOf(log, "log", problems)) {
		if (key !== revision + 1) problems.push(`log: ${key} follows ${revision}`);
		revision = key;
		commits++;
		const problem = problemOf(() => unsealed(key, value));
		if (problem !== undefined) problems.push(`log ${key}: ${problem}`);
	}
	const objects = counts && problems.length === 0 ? objectsIn(tables) : undefined;
	return { revision, baseRevision, ...(objects === undefined ? {} : { objects }), commits, problems };
}

/** As many entries as it says that it has: pages that are damaged may lead in a circle. */
export function* entriesOf<K extends string | number>(
	database: Database<Buffer, K>,
	name: string,
	problems: string[],
): Generator<{ readonly key: K; readonly value: Buffer }> {
	const { entryCount } = database.getStats() as { readonly entryCount: number };
	let count = 0;
	for (const entry of database.getRange()) {
		count++;
		if (count > entryCount) break;
		yield entry;
	}
	if (count !== entryCount) problems.push(`${name}: ${count} entries of ${entryCount} are there`);
}

/** Those of the base, and what the log makes of them. */
function objectsIn({ base, log }: StoreTables): number {
	const isThereAfter = new Map<string, boolean>();
	for (const { key, value } of log.getRange()) {
		for (const write of writesOf(key, value)) isThereAfter.set(keyOf(write.space, write.key), write.kind === "put");
	}
	let objects = base.getKeysCount();
	for (const [key, isThere] of isThereAfter) objects += Number(isThere) - Number(base.doesExist(key));
	return objects;
}

function problemOf(read: () => unknown): string | undefined {
	try {
		read();
		return undefined;
	} catch (error) {
		return error instanceof Error ? error.message : String(error);
	}
}
