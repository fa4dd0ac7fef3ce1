/**
 * The log of commits in LMDB, and the state before its oldest commit: what a plane with a data folder starts from.
 *
 *     log    revision -> writes of the commit, as JSON; the recent past, for watches that go on after a restart
 *     base   place -> the object as of the revision before the log's first, with the revisions it came and changed at
 *     meta   format, and the revision of the base
 *
 * A commit that leaves the log is brought into the base in the same transaction: there is always one state, whole.
 * Everything here blocks until it is on disk, and throws what LMDB says: it belongs into a thread of its own.
 *
 * @see https://github.com/kriszyp/lmdb-js
 */
import { chmodSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Database, open, RootDatabase } from "lmdb";
import type { KubeObject } from "../api/types/meta.ts";
import { type Entry, type Revision, stamped, type Write } from "../store/entry.ts";
import { View } from "../store/view.ts";

/** A commit with its writes as JSON. */
export interface WrittenCommit {
	readonly revision: Revision;
	readonly writes: string;
}

export interface LmdbStoreOptions {
	/** Where the files are; made when it is not there. */
	readonly path: string;
	/** Commits that are kept for watches; older ones are in the base only. */
	readonly commitsMax: number;
	/** Revision before the first commit of a folder that is new. */
	readonly start: Revision;
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
const FORMAT = 1;
/** Address space that LMDB reserves for the file, to begin with: memory is taken for what is used. */
const MAP_BYTES = 256 * 2 ** 20;
/** As many leave a full log for each commit that comes, so that it shrinks when its limit was lowered. */
const FOLDED_PER_COMMIT = 2;
const BLANK = 0x20;

export class LmdbStore {
	readonly #root: RootDatabase;
	readonly #log: Database<Buffer, number>;
	readonly #base: Database<Buffer, string>;
	readonly #meta: Database<number, string>;
	readonly #commitsMax: number;
	#commits = 0;

	/** @param openRoot lmdb's `open`: the package is loaded only where there is a data folder. */
	constructor(openRoot: typeof open, { path, commitsMax, start }: LmdbStoreOptions) {
		this.#root = openRoot({ path, noSubdir: false, mapSize: MAP_BYTES, maxDbs: 4, overlappingSync: false });
		this.#commitsMax = commitsMax;
		// LMDB lets everybody read what it makes, but for the umask.
		if (existsSync(join(path, "data.mdb"))) keepPrivate(path);
		const keys = { keyEncoding: "ordered-binary" } as const;
		this.#log = this.#root.openDB({ name: "log", encoding: "binary", ...keys });
		this.#base = this.#root.openDB({ name: "base", encoding: "binary", ...keys });
		this.#meta = this.#root.openDB({ name: "meta", encoding: "json", ...keys });
		const format = this.#meta.get("format");
		if (format !== undefined && format !== FORMAT) {
			throw new Error(`it has format ${format}, want ${FORMAT}: another version of this program wrote it`);
		}
		this.#root.transactionSync(() => {
			if (format !== undefined) return;
			this.#meta.putSync("format", FORMAT);
			this.#meta.putSync("base", start);
		});
		this.#commits = this.#log.getKeysCount();
	}

	/** Commits in the log. */
	get commits(): number {
		return this.#commits;
	}

	/** Everything, with its recent past. */
	load(): View {
		const view = new View(this.#baseRevision());
		for (const { key, value } of this.#base.getRange()) {
			const { space, place } = placeOf(key);
			view.restore(space, { key: place, ...entryOf(value) });
		}
		for (const { key, value } of this.#log.getRange()) view.apply(key, writesOf(value));
		return view;
	}

	/** All of them, in order, or none; on disk when it returns. */
	write(commits: readonly WrittenCommit[]): void {
		const tooMany = this.#commits + commits.length - this.#commitsMax;
		const folded = Math.max(0, Math.min(tooMany, commits.length * FOLDED_PER_COMMIT));
		this.#root.transactionSync(() => {
			this.#requireNext(commits[0]?.revision);
			for (const { revision, writes } of commits) this.#log.putSync(revision, Buffer.from(writes));
			this.#fold(folded);
		});
		this.#commits += commits.length - folded;
	}

	/** Reads everything, and finds what cannot be. */
	check(): StoreCheck {
		const problems: string[] = [];
		const baseRevision = this.#baseRevision();
		let revision = baseRevision;
		for (const { key, value } of this.#base.getRange()) {
			const problem = problemOf(() => entryOf(value));
			if (problem !== undefined) problems.push(`base ${key}: ${problem}`);
			else if (entryHead(value).modRevision > baseRevision) problems.push(`base ${key}: newer than the base`);
		}
		for (const { key, value } of this.#log.getRange()) {
			if (key !== revision + 1) problems.push(`log: ${key} follows ${revision}`);
			revision = key;
			const problem = problemOf(() => writesOf(value));
			if (problem !== undefined) problems.push(`log ${key}: ${problem}`);
		}
		const objects = problems.length > 0 ? this.#base.getKeysCount() : objectsIn(this.load());
		return { revision, baseRevision, objects, commits: this.#commits, problems };
	}

	/** A copy that is whole, as of now, without what the file holds beside it. */
	async copyTo(path: string): Promise<void> {
		await this.#root.backup(path, true);
	}

	async close(): Promise<void> {
		await this.#root.close();
	}

	/** A lock can be lost, or be seen by nobody in another container: what two have written must not be mixed up. */
	#requireNext(revision: Revision | undefined): void {
		const [newest = this.#baseRevision()] = this.#log.getKeys({ reverse: true, limit: 1 });
		if (revision === undefined || revision === newest + 1) return;
		throw new Error(`another process has written to it, up to ${newest}: end all that use it, and start one again`);
	}

	#baseRevision(): Revision {
		return this.#meta.get("base") ?? 0;
	}

	/** Brings the oldest commits of the log into the base. */
	#fold(count: number): void {
		if (count === 0) return;
		let last: Revision | undefined;
		for (const { key, value } of [...this.#log.getRange({ limit: count })]) {
			for (const write of writesOf(value)) this.#foldWrite(key, write);
			this.#log.removeSync(key);
			last = key;
		}
		if (last !== undefined) this.#meta.putSync("base", last);
	}

	#foldWrite(revision: Revision, write: Write): void {
		const key = keyOf(write.space, write.key);
		if (write.kind === "delete") {
			this.#base.removeSync(key);
			return;
		}
		const before = this.#base.get(key);
		const created = before === undefined ? revision : entryHead(before).createRevision;
		this.#base.putSync(key, Buffer.from(`${created} ${revision} ${JSON.stringify(write.object)}`));
	}
}

function keepPrivate(folder: string): void {
	chmodSync(folder, 0o700);
	for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o600);
}

function objectsIn(view: View): number {
	return view.spaces.reduce((sum, space) => sum + space.size, 0);
}

function writesOf(value: Buffer): readonly Write[] {
	return JSON.parse(value.toString("utf8")) as readonly Write[];
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
