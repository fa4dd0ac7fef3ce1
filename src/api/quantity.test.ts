import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalQuantity, isMoreThan } from "./quantity.ts";

describe("canonicalQuantity()", () => {
	test.each([
		["100m", "100m"],
		["1000m", "1"],
		["2.5", "2500m"],
		["0.1", "100m"],
		[".5", "500m"],
		["5.", "5"],
		["007", "7"],
		["+1", "1"],
		["-1500m", "-1500m"],
		["-0", "0"],
		["0Gi", "0"],
		["12000", "12k"],
		["12345", "12345"],
		["1000000000", "1G"],
		["1024Mi", "1Gi"],
		["1.5Gi", "1536Mi"],
		["0.5Ki", "512"],
		["1000Ki", "1000Ki"],
		["1.0001Ki", "1024102400u"],
		["1e3", "1e3"],
		["10E5", "1e6"],
		["1e-3", "1e-3"],
		["1e0", "1"],
		["0.1n", "1n"],
		["8Ei", "9223372036854775807"],
		["1e999999999999", "9223372036854775807"],
		["1e-999999999999", "1e-9"],
		["9".repeat(1000), "9223372036854775807"],
	])("writes %j as %j", (text, wanted) => {
		expect(canonicalQuantity(text)).toBe(wanted);
	});

	test.each(["", ".", "m", "1 ", "1mi", "1KB", "1ki", "--1", "1e", "1.2.3", "0x1"])("takes no %j", (text) => {
		expect(canonicalQuantity(text)).toBeUndefined();
	});

	test("is the same a second time, and the same amount", () => {
		const suffix = fc.constantFrom("", "n", "u", "m", "k", "M", "Ki", "Mi", "e3", "e-3");
		const texts = fc.tuple(fc.integer({ min: -5000, max: 5000 }), fc.nat(999), suffix);
		fc.assert(
			fc.property(texts, ([whole, fraction, unit]) => {
				const text = `${whole}.${fraction}${unit}`;
				const once = canonicalQuantity(text) ?? "";
				expect(canonicalQuantity(once)).toBe(once);
				expect([isMoreThan(text, once), isMoreThan(once, text)]).toEqual([false, false]);
			}),
		);
	});
});

test.each([
	["2", "1500m", true],
	["1", "1000m", false],
	["1Gi", "1G", true],
	["-1", "0", false],
	["many", "1", false],
])("isMoreThan(%j, %j) is %j", (a, b, wanted) => {
	expect(isMoreThan(a, b)).toBe(wanted);
});
