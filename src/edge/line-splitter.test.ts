import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LineSplitter } from "./line-splitter.ts";

describe("LineSplitter", () => {
	test("gives the same lines wherever the text is cut, also inside of a character", () => {
		const text = fc.array(fc.string({ unit: "grapheme", minLength: 1 }).map((line) => JSON.stringify(line)));
		fc.assert(
			fc.property(text, fc.array(fc.nat(200)), (lines, cuts) => {
				const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
				const splitter = new LineSplitter(1_000_000);
				const found: string[] = [];
				let start = 0;
				for (const cut of [...cuts.filter((at) => at < bytes.length).sort((a, b) => a - b), bytes.length]) {
					found.push(...splitter.push(bytes.subarray(start, cut)));
					start = cut;
				}
				expect(found).toEqual(lines);
				expect(splitter.pendingBytes).toBe(0);
			}),
		);
	});

	test("leaves out empty lines and carriage returns, and keeps what has not ended", () => {
		const splitter = new LineSplitter(100);
		expect(splitter.push(Buffer.from("a\r\n\n\r\nb\nc"))).toEqual(["a", "b"]);
		expect(splitter.pendingBytes).toBe(1);
		expect(splitter.push(Buffer.from("d\n"))).toEqual(["cd"]);
	});

	test("refuses a line that is too long, in one piece or in many", () => {
		expect(new LineSplitter(5).push(Buffer.from("12345\n"))).toEqual(["12345"]);
		expect(() => new LineSplitter(5).push(Buffer.from("123456\n"))).toThrow("a line has more than 5 bytes");
		const splitter = new LineSplitter(5);
		splitter.push(Buffer.from("1234"));
		expect(() => splitter.push(Buffer.from("56"))).toThrow(RangeError);
	});
});
