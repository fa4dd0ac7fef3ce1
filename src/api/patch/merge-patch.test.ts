import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deepFreeze } from "../../kernel/json.ts";
import { applyMergePatch } from "./merge-patch.ts";

function patched(target: Record<string, unknown>, patch: unknown): unknown {
	const result = applyMergePatch(deepFreeze(target), deepFreeze(patch));
	return result.kind === "ok" ? result.value : `${result.code} ${result.message}`;
}

function deep(levels: number): unknown {
	return levels === 0 ? 1 : { a: deep(levels - 1) };
}

describe("applyMergePatch()", () => {
	// The rows of RFC 7396, appendix A, whose target is an object.
	test.each<[Record<string, unknown>, unknown, unknown]>([
		[{ a: "b" }, { a: "c" }, { a: "c" }],
		[{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
		[{ a: "b" }, { a: null }, {}],
		[{ a: "b", b: "c" }, { a: null }, { b: "c" }],
		[{ a: ["b"] }, { a: "c" }, { a: "c" }],
		[{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
		[{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
		[{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
		[{ e: null }, { a: 1 }, { e: null, a: 1 }],
		[{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
		[{ a: "foo" }, null, "400 a merge patch must be a JSON object"],
		[{ a: "foo" }, ["c"], "400 a merge patch must be a JSON object"],
		[{}, deep(300), "400 exceeded max depth"],
	])("%j with %j", (target, patch, becomes) => {
		expect(patched(target, patch)).toEqual(becomes);
	});

	test("treats __proto__ as a key like any other", () => {
		expect(JSON.stringify(patched({}, JSON.parse('{"__proto__":{"x":1}}')))).toBe('{"__proto__":{"x":1}}');
		expect(patched(JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":null}'))).toEqual({});
	});

	const anyObject = fc.dictionary(fc.string(), fc.jsonValue());

	test("is idempotent and leaves its input alone", () => {
		fc.assert(
			fc.property(anyObject, anyObject, (target, patch) => {
				const once = patched(target, patch) as Record<string, unknown>;
				expect(patched(once, patch)).toEqual(once);
			}),
		);
	});

	test("an empty patch is the identity", () => {
		fc.assert(
			fc.property(anyObject, (target) => {
				expect(patched(target, {})).toEqual(target);
			}),
		);
	});
});
