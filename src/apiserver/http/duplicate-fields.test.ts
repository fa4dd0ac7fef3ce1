import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { duplicateFields } from "./duplicate-fields.ts";

describe("duplicateFields()", () => {
	test.each([
		['{"a":1,"a":2}', ["a"]],
		['{"a":{"b":1,"c":2,"b":3}}', ["a.b"]],
		['{"a":[{"b":1},{"b":1,"b":2}]}', ["a[1].b"]],
		['{"a":[[{"b":1,"b":2}]]}', ["a[0][0].b"]],
		['{"a":1,"a":2,"a":3}', ["a", "a"]],
		['{"\\u0061":1,"a":2}', ["a"]],
		['{"a\\"":1,"a\\"":2}', ['a"']],
		['{"__proto__":1,"__proto__":2}', ["__proto__"]],
		['{"a":"b","b":"a"}', []],
		['{"a":{"x":1},"b":{"x":1}}', []],
		['{"a":"\\\\","b":"{\\"a\\":1,\\"a\\":2}"}', []],
		['["a","a"]', []],
		['"a"', []],
		[' {\n"a" : [ ] , "b" : { } }', []],
	])("finds in %s what comes twice", (text, paths) => {
		expect(duplicateFields(text)).toEqual(paths.map((path) => `duplicate field "${path}"`));
	});

	test("tells no more than a hundred, as a real server", () => {
		const twice = Array.from({ length: 200 }, (_, index) => `"k${index}":1,"k${index}":2`);
		expect(duplicateFields(`{${twice.join()}}`)).toHaveLength(100);
	});

	test("finds nothing in what JSON.stringify makes", () => {
		fc.assert(
			fc.property(fc.json(), (text) => {
				expect(duplicateFields(text)).toEqual([]);
			}),
		);
	});
});
