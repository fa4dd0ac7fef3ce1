/**
 * A process of its own that reads a store, copies it, or makes a new one of a copy: LMDB ends its process when it meets
 * pages that are damaged. Prints what it found as JSON.
 */
import { open } from "lmdb";
import type { Revision } from "../store/entry.ts";
import { LmdbStore, type StoreCheck } from "./lmdb-store.ts";
import { systemReason } from "./system-reason.ts";

export type Look =
	| { readonly kind: "check"; readonly path: string; readonly counts: boolean }
	| { readonly kind: "copy"; readonly path: string; readonly to: string }
	| { readonly kind: "rebase"; readonly path: string; readonly revision: Revision };

export type Looked =
	| {
			readonly kind: "found";
			readonly found: StoreCheck;
			/** The process that works with it. */
			readonly holder?: number;
	  }
	| { readonly kind: "failed"; readonly why: string };

async function looked(look: Look): Promise<Looked> {
	const readOnly = look.kind !== "rebase";
	const store = new LmdbStore(open, { path: look.path, commitsMax: Number.MAX_SAFE_INTEGER, readOnly });
	if (look.kind === "copy") await store.copyTo(look.to);
	if (look.kind === "rebase") store.rebase(look.revision);
	const holder = store.holder();
	const found = store.check(look.kind !== "check" || look.counts);
	await store.close();
	return { kind: "found", found, ...(holder === undefined ? {} : { holder }) };
}

function reasonOf(error: unknown): string {
	const reason = systemReason(error);
	const isDamage = /MDB_(BAD|CORRUPTED|CURSOR|INVALID|PAGE|PROBLEM)/.test(reason);
	return isDamage ? `its pages are damaged, reading them ended with ${reason}: restore a snapshot` : reason;
}

// Written by the process that starts this one, with the same type.
const asked = JSON.parse(process.argv[2] ?? "") as Look;
const answer = await looked(asked).catch((error: unknown): Looked => ({ kind: "failed", why: reasonOf(error) }));
process.stdout.write(JSON.stringify(answer));
