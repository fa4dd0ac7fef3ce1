import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clipped, clippedJson } from "./clipped.ts";

describe("clipped()", () => {
	test.each([
		["abc", "abc"],
		["abcd", "abc... (4 characters)"],
		["ab\u{1f600}d", "ab... (5 characters)"],
	])("of three characters: %j", (text, shown) => {
		expect(clipped(text, 3)).toBe(shown);
	});
});

describe("clippedJson()", () => {
	test("of what is short is JSON", () => {
		fc.assert(fc.property(fc.jsonValue(), (value) => clippedJson(value, 100_000) === JSON.stringify(value)));
	});

	test("of what is long is its beginning", () => {
		fc.assert(
			fc.property(fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 1, max: 60 }), (value, max) => {
				const [whole, shown] = [JSON.stringify(value), clippedJson(value, max)];
				return shown === whole || (shown.length <= max + 3 && whole.startsWith(shown.slice(0, -3).slice(0, max - 7)));
			}),
		);
	});

	test("looks at no more than it shows", () => {
		let looks = 0;
		const item = {
			get name() {
				looks++;
				return "x";
			},
		};
		expect(clippedJson(Array(10_000).fill(item), 100)).toHaveLength(103);
		expect(looks).toBeLessThan(50);
	});
});
