/**
 * A look at an LMDB file before it is mapped: one that is cut off, or is none, would end the process without a word.
 *
 * Two meta pages stand at the start; the newer one says which page is the last. @see LMDB's mdb.c, MDB_meta
 */
import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";

const MAGIC = 0xbe_ef_c0_de;
/** Offsets in a meta page as lmdb-js has it on 64-bit machines, behind the page's own header of 24 bytes. */
const AT = { magic: 24, pageSize: 48, lastPage: 144, transaction: 152 } as const;
const META_BYTES = 160;
const PAGE_BYTES_MIN = 512;
const PAGE_BYTES_MAX = 65_536;

interface Meta {
	readonly lastPage: bigint;
	readonly transaction: bigint;
}

/** Why the file cannot be opened; undefined when it looks as it should, or is not there yet. */
export function lmdbFileProblem(file: string): string | undefined {
	if (!existsSync(file)) return undefined;
	const descriptor = openSync(file, "r");
	try {
		const { size } = fstatSync(descriptor);
		if (size === 0) return "it is empty: restore a snapshot, or remove its folder to begin anew";
		const first = pageAt(descriptor, 0);
		const pageSize = first.readUInt32LE(AT.pageSize);
		if (first.readUInt32LE(AT.magic) !== MAGIC || pageSize < PAGE_BYTES_MIN || pageSize > PAGE_BYTES_MAX) {
			return "its start is damaged, or it is no store: restore a snapshot";
		}
		const second = pageAt(descriptor, pageSize);
		if (second.readUInt32LE(AT.magic) !== MAGIC) return "its second page is damaged: restore a snapshot";
		const { lastPage } = newer(metaOf(first), metaOf(second));
		const wanted = (lastPage + 1n) * BigInt(pageSize);
		return BigInt(size) < wanted ? `it is cut off: ${size} bytes of ${wanted}; restore a snapshot` : undefined;
	} finally {
		closeSync(descriptor);
	}
}

function pageAt(descriptor: number, position: number): Buffer {
	const bytes = Buffer.alloc(META_BYTES);
	readSync(descriptor, bytes, 0, META_BYTES, position);
	return bytes;
}

function metaOf(page: Buffer): Meta {
	return { lastPage: page.readBigUInt64LE(AT.lastPage), transaction: page.readBigUInt64LE(AT.transaction) };
}

function newer(a: Meta, b: Meta): Meta {
	return a.transaction >= b.transaction ? a : b;
}
