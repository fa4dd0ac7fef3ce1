import { describe, expect, test } from "vitest";
import {
	below,
	difference,
	EMPTY_SET,
	type FieldSet,
	fieldSet,
	intersection,
	LEAF,
	LooseFields,
	pathSet,
	pathsOf,
	readFieldSet,
	union,
	unionOf,
	withoutSubtrees,
} from "./field-set.ts";

const a = ["f:a"];
const ab = ["f:a", "f:b"];
const ac = ["f:a", "f:c"];

describe("a field set", () => {
	test("is what fieldsV1 shows, with a dot where an inner path is owned too", () => {
		expect(JSON.stringify(pathSet(ab, a, ["f:d"]))).toBe('{"f:a":{".":{},"f:b":{}},"f:d":{}}');
	});

	test("lists fields, then keys, then values, and numbers in keys by size", () => {
		const elements = ['v:"x"', 'k:{"port":443}', "i:0", 'k:{"port":80}', "f:z", "f:b"];
		const sets = elements.map(() => LEAF);
		expect(Object.keys(fieldSet(true, elements, sets))).toEqual([
			".",
			"f:b",
			"f:z",
			'k:{"port":80}',
			'k:{"port":443}',
			'v:"x"',
			"i:0",
		]);
	});

	test("of many is what one after the other makes", () => {
		const sets = [pathSet(ab, a), pathSet(ac), pathSet(["f:d"], ab), EMPTY_SET, pathSet(ac)];
		expect(unionOf(sets)).toBe(sets.reduce<FieldSet>(union, EMPTY_SET));
		expect([unionOf([]), unionOf([LEAF]), unionOf([EMPTY_SET, LEAF, LEAF])]).toEqual([EMPTY_SET, LEAF, LEAF]);
	});

	test("is the same object for the same paths, whatever their order", () => {
		for (let time = 0; time < 3; time++) pathSet(ab, ac);
		expect(pathSet(ab, ac)).toBe(pathSet(ac, ab));
	});

	test.each([
		["union", union(pathSet(a), pathSet(ab, ac)), [a, ab, ac]],
		["union of what is there already", union(pathSet(a, ab), pathSet(ab)), [a, ab]],
		["difference takes paths, not what is below them", difference(pathSet(a, ab, ac), pathSet(a, ac)), [ab]],
		["intersection", intersection(pathSet(a, ab), pathSet(ab, ac)), [ab]],
		["without subtrees", withoutSubtrees(pathSet(a, ab, ["f:d"]), pathSet(a)), [["f:d"]]],
		["union with loose fields", union(pathSet(ac), new LooseFields(a, [new LooseFields(["f:b"], [LEAF])])), [ab, ac]],
	])("%s", (_, set, paths) => {
		expect(pathsOf(set)).toEqual(paths);
	});

	test("of which nothing is left is the empty one", () => {
		expect(difference(pathSet(ab), pathSet(ab, ac))).toBe(EMPTY_SET);
	});

	test("finds one of a thousand elements, also one named like a prototype's member", () => {
		const names = Array.from({ length: 1_000 }, (_, index) => `f:key-${index}`);
		const set = pathSet(...[...names, "f:__proto__"].map((name) => [name]));
		expect([below(set, "f:key-777"), below(set, "f:__proto__"), below(set, "f:toString")]).toEqual([
			LEAF,
			LEAF,
			EMPTY_SET,
		]);
	});
});

describe("what a client sends as fieldsV1", () => {
	test("reads back as the set that it was", () => {
		const set = pathSet(a, ab, ["f:p", 'k:{"port":80,"protocol":"TCP"}', "f:port"], ["f:s", 'v:"x"'], ["f:i", "i:3"]);
		expect(JSON.stringify(readFieldSet(JSON.parse(JSON.stringify(set))))).toBe(JSON.stringify(set));
	});

	test.each([
		[
			"keys in another order",
			{ "f:p": { 'k:{"protocol":"TCP", "port":80}': {} } },
			{ "f:p": { 'k:{"port":80,"protocol":"TCP"}': {} } },
		],
		["nothing", {}, {}],
		["a dot at the top", { ".": {}, "f:a": {} }, { ".": {}, "f:a": {} }],
	])("may have %s", (_, given, read) => {
		expect(JSON.parse(JSON.stringify(readFieldSet(given)))).toEqual(read);
	});

	test.each([
		null,
		[],
		{ a: {} },
		{ "f:a": 1 },
		{ "k:x": {} },
		{ "x:a": {} },
		{ "i:-1": {} },
		{ "f:a": { "f:b": null } },
	])("is none when it is %j", (given) => {
		expect(readFieldSet(given)).toBeUndefined();
	});
});
