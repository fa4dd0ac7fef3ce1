/**
 * The log of commits in LMDB, and the state before its oldest commit: what a plane with a data folder starts from.
 *
 *     log    revision -> writes of the commit, as JSON; the recent past, for watches that go on after a restart
 *     base   place -> the object as of the revision before the log's first, with the revisions it came and changed at
 *     meta   format, the revision of the base, and the owner: who may write
 *
 * Every value but the format has a checksum. Whoever writes looks in the same transaction whether it is the owner still:
 * of two processes that took the folder the later one has it, and the other can acknowledge nothing any more.
 * A commit that leaves the log is brought into the base in the same transaction: there is always one state, whole.
 * Everything here blocks until it is on disk, and throws what LMDB says: it belongs into a thread of its own.
 *
 * @see https://github.com/kriszyp/lmdb-js
 */
import { randomUUID } from "node:crypto";
import type { Database, open, RootDatabase } from "lmdb";
import type { KubeObject } from "../api/types/meta.ts";
import { type Entry, type Revision, stamped, type Write } from "../store/entry.ts";
import { View } from "../store/view.ts";
import { sealed, unsealed } from "./sealed.ts";

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

/** Another process has taken the folder. */
export class NotOwnerError extends Error {
	override readonly name = "NotOwnerError";
}

/** What a look at everything found. */
export interface StoreCheck {
	readonly revision: Revision;
	readonly baseRevision: Revision;
	readonly objects: number;
	readonly commits: number;
	/** A sentence for each thing that is not as it should be. */
	readonly problems: readonly string[];
}

/** Of the layout above. */
const FORMAT = 2;
/** Address space that LMDB reserves for the file, to begin with: memory is taken for what is used. */
const MAP_BYTES = 256 * 2 ** 20;
/** As many leave a full log for each commit that comes, so that it shrinks when its limit was lowered. */
const FOLDED_PER_COMMIT = 2;
const BLANK = 0x20;

const KEYS = { keyEncoding: "ordered-binary", encoding: "binary" } as const;

/** Makes a store that is empty. */
export async function createStore(openRoot: typeof open, path: string, start: Revision): Promise<void> {
	const root = openRoot({ path, noSubdir: false, maxDbs: 4, overlappingSync: false });
	root.openDB({ name: "log", ...KEYS });
	root.openDB({ name: "base", ...KEYS });
	const meta = root.openDB<Buffer, string>({ name: "meta", ...KEYS });
	root.transactionSync(() => {
		meta.putSync("format", Buffer.from(String(FORMAT)));
		meta.putSync("base", sealed("base", String(start)));
	});
	await root.close();
}

export class LmdbStore {
	readonly #root: RootDatabase;
	readonly #log: Database<Buffer, number>;
	readonly #base: Database<Buffer, string>;
	readonly #meta: Database<Buffer, string>;
	readonly #commitsMax: number;
	#commits = 0;

	/**
	 * @param openRoot lmdb's `open`: the package is loaded only where there is a data folder.
	 * @throws {Error} A sentence, when it is no store, or one of another version.
	 * @throws {HeldError}
	 */
	constructor(openRoot: typeof open, { path, commitsMax, readOnly = false, isFirst = false }: LmdbStoreOptions) {
		const shape = { noSubdir: false, mapSize: MAP_BYTES, maxDbs: 4, overlappingSync: false };
		this.#root = openRoot({ path, ...shape, readOnly });
		// Two of one number cannot both read: it must be seen before.
		if (isFirst && readersOf(this.#root).has(process.pid)) {
			void this.#root.close();
			throw new HeldError(process.pid);
		}
		this.#commitsMax = commitsMax;
		this.#meta = this.#root.openDB({ name: "meta", ...KEYS });
		const format = this.#meta.get("format")?.toString("utf8");
		if (format !== String(FORMAT)) {
			void this.#root.close();
			throw new Error(
				format === undefined
					? "it is half made, or damaged: restore a snapshot"
					: `it has format ${format}, want ${FORMAT}: another version of this program wrote it`,
			);
		}
		this.#log = this.#root.openDB({ name: "log", ...KEYS });
		this.#base = this.#root.openDB({ name: "base", ...KEYS });
		this.#commits = this.#log.getKeysCount();
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
		this.#root.transactionSync(() => {
			const pid = this.holder();
			if (pid !== undefined) throw new HeldError(pid);
			this.#meta.putSync("owner", sealed("owner", JSON.stringify({ id, pid: process.pid })));
		});
		// What was read before may be older than what another owner wrote.
		this.#root.resetReadTxn();
		return id;
	}

	/**
	 * The other process that owns it and lives: one that has the file open. LMDB knows by locks of the system, which end
	 * with their process and hold in all PID namespaces.
	 */
	holder(): number | undefined {
		const pid = this.#owner()?.pid;
		if (pid === undefined || pid === process.pid) return undefined;
		this.#root.readerCheck();
		return readersOf(this.#root).has(pid) ? pid : undefined;
	}

	/** @throws {NotOwnerError} */
	requireOwnerNow(id: string): void {
		this.#root.resetReadTxn();
		this.#requireOwner(id);
	}

	#requireOwner(id: string): void {
		if (this.#owner()?.id === id) return;
		throw new NotOwnerError("another process has taken it, and this one may not write any more");
	}

	/** Lets others have it. */
	release(id: string): void {
		this.#root.transactionSync(() => {
			if (this.#owner()?.id === id) this.#meta.removeSync("owner");
		});
	}

	/** Everything, with its recent past. @throws {Error} For a value that is not as it was written. */
	load(): View {
		const view = new View(this.#baseRevision());
		for (const { key, value } of this.#base.getRange()) {
			const { space, place } = placeOf(key);
			view.restore(space, { key: place, ...entryOf(unsealed(key, value)) });
		}
		for (const { key, value } of this.#log.getRange()) view.apply(key, writesOf(key, value));
		return view;
	}

	/** All of them, in order, or none; on disk when it returns. @throws {NotOwnerError} */
	write(commits: readonly WrittenCommit[], owner: string): void {
		const tooMany = this.#commits + commits.length - this.#commitsMax;
		const folded = Math.max(0, Math.min(tooMany, commits.length * FOLDED_PER_COMMIT));
		this.#root.transactionSync(() => {
			this.#requireOwner(owner);
			for (const { revision, writes } of commits) this.#log.putSync(revision, sealed(revision, writes));
			this.#fold(folded);
		});
		this.#commits += commits.length - folded;
	}

	/**
	 * Raises the revision, and forgets the past and the owner: a copy that is restored must not be taken for what it was,
	 * nor its revisions be given out twice.
	 */
	rebase(revision: Revision): void {
		this.#root.transactionSync(() => {
			this.#fold(this.#commits);
			this.#meta.putSync("base", sealed("base", String(Math.max(revision, this.#baseRevision() + 1))));
			this.#meta.removeSync("owner");
		});
		this.#commits = 0;
	}

	/**
	 * Reads everything, and finds what cannot be.
	 * @param counts Counts the objects, too, which takes longer.
	 */
	check(counts: boolean): StoreCheck {
		const problems: string[] = [];
		const baseRevision = this.#baseRevision();
		let revision = baseRevision;
		for (const { key, value } of limited(this.#base, "base", problems)) {
			const problem = problemOf(() => unsealed(key, value));
			if (problem !== undefined) problems.push(`base ${key}: ${problem}`);
			else if (entryHead(unsealed(key, value)).modRevision > baseRevision) {
				problems.push(`base ${key}: newer than the base`);
			}
		}
		for (const { key, value } of limited(this.#log, "log", problems)) {
			if (key !== revision + 1) problems.push(`log: ${key} follows ${revision}`);
			revision = key;
			const problem = problemOf(() => unsealed(key, value));
			if (problem !== undefined) problems.push(`log ${key}: ${problem}`);
		}
		const objects = problems.length > 0 || !counts ? this.#base.getKeysCount() : objectsIn(this.load());
		return { revision, baseRevision, objects, commits: this.#commits, problems };
	}

	/** A copy that is whole, as of now, without what the file holds beside it. */
	async copyTo(path: string): Promise<void> {
		await this.#root.backup(path, true);
	}

	async close(): Promise<void> {
		await this.#root.close();
	}

	#baseRevision(): Revision {
		const value = this.#meta.get("base");
		if (value === undefined) throw new Error("it is half made, or damaged: restore a snapshot");
		return Number(unsealed("base", value).toString("utf8"));
	}

	#owner(): Owner | undefined {
		const value = this.#meta.get("owner");
		// Written by claim(), with the same type.
		return value === undefined ? undefined : (JSON.parse(unsealed("owner", value).toString("utf8")) as Owner);
	}

	/** Brings the oldest commits of the log into the base. */
	#fold(count: number): void {
		if (count === 0) return;
		let last: Revision | undefined;
		for (const { key, value } of [...this.#log.getRange({ limit: count })]) {
			for (const write of writesOf(key, value)) this.#foldWrite(key, write);
			this.#log.removeSync(key);
			last = key;
		}
		if (last !== undefined) this.#meta.putSync("base", sealed("base", String(last)));
	}

	#foldWrite(revision: Revision, write: Write): void {
		const key = keyOf(write.space, write.key);
		if (write.kind === "delete") {
			this.#base.removeSync(key);
			return;
		}
		const before = this.#base.get(key);
		const created = before === undefined ? revision : entryHead(unsealed(key, before)).createRevision;
		this.#base.putSync(key, sealed(key, `${created} ${revision} ${JSON.stringify(write.object)}`));
	}
}

function objectsIn(view: View): number {
	return view.spaces.reduce((sum, space) => sum + space.size, 0);
}

function writesOf(revision: Revision, value: Buffer): readonly Write[] {
	return JSON.parse(unsealed(revision, value).toString("utf8")) as readonly Write[];
}

/** Processes that have the file open and have read in it. */
function readersOf(root: RootDatabase): ReadonlySet<number> {
	// LMDB lists them as text: a head, and a line each that begins with the process.
	return new Set([...root.readerList().matchAll(/^\s*(\d+)\s/gm)].map(([, pid]) => Number(pid)));
}

/** As many entries as it says that it has: pages that are damaged may lead in a circle. */
function* limited<K extends string | number>(
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

function problemOf(read: () => unknown): string | undefined {
	try {
		read();
		return undefined;
	} catch (error) {
		return error instanceof Error ? error.message : String(error);
	}
}

/** Neither part holds a blank. */
function keyOf(space: string, place: string): string {
	return `${space} ${place}`;
}

function placeOf(key: string): { readonly space: string; readonly place: string } {
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
function entryHead(value: Buffer): EntryHead {
	const first = value.indexOf(BLANK);
	const second = value.indexOf(BLANK, first + 1);
	return {
		createRevision: Number(value.toString("latin1", 0, first)),
		modRevision: Number(value.toString("latin1", first + 1, second)),
		end: second + 1,
	};
}

function entryOf(value: Buffer): Omit<Entry, "key"> {
	const { createRevision, modRevision, end } = entryHead(value);
	const object = JSON.parse(value.toString("utf8", end)) as KubeObject;
	return { createRevision, modRevision, object: stamped(object, modRevision) };
}
