import { describe, expect, test } from "vitest";
import { mismatches, substitute, valueAt } from "./match.mjs";

describe("an expectation", () => {
	test.each([
		["a scalar is equal", 1, 1],
		["only listed members count", { a: 1 }, { a: 1, b: 2 }],
		["an array has the length and each member matches", [{ a: 1 }, "~x"], [{ a: 1, b: 2 }, "axb"]],
		["a missing member can be wanted", { a: "$absent" }, {}],
		["any value can be wanted", { a: "$any" }, { a: 0 }],
		["null is a value of its own", { a: null }, { a: null }],
	])("is met: %s", (_, wanted, got) => {
		expect(mismatches(wanted, got)).toEqual([]);
	});

	test.each([
		["another scalar", { a: 1 }, { a: "1" }, "/a"],
		["a longer array", { a: [1] }, { a: [1, 2] }, "/a"],
		["a member inside an array", [{ a: 1 }], [{ a: 2 }], "/0/a"],
		["a member that is there", { a: "$absent" }, { a: null }, "/a"],
		["no value", { a: "$any" }, {}, "/a"],
		["null for any value", { a: "$any" }, { a: null }, "/a"],
		["a text without the pattern", { a: "~^x$" }, { a: "xx" }, "/a"],
		["a pattern for a number", { a: "~1" }, { a: 1 }, "/a"],
		["an inherited member", { toString: "$any" }, {}, "/toString"],
		["an object for an array", { a: { 0: 1 } }, { a: [1] }, "/a"],
	])("names the place of %s", (_, wanted, got, at) => {
		expect(mismatches(wanted, got)).toMatchObject([{ at }]);
	});
});

test("known names are replaced in strings and keys, others stay", () => {
	const template = { $key: ["/x/$rv/$patch", 1, null] };
	expect(substitute(template, { key: "k", rv: "7" })).toEqual({ k: ["/x/7/$patch", 1, null] });
});

test("a string that is only a name becomes a number if the value is one", () => {
	expect(substitute(["$port", ":$port"], { port: 80 })).toEqual([80, ":80"]);
});

test.each([
	["/a/0", "x"],
	["/b~1c", 1],
	["/a/5", undefined],
	["/none/deeper", undefined],
])("the pointer %s leads to its value", (pointer, value) => {
	expect(valueAt({ a: ["x"], "b/c": 1 }, pointer)).toBe(value);
});
