/**
 * A process of its own that reads a store, or copies it: LMDB ends its process when it meets pages that are damaged.
 * Prints what it found as JSON.
 */
import { open } from "lmdb";
import type { Revision } from "../store/entry.ts";
import { checkTables, type StoreCheck } from "./lmdb-check.ts";
import { copyState, copyTables } from "./lmdb-copy.ts";
import { LmdbStore } from "./lmdb-store.ts";
import { createTables, finishTables, openRoot, readersOf } from "./lmdb-tables.ts";
import { systemReason } from "./system-reason.ts";

export interface CopyLook {
	readonly kind: "copy";
	readonly path: string;
	/** A new store, which its maker has open. */
	readonly to: string;
	/** Only the state, at this revision or later, without the past. */
	readonly rebasedTo?: Revision;
}

export type Look =
	| { readonly kind: "check"; readonly path: string; readonly counts: boolean }
	| CopyLook
	| { readonly kind: "readers"; readonly path: string };

/** What the process is started with. */
export interface LookAsked {
	readonly look: Look;
	/** The process that waits for the answer. */
	readonly asker: number;
}

export type Looked =
	| {
			readonly kind: "found";
			readonly found: StoreCheck;
			/** The process that works with it. */
			readonly holder?: number;
	  }
	| { readonly kind: "readers"; readonly count: number }
	| { readonly kind: "failed"; readonly why: string };

async function looked({ look, asker }: LookAsked): Promise<Looked> {
	if (look.kind === "readers") return await readers(look.path);
	const store = new LmdbStore(open, { path: look.path, commitsMax: Number.MAX_SAFE_INTEGER, readOnly: true });
	try {
		if (look.kind === "copy") return { kind: "found", found: await copied(store, look, asker) };
		const holder = store.holder();
		return { kind: "found", found: store.check(look.counts), ...(holder === undefined ? {} : { holder }) };
	} finally {
		await store.close();
	}
}

async function copied({ tables }: LmdbStore, { to, rebasedTo }: CopyLook, asker: number): Promise<StoreCheck> {
	const isWanted = (): boolean => process.ppid === asker;
	const target = createTables(open, to);
	if (rebasedTo === undefined) finishTables(target, copyTables(tables, target, isWanted));
	else finishTables(target, Math.max(rebasedTo, copyState(tables, target, isWanted) + 1));
	const found = checkTables(target, true);
	await target.root.close();
	return found;
}

/** Of processes that live. */
async function readers(path: string): Promise<Looked> {
	const root = openRoot(open, path, true);
	root.readerCheck();
	const count = readersOf(root).size;
	await root.close();
	return { kind: "readers", count };
}

function reasonOf(error: unknown): string {
	const reason = systemReason(error);
	const isDamage = /MDB_(BAD|CORRUPTED|CURSOR|INVALID|PAGE|PROBLEM)/.test(reason);
	return isDamage ? `its pages are damaged, reading them ended with ${reason}: restore a snapshot` : reason;
}

// Who asked is told by the terminal, too, and ends this one when it has to.
process.on("SIGINT", () => undefined);
// Written by the process that starts this one, with the same type.
const asked = JSON.parse(process.argv[2] ?? "") as LookAsked;
const answer = await looked(asked).catch((error: unknown): Looked => ({ kind: "failed", why: reasonOf(error) }));
process.stdout.write(JSON.stringify(answer));
