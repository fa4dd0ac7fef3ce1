import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deepFreeze } from "../../kernel/json.ts";
import { applyJsonPatch, unknownOperationFields } from "./json-patch.ts";

function patched(target: object, ...operations: unknown[]): unknown {
	const result = applyJsonPatch(deepFreeze(target as Record<string, unknown>), operations);
	return result.kind === "ok" ? result.value : `${result.code} ${result.message}`;
}

describe("applyJsonPatch()", () => {
	const web = { metadata: { name: "web", labels: { "a/b": "1" } }, list: [1, 2, 3] };

	test.each<[rule: string, operation: object, becomes: object]>([
		["add sets a member", { op: "add", path: "/x", value: 1 }, { ...web, x: 1 }],
		["add inserts into a list", { op: "add", path: "/list/1", value: 9 }, { ...web, list: [1, 9, 2, 3] }],
		["add appends with -", { op: "add", path: "/list/-", value: 9 }, { ...web, list: [1, 2, 3, 9] }],
		[
			"add appends with an index of the length",
			{ op: "add", path: "/list/3", value: 9 },
			{ ...web, list: [1, 2, 3, 9] },
		],
		["add without value adds null", { op: "add", path: "/x" }, { ...web, x: null }],
		["remove from a list", { op: "remove", path: "/list/0" }, { ...web, list: [2, 3] }],
		["negative indexes count from the end", { op: "remove", path: "/list/-1" }, { ...web, list: [1, 2] }],
		[
			"escapes in paths",
			{ op: "replace", path: "/metadata/labels/a~1b", value: "2" },
			{ ...web, metadata: { name: "web", labels: { "a/b": "2" } } },
		],
		["replace of a list item", { op: "replace", path: "/list/1", value: 9 }, { ...web, list: [1, 9, 3] }],
		["replace of everything", { op: "replace", path: "", value: { a: 1 } }, { a: 1 }],
		["move", { op: "move", from: "/list/0", path: "/first" }, { ...web, list: [2, 3], first: 1 }],
		["move onto itself", { op: "move", from: "/list/0", path: "/list/0" }, web],
		["copy", { op: "copy", from: "/metadata/labels", path: "/copy" }, { ...web, copy: { "a/b": "1" } }],
		["test of a structure", { op: "test", path: "/metadata/labels", value: { "a/b": "1" } }, web],
		["test of nothing against null", { op: "test", path: "/nothing", value: null }, web],
	])("%s", (_rule, operation, becomes) => {
		expect(patched(web, operation)).toEqual(becomes);
	});

	test.each<[operation: object | string, message: string]>([
		["x", "400 a JSON patch must be a list of operations"],
		[
			{ op: "add", path: "/a/b", value: 1 },
			'422 add operation does not apply: doc is missing path: "/a/b": missing value',
		],
		[{ op: "add", path: "x", value: 1 }, '422 add operation does not apply: invalid path: "x"'],
		[{ op: "add", value: 1 }, "422 add operation does not apply: invalid path: null"],
		[
			{ op: "add", path: "/list/4", value: 1 },
			"422 add operation does not apply: Unable to access invalid index: 4 of /list/4: invalid index referenced",
		],
		[
			{ op: "add", path: "/list/01", value: 1 },
			"422 add operation does not apply: Unable to access invalid index: 01 of /list/01: invalid index referenced",
		],
		[
			{ op: "remove", path: "/a" },
			"422 error in remove for path: '/a': Unable to remove nonexistent key: a: missing value",
		],
		[{ op: "remove", path: "" }, "422 remove operation does not apply: the whole document cannot be removed"],
		[
			{ op: "replace", path: "/a", value: 1 },
			"422 replace operation does not apply: doc is missing key: /a: missing value",
		],
		[
			{ op: "replace", path: "/list/-", value: 1 },
			"422 replace operation does not apply: doc is missing key: /list/-: missing value",
		],
		[{ op: "replace", path: "", value: [] }, "422 a JSON patch must leave an object"],
		[
			{ op: "move", from: "/a", path: "/b" },
			'422 move operation does not apply: doc is missing path: "/a": missing value',
		],
		[
			{ op: "move", from: "/metadata", path: "/metadata/x" },
			"422 move operation does not apply: a value cannot be moved into itself",
		],
		[{ op: "test", path: "/list/0", value: 2 }, "422 testing value /list/0 failed: test failed"],
		[{ op: "test", path: "/toString", value: {} }, "422 testing value /toString failed: test failed"],
		[
			{ op: "remove", path: "/constructor" },
			"422 error in remove for path: '/constructor': Unable to remove nonexistent key: constructor: missing value",
		],
		[{ op: "frobnicate", path: "/a" }, "422 Unexpected kind: frobnicate"],
	])("refuses %j", (operation, message) => {
		expect(patched(web, operation)).toBe(message);
	});

	test("takes at most 10,000 operations", () => {
		const tests = (count: number): unknown[] => new Array(count).fill({ op: "test", path: "/list/0", value: 1 });
		expect(patched(web, ...tests(10_000))).toEqual(web);
		expect(patched(web, ...tests(10_001))).toBe(
			"413 Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
		);
	});

	test("stops copies that double again and again", () => {
		const doubling = new Array(64).fill(undefined).map((_, index) => ({ op: "copy", from: "", path: `/c${index}` }));
		expect(patched({ a: "x" }, ...doubling)).toMatch(/^422 Unable to complete the copy, the accumulated size/);
	});

	test("refuses what moves have nested too deeply", () => {
		let template = {};
		for (let level = 0; level < 200; level++) template = { x: template };
		const round = [
			{ op: "add", path: "/t", value: template },
			{ op: "move", from: "/a", path: `/t${"/x".repeat(200)}/a` },
			{ op: "move", from: "/t", path: "/a" },
		];
		const rounds = new Array(100).fill(round).flat();
		expect(patched({ a: {} }, ...rounds, { op: "copy", from: "/a", path: "/b" })).toBe("422 exceeded max depth");
		expect(patched({ a: {} }, ...rounds)).toBe("422 exceeded max depth");
	});

	test("treats __proto__ as a key like any other", () => {
		const operations = JSON.parse(
			'[{"op":"add","path":"/__proto__","value":{"x":1}},{"op":"copy","from":"","path":"/b"}]',
		);
		expect(JSON.stringify(patched({ a: 1 }, ...operations))).toBe(
			'{"a":1,"__proto__":{"x":1},"b":{"a":1,"__proto__":{"x":1}}}',
		);
		expect(
			patched({ a: 1 }, ...operations, { op: "remove", path: "/b" }, { op: "remove", path: "/__proto__" }),
		).toEqual({ a: 1 });
	});

	test("changes a copy without changing its source", () => {
		const copied = patched(
			{ a: { b: 1 } },
			{ op: "add", path: "/a/c", value: 2 },
			{ op: "copy", from: "/a", path: "/d" },
			{ op: "replace", path: "/d/b", value: 3 },
		);
		expect(copied).toEqual({ a: { b: 1, c: 2 }, d: { b: 3, c: 2 } });
	});

	test("never changes its input, whatever the operations", () => {
		const path = fc.constantFrom("", "/a", "/a/b", "/a/0", "/l", "/l/0", "/l/-", "/l/1/x", "/__proto__", "/c");
		const operation = fc.record({
			op: fc.constantFrom("add", "remove", "replace", "move", "copy", "test"),
			path,
			from: path,
			value: fc.jsonValue(),
		});
		fc.assert(
			fc.property(fc.array(operation), (operations) => {
				// Frozen input turns any change into a TypeError.
				const target = deepFreeze({ a: { b: [1] }, l: [{ x: 1 }, { x: 2 }] });
				expect(["ok", "bad"]).toContain(applyJsonPatch(target, deepFreeze(operations)).kind);
			}),
		);
	});
});

test("unknownOperationFields() names members that no operation has", () => {
	expect(unknownOperationFields([{ op: "add", path: "/a", value: 1 }, { foo: 1 }])).toEqual([
		'json patch unknown field "[1].foo"',
	]);
});
