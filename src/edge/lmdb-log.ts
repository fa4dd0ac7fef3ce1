/** A data folder: its state in memory, and a thread that keeps what is written to it. */
import { existsSync, realpathSync } from "node:fs";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { ApiError } from "../api/status.ts";
import type { Counter, Gauge, Histogram, Metrics } from "../kernel/metrics.ts";
import type { Revision } from "../store/entry.ts";
import type { CommitLog, LoggedCommit } from "../store/group-commit-engine.ts";
import type { View } from "../store/view.ts";
import { builtScript } from "./built-script.ts";
import { HeldError, LmdbStore, type LmdbStoreOptions } from "./lmdb-store.ts";
import { finishTables } from "./lmdb-tables.ts";
import type { FromLmdb, LmdbWork, ToLmdb } from "./lmdb-worker.ts";
import { loadLmdb } from "./load-lmdb.ts";
import { lookAtStore } from "./look-at-store.ts";
import { keepPrivate, makeFolder } from "./store-folder.ts";
import { storeReason } from "./store-reason.ts";
import { systemReason } from "./system-reason.ts";
import { madeWhole, removeAbandoned } from "./unfinished-store.ts";

export interface DataFolderOptions {
	readonly folder: string;
	/** Commits that are kept for watches, at least 1. */
	readonly commitsMax?: number;
	/** Revision before the first commit of a folder that is new. */
	readonly start: Revision;
	readonly metrics: Metrics;
}

export interface OpenedFolder {
	/** Everything that the folder holds, with its recent past. */
	readonly view: View;
	readonly log: CommitLog;
	/** Resolves with a sentence when nothing can be written any more, such as when another process has the folder. */
	readonly lost: Promise<string>;
	/** Waits for what is being written, and lets others have the folder. */
	close(): Promise<void>;
}

const COMMITS_MAX = 10_000;
const NOTHING_WRITTEN = "nothing was written, and what was written before is kept";
/** Folders that this process has. */
const openHere = new Set<string>();

/**
 * Takes the folder for this process alone, and makes it when it is not there.
 * Rejects with a sentence that names the folder and what to do.
 */
export async function openDataFolder(options: DataFolderOptions): Promise<OpenedFolder> {
	const { folder } = options;
	try {
		makeFolder(folder);
		const place = realpathSync(folder);
		if (openHere.has(place)) throw new HeldError(process.pid);
		openHere.add(place);
		try {
			const log = await takenFolder(options);
			const close = async (): Promise<void> => {
				await log.close();
				openHere.delete(place);
			};
			return { view: log.view, log, lost: log.lost, close };
		} catch (error) {
			openHere.delete(place);
			throw error;
		}
	} catch (error) {
		const why = error instanceof HeldError ? inUse(folder, error.pid) : reasonOf(error, folder);
		throw new Error(`--data-dir ${folder}: ${why}`, { cause: error });
	}
}

async function takenFolder(options: DataFolderOptions): Promise<KeptLog> {
	const { folder, commitsMax = COMMITS_MAX, start, metrics } = options;
	const open = await loadLmdb();
	const file: LmdbStoreOptions = { path: path.join(folder, "store"), commitsMax };
	await removeAbandoned(file.path);
	if (existsSync(file.path)) await requireSound(file.path);
	else await makeStore(open, file.path, start);
	const store = new LmdbStore(open, { ...file, isFirst: true });
	try {
		keepPrivate(file.path);
		const owner = store.claim();
		const log = new KeptLog(store.load(), { file, owner }, folder, metrics);
		// The thread has it open before this one closes it: to others it is never nobody's.
		await log.opened();
		return log;
	} finally {
		await store.close();
	}
}

export function inUse(folder: string, pid: number): string {
	return `${folder} is in use by process ${pid}: end it first, or take another folder`;
}

async function makeStore(open: Awaited<ReturnType<typeof loadLmdb>>, folder: string, start: Revision): Promise<void> {
	try {
		await madeWhole(open, folder, async (_, tables) => finishTables(tables, start));
	} catch (error) {
		// Another process was first: who has it is seen when it is taken.
		if (!existsSync(folder)) throw error;
	}
}

async function requireSound(store: string): Promise<void> {
	const { found, holder } = await lookAtStore({ kind: "check", path: store, counts: false });
	if (holder !== undefined) throw new HeldError(holder);
	const [first] = found.problems;
	if (first !== undefined) throw new Error(`its store is damaged: ${first} (sliceplane store check tells all)`);
}

class KeptLog implements CommitLog {
	/** What was there at the start. */
	readonly view: View;
	/** Resolves with a sentence when the thread cannot write any more. */
	readonly lost: Promise<string>;
	readonly #tellLost: (why: string) => void;
	readonly #folder: string;
	readonly #worker: Worker;
	readonly #durations: Histogram;
	readonly #commits: Counter;
	readonly #size: Gauge;
	/** Of the group that is being written. */
	#settle: ((answer: FromLmdb) => void) | undefined;
	#underWay: Promise<unknown> = Promise.resolve();
	/** Why nothing can be written any more. */
	#ended: string | undefined;
	#isClosing = false;

	constructor(view: View, work: LmdbWork, folder: string, metrics: Metrics) {
		this.view = view;
		let tellLost = (_why: string): void => undefined;
		this.lost = new Promise((resolve) => {
			tellLost = resolve;
		});
		this.#tellLost = tellLost;
		this.#folder = folder;
		this.#durations = metrics.histogram({
			name: "sliceplane_store_group_duration_seconds",
			help: "Time until a group of commits was durable.",
		});
		this.#commits = metrics.counter({ name: "sliceplane_store_commits_total", help: "Commits that are durable." });
		this.#size = metrics.gauge({ name: "sliceplane_store_log_commits", help: "Commits that are kept for watches." });
		this.#worker = new Worker(builtScript(import.meta.url, "./lmdb-worker.js"), { workerData: work });
		this.#worker.on("message", (answer: FromLmdb) => {
			if (answer.kind === "lost") this.#end(answer.why);
			else this.#settle?.(answer);
		});
		this.#worker.on("error", (error) => this.#end(systemReason(error)));
		this.#worker.on("exit", () => this.#end("the thread that writes it has ended"));
	}

	/** Resolves when the thread has opened it. */
	async opened(): Promise<void> {
		const answer = await this.#answered();
		if (answer.kind === "failed") throw new Error(answer.why);
	}

	async write(commits: readonly LoggedCommit[]): Promise<void> {
		if (this.#isClosing) throw new ApiError("ServiceUnavailable", "the plane is stopping");
		const startedMs = performance.now();
		const written = commits.map(({ revision, writes }) => ({ revision, writes: JSON.stringify(writes) }));
		const answer = await this.#ask({ kind: "write", commits: written });
		if (answer.kind === "failed") {
			const why = `${this.#folder}: ${this.#ended ?? `${storeReason(answer.why, this.#folder)}; ${NOTHING_WRITTEN}`}`;
			throw new ApiError("InternalError", `Internal error occurred: the change could not be stored in ${why}`);
		}
		this.#commits.add(commits.length);
		if (answer.kind === "written") this.#size.set(answer.commits);
		this.#durations.observe((performance.now() - startedMs) / 1_000);
	}

	/** Waits for the group that is being written; whoever comes later is told that the plane stops. */
	async close(): Promise<void> {
		this.#isClosing = true;
		await this.#underWay;
		if (this.#ended === undefined) await this.#ask({ kind: "close" });
		await this.#worker.terminate();
	}

	/** One at a time: the engine writes a group when the one before it is done. */
	#ask(message: ToLmdb): Promise<FromLmdb> {
		if (this.#ended !== undefined) return Promise.resolve({ kind: "failed", why: this.#ended });
		const answer = this.#answered();
		this.#underWay = answer;
		this.#worker.postMessage(message);
		return answer;
	}

	#answered(): Promise<FromLmdb> {
		return new Promise((resolve) => {
			this.#settle = resolve;
		});
	}

	#end(why: string): void {
		this.#ended ??= why;
		this.#settle?.({ kind: "failed", why: this.#ended });
		if (!this.#isClosing) this.#tellLost(`${this.#folder}: ${this.#ended}`);
	}
}

function reasonOf(error: unknown, folder: string): string {
	return storeReason(systemReason(error), folder);
}
