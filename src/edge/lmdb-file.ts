/**
 * A look at an LMDB file before it is mapped: one that is cut off, or is none, would end the process without a word,
 * and one with a damaged start may give back an older state as if it were the newest.
 *
 * Two meta pages stand at the start, which LMDB writes in turns: transaction N is told by page N & 1, and the other one
 * tells of N - 1. The newer one says which page is the last, and where the tree of tables has its root. Each transaction
 * writes that root anew, and the page has the transaction's number, too; the root of N - 1 stays until N + 1 is whole.
 *
 * @see LMDB's mdb.c, MDB_meta, MDB_page
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { systemCode, systemReason } from "./system-reason.ts";

const MAGIC = 0xbe_ef_c0_de;
/** Offsets in a meta page as lmdb-js has it on 64-bit machines, behind the page's own header of 24 bytes. */
const AT = { magic: 24, pageSize: 48, root: 136, lastPage: 144, transaction: 152 } as const;
/** Offsets in the header of a page. */
const PAGE_AT = { page: 0, transaction: 8 } as const;
const META_BYTES = 160;
const PAGE_BYTES_MIN = 512;
const PAGE_BYTES_MAX = 65_536;
/** Of a tree that is empty. */
const NO_PAGE = 0xff_ff_ff_ff_ff_ff_ff_ffn;
/** What LMDB's compacted copy writes in each of its pages. */
const COPIED = 1n;
/** A plane that writes changes the start meanwhile: it is read again as often. */
const READS_MAX = 100;

interface Meta {
	readonly root: bigint;
	readonly lastPage: bigint;
	readonly transaction: bigint;
}

/** Why the file cannot be opened; undefined when it looks as it should. */
export function lmdbFileProblem(file: string): string | undefined {
	let descriptor: number;
	try {
		descriptor = openSync(file, "r");
	} catch (error) {
		return unopened(error);
	}
	try {
		return problemOf(descriptor);
	} finally {
		closeSync(descriptor);
	}
}

function unopened(error: unknown): string {
	const code = systemCode(error);
	if (code === "ENOENT" || code === "ENOTDIR") {
		return "it is not there: restore a snapshot, or remove its folder to start anew";
	}
	return code === "EACCES" || code === "EPERM" ? "it cannot be read by this user" : systemReason(error);
}

function problemOf(descriptor: number): string | undefined {
	if (fstatSync(descriptor).size === 0) return "it is empty: restore a snapshot, or remove its folder to start anew";
	const first = bytesAt(descriptor, 0n);
	const pageSize = first.readUInt32LE(AT.pageSize);
	if (first.readUInt32LE(AT.magic) !== MAGIC || pageSize < PAGE_BYTES_MIN || pageSize > PAGE_BYTES_MAX) {
		return "its start is damaged, or it is no store: restore a snapshot";
	}
	const second = bytesAt(descriptor, BigInt(pageSize));
	if (second.readUInt32LE(AT.magic) !== MAGIC) return "its second page is damaged: restore a snapshot";
	const { lastPage } = newer(metaOf(first), metaOf(second));
	// Only now: a plane that writes makes it longer, and tells so afterwards.
	const { size } = fstatSync(descriptor);
	const wanted = (lastPage + 1n) * BigInt(pageSize);
	if (BigInt(size) < wanted) return `it is cut off: ${size} bytes of ${wanted}; restore a snapshot`;
	if (fits(descriptor, BigInt(pageSize))) return undefined;
	return "its start does not fit its pages: it is damaged, or was copied while a plane wrote to it; restore a snapshot";
}

/** Whether the two meta pages fit each other and what they lead to. */
function fits(descriptor: number, pageSize: bigint): boolean {
	const metas = (): readonly [Buffer, Buffer] => [bytesAt(descriptor, 0n), bytesAt(descriptor, pageSize)];
	let [first, second] = metas();
	for (let reads = 0; reads < READS_MAX; reads++) {
		if (areTurns(metaOf(first), metaOf(second)) && isRooted(metaOf(first)) && isRooted(metaOf(second))) return true;
		const again = metas();
		if (again[0].equals(first) && again[1].equals(second)) return false;
		[first, second] = again;
	}
	// It changes all the time: LMDB itself looks after it.
	return true;

	function isRooted({ root, transaction }: Meta): boolean {
		if (root === NO_PAGE) return transaction === 0n;
		const page = bytesAt(descriptor, root * pageSize);
		const writtenBy = page.readBigUInt64LE(PAGE_AT.transaction);
		return page.readBigUInt64LE(PAGE_AT.page) === root && (writtenBy === transaction || writtenBy === COPIED);
	}
}

/** A page that was never written to is of no transaction: in a file of one transaction, and in a compacted copy. */
function areTurns(first: Meta, second: Meta): boolean {
	if (first.transaction === 0n) return second.transaction === 0n || second.transaction % 2n === 1n;
	const apart = first.transaction - second.transaction;
	return first.transaction % 2n === 0n && (apart === 1n || apart === -1n);
}

function bytesAt(descriptor: number, position: bigint): Buffer {
	const bytes = Buffer.alloc(META_BYTES);
	// Beyond the end nothing is read: zeros are no page.
	if (position <= BigInt(Number.MAX_SAFE_INTEGER)) readSync(descriptor, bytes, 0, META_BYTES, Number(position));
	return bytes;
}

function metaOf(page: Buffer): Meta {
	return {
		root: page.readBigUInt64LE(AT.root),
		lastPage: page.readBigUInt64LE(AT.lastPage),
		transaction: page.readBigUInt64LE(AT.transaction),
	};
}

function newer(a: Meta, b: Meta): Meta {
	return a.transaction >= b.transaction ? a : b;
}
