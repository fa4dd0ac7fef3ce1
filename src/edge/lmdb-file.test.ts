import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { open } from "lmdb";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { lmdbFileProblem } from "./lmdb-file.ts";
import { createTables, finishTables } from "./lmdb-tables.ts";

let folder: string;
let file: string;
beforeEach(async () => {
	folder = mkdtempSync(path.join(tmpdir(), "sliceplane-lmdb-file-"));
	file = path.join(folder, "data.mdb");
	const tables = createTables(open, folder);
	finishTables(tables, 1);
	for (let index = 0; index < 8; index++) {
		tables.root.transactionSync(() => tables.base.putSync(`k${index}`, Buffer.alloc(2_000)));
	}
	await tables.root.close();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const PAGE_BYTES = 4_096;
const UNFIT =
	"its start does not fit its pages: it is damaged, or was copied while a plane wrote to it; restore a snapshot";

describe("the start of an LMDB file", () => {
	test.each([
		{ what: "number of the transaction", at: 152 },
		{ what: "root of the tables", at: 136 },
	])("is told to be damaged by each single bit of the $what, in the newer and in the older page", ({ at }) => {
		expect(lmdbFileProblem(file)).toBeUndefined();
		const whole = readFileSync(file);
		const unseen: string[] = [];
		for (const page of [0, 1]) {
			for (let bit = 0; bit < 64; bit++) {
				const bytes = Buffer.from(whole);
				const byte = page * PAGE_BYTES + at + (bit >> 3);
				bytes.writeUInt8(bytes.readUInt8(byte) ^ (1 << (bit & 7)), byte);
				writeFileSync(file, bytes);
				if (lmdbFileProblem(file) === undefined) unseen.push(`bit ${bit} of page ${page}`);
			}
		}
		expect(unseen).toEqual([]);
	});

	test("is told when it is of another moment than the pages", async () => {
		const before = readFileSync(file);
		const tables = createTables(open, folder);
		for (let index = 0; index < 8; index++) {
			tables.root.transactionSync(() => tables.base.putSync("k", Buffer.alloc(index)));
		}
		await tables.root.close();
		writeFileSync(
			file,
			Buffer.concat([before.subarray(0, 2 * PAGE_BYTES), readFileSync(file).subarray(2 * PAGE_BYTES)]),
		);
		expect(lmdbFileProblem(file)).toBe(UNFIT);
	});

	test("is right in a compacted copy, also after it was written to", async () => {
		const tables = createTables(open, folder);
		const copy = mkdtempSync(path.join(folder, "copy-"));
		await tables.root.backup(copy, true);
		await tables.root.close();
		expect(lmdbFileProblem(path.join(copy, "data.mdb"))).toBeUndefined();
		const copied = createTables(open, copy);
		for (let index = 0; index < 3; index++) {
			copied.root.transactionSync(() => copied.base.putSync("k", Buffer.alloc(index)));
			expect(lmdbFileProblem(path.join(copy, "data.mdb"))).toBeUndefined();
		}
		await copied.root.close();
	});
});
