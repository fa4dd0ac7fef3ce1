/** The thread that writes the log: it waits for the disk, so that nobody else does. */
import { parentPort, workerData } from "node:worker_threads";
import { open } from "lmdb";
import { assertDefined } from "../kernel/assert.ts";
import { LmdbStore, type LmdbStoreOptions, LostError, type WrittenCommit } from "./lmdb-store.ts";
import { systemReason } from "./system-reason.ts";

export type ToLmdb =
	| { readonly kind: "write"; readonly commits: readonly WrittenCommit[] }
	| { readonly kind: "close" };

export interface LmdbWork {
	readonly file: LmdbStoreOptions;
	/** By what this plane may write. */
	readonly owner: string;
}

export type FromLmdb =
	| { readonly kind: "opened" }
	| { readonly kind: "written"; readonly commits: number }
	| { readonly kind: "failed"; readonly why: string }
	/** Somebody else has the folder, or it is gone: nothing more can be written. */
	| { readonly kind: "lost"; readonly why: string }
	| { readonly kind: "closed" };

/** A plane that writes nothing hears within this time that it has lost its folder. */
const LOOK_MS = 1_000;

const port = assertDefined(parentPort, "the port of the thread that started this one");
// Written by the thread that starts this one, with the same type.
const { file, owner } = workerData as LmdbWork;
const store = new LmdbStore(open, file);
const tell = (answer: FromLmdb): void => port.postMessage(answer);

async function close(): Promise<void> {
	clearInterval(looking);
	try {
		store.release(owner);
	} catch {
		// On a disk that is full: the next one finds that this process is gone.
	}
	await store.close();
	tell({ kind: "closed" });
	port.close();
}

port.on("message", (message: ToLmdb) => {
	if (message.kind === "close") {
		void close();
		return;
	}
	try {
		store.write(message.commits, owner);
		tell({ kind: "written", commits: store.commits });
	} catch (error) {
		tell({ kind: error instanceof LostError ? "lost" : "failed", why: systemReason(error) });
	}
});
const looking = setInterval(() => {
	try {
		store.requireOursNow(owner);
	} catch (error) {
		if (error instanceof LostError) tell({ kind: "lost", why: systemReason(error) });
	}
}, LOOK_MS);
tell({ kind: "opened" });
