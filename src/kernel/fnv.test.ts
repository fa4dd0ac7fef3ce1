import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Fnv128a, fnv32, fnv32a, fnv128aHex } from "./fnv.ts";

/** The definition, in BigInt. */
function fnv128aByDefinition(bytes: Uint8Array): string {
	let hash = 0x6c62272e07bb014262b821756295c58dn;
	for (const byte of bytes) hash = ((hash ^ BigInt(byte)) * 0x1000000000000000000013bn) & ((1n << 128n) - 1n);
	return hash.toString(16).padStart(32, "0");
}

describe("FNV-1a", () => {
	test("of 128 bits agrees with its definition, in one piece and in two", () => {
		fc.assert(
			fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }), (a, b) => {
				const wanted = fnv128aByDefinition(new TextEncoder().encode(a + b));
				expect(fnv128aHex(a + b)).toBe(wanted);
				expect(new Fnv128a().update(a).update(b).hex()).toBe(wanted);
			}),
		);
	});

	test.each([
		["", 0x811c9dc5],
		["a", 0xe40c292c],
		["foobar", 0xbf9cf968],
	])("of 32 bits over %j is %i", (text, hash) => {
		expect(fnv32a(text)).toBe(hash);
	});

	test.each([
		["", 0x811c9dc5],
		["a", 0x050c5d7e],
		["foobar", 0x31f0b262],
	])("FNV-1 of 32 bits over %j is %i", (text, hash) => {
		expect(fnv32(text)).toBe(hash);
	});

	test("takes half a surrogate pair as U+FFFD", () => {
		expect(fnv128aHex("\ud83d")).toBe(fnv128aHex("\ufffd"));
		expect(fnv32a("\ud83d")).toBe(fnv32a("\ufffd"));
	});
});
