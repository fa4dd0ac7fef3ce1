/** The thread that writes the log: it waits for the disk, so that nobody else does. */
import { parentPort, workerData } from "node:worker_threads";
import { open } from "lmdb";
import { assertDefined } from "../kernel/assert.ts";
import { LmdbStore, type LmdbStoreOptions, type WrittenCommit } from "./lmdb-store.ts";
import { systemReason } from "./system-reason.ts";

export type ToLmdb =
	| { readonly kind: "write"; readonly commits: readonly WrittenCommit[] }
	| { readonly kind: "close" };

export type FromLmdb =
	| { readonly kind: "written"; readonly commits: number }
	| { readonly kind: "failed"; readonly why: string }
	| { readonly kind: "closed" };

const port = assertDefined(parentPort, "the port of the thread that started this one");
// Written by the thread that starts this one, with the same type.
const store = new LmdbStore(open, workerData as LmdbStoreOptions);

port.on("message", (message: ToLmdb) => {
	const tell = (answer: FromLmdb): void => port.postMessage(answer);
	if (message.kind === "close") {
		void store.close().then(() => {
			tell({ kind: "closed" });
			port.close();
		});
		return;
	}
	try {
		store.write(message.commits);
		tell({ kind: "written", commits: store.commits });
	} catch (error) {
		tell({ kind: "failed", why: systemReason(error) });
	}
});
