/**
 * Writes what is in a store into another one, entry by entry, in transactions of a limited size.
 *
 * LMDB's own compacted copy can be read, but not be written to: it has no list of free pages, and the first transaction
 * that frees many damages it.
 */
import type { Database, RootDatabase } from "lmdb";
import type { Revision } from "../store/entry.ts";
import { entriesOf } from "./lmdb-check.ts";
import { baseRevisionOf, foldWrite, type StoreTables, writesOf } from "./lmdb-tables.ts";

/** A transaction ends with the entry that reaches it. */
const TRANSACTION_BYTES_MAX = 16 * 2 ** 20;

/** As it is, with its recent past, but without its owner. @returns The revision of the base. */
export function copyTables(from: StoreTables, to: StoreTables, isWanted: () => boolean): Revision {
	// One transaction: the pages of a state that is read are not used again, whatever a plane writes meanwhile.
	const transaction = from.root.useReadTransaction();
	try {
		copyTable("base", from.base, to, to.base, isWanted);
		copyTable("log", from.log, to, to.log, isWanted);
		return baseRevisionOf(from);
	} finally {
		transaction.done();
	}
}

/**
 * Its state only, without the past and the owner: a copy that is restored must not be taken for what it was.
 * @returns Its newest revision.
 */
export function copyState(from: StoreTables, to: StoreTables, isWanted: () => boolean): Revision {
	copyTable("base", from.base, to, to.base, isWanted);
	let newest = baseRevisionOf(from);
	inTransactions(to.root, isWanted, function* () {
		for (const { key, value } of from.log.getRange()) {
			newest = key;
			for (const write of writesOf(key, value)) yield foldWrite(to.base, key, write);
		}
	});
	return newest;
}

function copyTable<K extends string | number>(
	name: string,
	from: Database<Buffer, K>,
	{ root }: StoreTables,
	to: Database<Buffer, K>,
	isWanted: () => boolean,
): void {
	const problems: string[] = [];
	inTransactions(root, isWanted, function* () {
		for (const { key, value } of entriesOf(from, name, problems)) {
			to.putSync(key, value);
			yield value.length;
		}
	});
	const [problem] = problems;
	if (problem !== undefined) throw new Error(`${problem}: restore a snapshot`);
}

/** Runs a generator that writes, and yields how many bytes it wrote. */
function inTransactions(root: RootDatabase, isWanted: () => boolean, writing: () => Iterable<number>): void {
	const written = writing()[Symbol.iterator]();
	let isDone = false;
	while (!isDone) {
		if (!isWanted()) throw new Error("nobody waits for it any more");
		root.transactionSync(() => {
			for (let bytes = 0; bytes < TRANSACTION_BYTES_MAX; ) {
				const { done = false, value } = written.next();
				isDone = done;
				if (done) return;
				bytes += value;
			}
		});
	}
}
