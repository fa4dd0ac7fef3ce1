import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonFault } from "./json-fault.ts";
import { type JsonItem, JsonItems } from "./json-items.ts";

/** In chunks of `size` bytes, so that everything comes to lie on the border of two. */
function itemsOf(text: string, size = 1 << 16): readonly JsonItem[] {
	const found: JsonItem[] = [];
	const items = new JsonItems("a.json", (item) => found.push(item));
	const bytes = Buffer.from(text);
	for (let at = 0; at < bytes.length; at += size) items.push(bytes.subarray(at, at + size));
	items.end();
	return found;
}

const values = (text: string, size?: number): readonly unknown[] => itemsOf(text, size).map(({ value }) => value);

describe("JsonItems", () => {
	test("gives the items of a list one by one, with their lines, and then what is left of it", () => {
		const text = '{"kind": "PodList",\n"items": [\n{"a": "x\\"]"},\n  {"b": [1, {}]}\n], "metadata": {}}\n';
		const list = { kind: "PodList", items: [] };
		expect(itemsOf(text)).toEqual([
			{ value: { a: 'x"]' }, line: 3, list },
			{ value: { b: [1, {}] }, line: 4, list },
			{ value: { ...list, metadata: {} }, line: 1, list: {} },
		]);
	});

	test.each([
		["an object that is no list is one item", '{"kind": "Pod", "spec": {"items": [1]}}', 1],
		["objects may follow each other", '{"a": 1}\n{"b": 2}', 2],
		["an empty list is what is left of it", '{"items": [ ]}', 1],
		["a value `items` is no list", '{"kind": "items", "x": [1]}', 1],
	])("%s", (_rule, text, count) => {
		expect(itemsOf(text)).toHaveLength(count);
	});

	test("keys of the prototype are data", () => {
		const [value] = values('{"items": [{"__proto__": {"a": 1}}]}');
		expect([Object.hasOwn(value as object, "__proto__"), ({} as { a?: 1 }).a]).toEqual([true, undefined]);
	});

	test("any list, cut anywhere, gives what JSON.parse gives", () => {
		const object = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }));
		fc.assert(
			fc.property(fc.array(object), fc.integer({ min: 1, max: 9 }), fc.boolean(), (items, size, isPretty) => {
				const text = JSON.stringify({ kind: "List", items, more: "items" }, undefined, isPretty ? 2 : 0);
				expect(values(text, size).slice(0, -1)).toEqual(JSON.parse(text).items);
			}),
			{ numRuns: 300 },
		);
	});

	test.each<[text: string, says: string]>([
		["", "line 1, byte 0: want an object, and the file is empty"],
		["[]", "line 1, byte 0: want an object"],
		['{"items": [{"a": 1}\n{"b": 2}]}', "line 2, byte 20: want a comma or ] after an item"],
		['{"items": [{"a": 1},]}', "line 1, byte 20: want an item, which is an object"],
		['{"items": [1]}', "line 1, byte 11: want an item, which is an object"],
		['{"items": [{},\n{"ä": 1,\n "b" 2}]}', "line 3, byte 30: want a colon after the property name"],
		['{"items": [{"a": [1}]}', "line 1, byte 19: want a comma or ]"],
		['{"items": [{"a": 01}]}', "line 1, byte 18: want a comma or }"],
		['{"items": [{}], "x": y}', "line 1, byte 21: want a value"],
		['{"items": [{}, {"a": "b', 'want the end of a string ("), and the file ends within item 2 (it began at line 1)'],
		['{"items": [{}, ', "the file ends within item 2: is it cut off?"],
		['{"a": 1} x', "line 1, byte 9: want an object"],
		[`{"items": [${'{"a": ['.repeat(200)}`, "want at most 256 objects and lists in each other"],
		[`{"items": [{"a": "${"x".repeat(17 << 20)}`, "want an item of at most 16 MiB"],
	])("refuses faulty text %#", (text, says) => {
		expect(() => itemsOf(text)).toThrow(says);
		expect(() => itemsOf(text)).toThrow(/^a\.json: /);
	});
});

describe("jsonFault()", () => {
	test("finds none in what JSON.parse takes, and one in what it refuses", () => {
		const broken = fc
			.tuple(fc.json(), fc.nat(), fc.constantFrom("", "}", ",", '"', "x", "\u0001"))
			.map(([text, at, put]) => text.slice(0, at % (text.length + 1)) + put + text.slice((at % (text.length + 1)) + 1));
		fc.assert(
			fc.property(fc.oneof(fc.json(), broken), (text) => {
				let isRight = true;
				try {
					JSON.parse(text);
				} catch {
					isRight = false;
				}
				expect(jsonFault(text) === undefined).toBe(isRight);
			}),
			{ numRuns: 1000 },
		);
	});
});
