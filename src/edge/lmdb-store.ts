/**
 * The store of a data folder: the log of commits in LMDB, and the state before its oldest commit.
 *
 * Whoever writes looks in the same transaction whether it is the owner still: of two processes that took the folder the
 * later one has it, and the other can acknowledge nothing any more. When it is on disk, it looks whether the path still
 * leads to the file: what is written to one that was removed would be gone.
 * A commit that leaves the log is brought into the base in the same transaction: there is always one state, whole.
 * Everything here blocks until it is on disk, and throws what LMDB says: it belongs into a thread of its own.
 */
import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import path from "node:path";
import type { open } from "lmdb";
import type { Revision } from "../store/entry.ts";
import { View } from "../store/view.ts";
import { checkTables, type StoreCheck } from "./lmdb-check.ts";
import {
	baseRevisionOf,
	entryOf,
	foldWrite,
	openRoot,
	placeOf,
	readersOf,
	type StoreTables,
	tablesOf,
	writesOf,
} from "./lmdb-tables.ts";
import { sealed, unsealed } from "./sealed.ts";
import { STORE_FILE } from "./store-folder.ts";

/** A commit with its writes as JSON. */
export interface WrittenCommit {
	readonly revision: Revision;
	readonly writes: string;
}

export interface LmdbStoreOptions {
	/** Where the files are. */
	readonly path: string;
	/** Commits that are kept for watches; older ones are in the base only. */
	readonly commitsMax: number;
	readonly readOnly?: boolean;
	/** This process does not have it open yet: who has its number is another one, of another PID namespace. */
	readonly isFirst?: boolean;
}

/** Who may write: a process may have had several, and several machines the same number. */
interface Owner {
	readonly id: string;
	readonly pid: number;
}

/** It lives and works with the store. */
export class HeldError extends Error {
	override readonly name = "HeldError";
	readonly pid: number;

	constructor(pid: number) {
		super(`it is in use by process ${pid}`);
		this.pid = pid;
	}
}

/** Another process has taken the folder, or its path leads elsewhere: nothing can be written to it any more. */
export class LostError extends Error {
	override readonly name = "LostError";
}

/** Which file it is, whatever leads to it. */
interface FilePlace {
	readonly dev: number;
	readonly ino: number;
}

/** As many leave a full log for each commit that comes, so that it shrinks when its limit was lowered. */
const FOLDED_PER_COMMIT = 2;

export class LmdbStore {
	readonly #tables: StoreTables;
	readonly #file: string;
	readonly #place: FilePlace | undefined;
	readonly #commitsMax: number;
	#commits = 0;

	/**
	 * @param openLmdb lmdb's `open`: the package is loaded only where there is a data folder.
	 * @throws {Error} A sentence, when it is no store, or one of another version.
	 * @throws {HeldError}
	 */
	constructor(openLmdb: typeof open, options: LmdbStoreOptions) {
		const { path: folder, commitsMax, readOnly = false, isFirst = false } = options;
		this.#file = path.join(folder, STORE_FILE);
		// Before it is opened: should it be another one then, the owner is not the same.
		this.#place = placeOfFile(this.#file);
		const root = openRoot(openLmdb, folder, readOnly);
		try {
			// Two of one number cannot both read: it must be seen before.
			if (isFirst && readersOf(root).has(process.pid)) throw new HeldError(process.pid);
			this.#commitsMax = commitsMax;
			this.#tables = tablesOf(root);
			this.#commits = this.#tables.log.getKeysCount();
		} catch (error) {
			void root.close();
			throw error;
		}
	}

	get tables(): StoreTables {
		return this.#tables;
	}

	/** Commits in the log. */
	get commits(): number {
		return this.#commits;
	}

	/**
	 * Makes this process the owner, unless the one that is lives. What was written before is there to be loaded.
	 * @returns What proves it. @throws {HeldError}
	 */
	claim(): string {
		const id = randomUUID();
		this.#tables.root.transactionSync(() => {
			const pid = this.holder();
			if (pid !== undefined) throw new HeldError(pid);
			this.#tables.meta.putSync("owner", sealed("owner", JSON.stringify({ id, pid: process.pid })));
		});
		// What was read before may be older than what another owner wrote.
		this.#tables.root.resetReadTxn();
		return id;
	}

	/**
	 * The other process that owns it and lives: one that has the file open. LMDB knows by locks of the system, which end
	 * with their process and hold in all PID namespaces.
	 */
	holder(): number | undefined {
		const pid = this.#owner()?.pid;
		if (pid === undefined || pid === process.pid) return undefined;
		this.#tables.root.readerCheck();
		return readersOf(this.#tables.root).has(pid) ? pid : undefined;
	}

	/** @throws {LostError} */
	requireOursNow(id: string): void {
		this.#tables.root.resetReadTxn();
		this.#requireOwner(id);
		this.#requireInPlace();
	}

	#requireInPlace(): void {
		const place = placeOfFile(this.#file);
		if (place !== undefined && place.dev === this.#place?.dev && place.ino === this.#place.ino) return;
		throw new LostError(
			"its store is not there any more: it was removed, moved or replaced while this process used it, and nothing can be written to it",
		);
	}

	#requireOwner(id: string): void {
		if (this.#owner()?.id === id) return;
		throw new LostError("another process has taken it, and this one may not write any more");
	}

	/** Lets others have it. */
	release(id: string): void {
		this.#tables.root.transactionSync(() => {
			if (this.#owner()?.id === id) this.#tables.meta.removeSync("owner");
		});
	}

	/** Everything, with its recent past. @throws {Error} For a value that is not as it was written. */
	load(): View {
		const view = new View(baseRevisionOf(this.#tables));
		for (const { key, value } of this.#tables.base.getRange()) {
			const { space, place } = placeOf(key);
			view.restore(space, { key: place, ...entryOf(unsealed(key, value)) });
		}
		for (const { key, value } of this.#tables.log.getRange()) view.apply(key, writesOf(key, value));
		return view;
	}

	/** All of them, in order, or none; on disk when it returns. @throws {LostError} */
	write(commits: readonly WrittenCommit[], owner: string): void {
		const tooMany = this.#commits + commits.length - this.#commitsMax;
		const folded = Math.max(0, Math.min(tooMany, commits.length * FOLDED_PER_COMMIT));
		this.#tables.root.transactionSync(() => {
			this.#requireOwner(owner);
			for (const { revision, writes } of commits) this.#tables.log.putSync(revision, sealed(revision, writes));
			this.#fold(folded);
		});
		this.#commits += commits.length - folded;
		this.#requireInPlace();
	}

	/**
	 * Reads everything, and finds what cannot be.
	 * @param counts Counts the objects, too, which takes longer.
	 */
	check(counts: boolean): StoreCheck {
		return checkTables(this.#tables, counts);
	}

	async close(): Promise<void> {
		await this.#tables.root.close();
	}

	#owner(): Owner | undefined {
		const value = this.#tables.meta.get("owner");
		// Written by claim(), with the same type.
		return value === undefined ? undefined : (JSON.parse(unsealed("owner", value).toString("utf8")) as Owner);
	}

	/** Brings the oldest commits of the log into the base. */
	#fold(count: number): void {
		if (count === 0) return;
		const { base, log, meta } = this.#tables;
		let last: Revision | undefined;
		for (const { key, value } of [...log.getRange({ limit: count })]) {
			for (const write of writesOf(key, value)) foldWrite(base, key, write);
			log.removeSync(key);
			last = key;
		}
		if (last !== undefined) meta.putSync("base", sealed("base", String(last)));
	}
}

function placeOfFile(file: string): FilePlace | undefined {
	try {
		return statSync(file, { throwIfNoEntry: false });
	} catch {
		// What cannot be looked at any more may be anything.
		return undefined;
	}
}
