/** A data folder: its state in memory, and a thread that keeps what is written to it. */
import { statfsSync } from "node:fs";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { ApiError } from "../api/status.ts";
import type { Counter, Gauge, Histogram, Metrics } from "../kernel/metrics.ts";
import type { Revision } from "../store/entry.ts";
import type { CommitLog, LoggedCommit } from "../store/group-commit-engine.ts";
import type { View } from "../store/view.ts";
import { builtScript } from "./built-script.ts";
import { lockFolder } from "./folder-lock.ts";
import { lmdbFileProblem } from "./lmdb-file.ts";
import { LmdbStore, type LmdbStoreOptions } from "./lmdb-store.ts";
import type { FromLmdb, ToLmdb } from "./lmdb-worker.ts";
import { systemReason } from "./system-reason.ts";

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
	/** Waits for what is being written, and lets others have the folder. */
	close(): Promise<void>;
}

const COMMITS_MAX = 10_000;

/**
 * Takes the folder for this process alone, and makes it when it is not there.
 * Rejects with a sentence that names the folder and what to do.
 */
export async function openDataFolder(options: DataFolderOptions): Promise<OpenedFolder> {
	const { folder, commitsMax = COMMITS_MAX, start, metrics } = options;
	try {
		const unlock = lockFolder(folder);
		try {
			const file: LmdbStoreOptions = { path: path.join(folder, "store"), commitsMax, start };
			const store = await openStore(file);
			const view = store.load();
			await store.close();
			const log = new KeptLog(file, folder, metrics);
			const close = async (): Promise<void> => {
				await log.close();
				unlock();
			};
			return { view, log, close };
		} catch (error) {
			unlock();
			throw error;
		}
	} catch (error) {
		throw new Error(`--data-dir ${folder}: ${reasonOf(error, folder)}`, { cause: error });
	}
}

/** For a look at a folder that nobody uses. */
export async function openStore(file: LmdbStoreOptions): Promise<LmdbStore> {
	const { open } = await lmdb();
	const problem = lmdbFileProblem(path.join(file.path, "data.mdb"));
	if (problem !== undefined) throw new Error(`${path.join(file.path, "data.mdb")}: ${problem}`);
	return new LmdbStore(open, file);
}

async function lmdb(): Promise<typeof import("lmdb")> {
	try {
		return await import("lmdb");
	} catch (error) {
		throw new Error("the package lmdb is not installed for this platform: npm install lmdb", { cause: error });
	}
}

class KeptLog implements CommitLog {
	readonly #folder: string;
	readonly #worker: Worker;
	readonly #durations: Histogram;
	readonly #commits: Counter;
	readonly #size: Gauge;
	/** Of the group that is being written. */
	#settle: ((answer: FromLmdb) => void) | undefined;
	/** Why the thread has ended, when it should not have. */
	#ended: string | undefined;

	constructor(file: LmdbStoreOptions, folder: string, metrics: Metrics) {
		this.#folder = folder;
		this.#durations = metrics.histogram({
			name: "sliceplane_store_group_duration_seconds",
			help: "Time until a group of commits was durable.",
		});
		this.#commits = metrics.counter({ name: "sliceplane_store_commits_total", help: "Commits that are durable." });
		this.#size = metrics.gauge({ name: "sliceplane_store_log_commits", help: "Commits that are kept for watches." });
		this.#worker = new Worker(builtScript(import.meta.url, "./lmdb-worker.js"), { workerData: file });
		this.#worker.on("message", (answer: FromLmdb) => this.#settle?.(answer));
		this.#worker.on("error", (error) => this.#end(systemReason(error)));
		this.#worker.on("exit", () => this.#end("the thread that writes it has ended"));
	}

	async write(commits: readonly LoggedCommit[]): Promise<void> {
		const startedMs = performance.now();
		const written = commits.map(({ revision, writes }) => ({ revision, writes: JSON.stringify(writes) }));
		const answer = await this.#ask({ kind: "write", commits: written });
		if (answer.kind === "failed") {
			const why = `${this.#folder}: ${wordsFor(answer.why, this.#folder)}; nothing was written, and what was written before is kept`;
			throw new ApiError("InternalError", `Internal error occurred: the change could not be stored in ${why}`);
		}
		this.#commits.add(commits.length);
		if (answer.kind === "written") this.#size.set(answer.commits);
		this.#durations.observe((performance.now() - startedMs) / 1_000);
	}

	async close(): Promise<void> {
		if (this.#ended === undefined) await this.#ask({ kind: "close" });
		await this.#worker.terminate();
	}

	/** One at a time: the engine writes a group when the one before it is done. */
	#ask(message: ToLmdb): Promise<FromLmdb> {
		if (this.#ended !== undefined) return Promise.resolve({ kind: "failed", why: this.#ended });
		return new Promise((resolve) => {
			this.#settle = resolve;
			this.#worker.postMessage(message);
		});
	}

	#end(why: string): void {
		this.#ended ??= why;
		this.#settle?.({ kind: "failed", why });
	}
}

function reasonOf(error: unknown, folder: string): string {
	return wordsFor(systemReason(error), folder);
}

/** Less than this, and a write that failed has failed for want of space. */
const FREE_BYTES_MIN = 1024 * 1024;

/** LMDB reports a disk that is full as an error of input or output. */
function isFull(folder: string): boolean {
	try {
		const { bavail, bsize } = statfsSync(folder);
		return bavail * bsize < FREE_BYTES_MIN;
	} catch {
		return false;
	}
}

/** What LMDB and the system say, in words that tell what to do. */
function wordsFor(text: string, folder: string): string {
	if (/MDB_MAP_FULL|No space left|disk is full/i.test(text) || isFull(folder)) {
		return "no space is left there; free some, and try again";
	}
	if (/EROFS|EACCES|Permission denied|Read-only|not allowed/i.test(text)) return "it cannot be written to by this user";
	return text;
}
