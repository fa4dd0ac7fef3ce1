import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseManifests, parseYaml, stringifyYaml } from "./yaml.ts";

async function parsed(text: string): Promise<unknown> {
	const result = await parseYaml(text);
	return result.kind === "ok" ? result.value : result.message;
}

describe("parseYaml()", () => {
	test.each<[rule: string, text: string, value: unknown]>([
		["words of YAML 1.1 are booleans", "a: yes\nb: off", { a: true, b: false }],
		["numbers with a leading zero are octal", "mode: 0644", { mode: 420 }],
		["base 60 is not read", "a: 22:22\nb: 12:30:45", { a: "22:22", b: "12:30:45" }],
		["times stay text", "a: 2024-01-01\nb: 2024-01-01T00:00:00Z", { a: "2024-01-01", b: "2024-01-01T00:00:00Z" }],
		["keys are text", "1: a\ntrue: b", { "1": "a", true: "b" }],
		["maps merge", "a: &x {b: 1}\nc: {<<: *x, d: 2}", { a: { b: 1 }, c: { b: 1, d: 2 } }],
		["JSON is YAML", '{"a": [1, "x"]}', { a: [1, "x"] }],
		["so is what only looks like JSON", "{a: [1, x]}", { a: [1, "x"] }],
		["nothing is null", "# only a comment\n", null],
	])("%s", async (_rule, text, value) => {
		expect(await parsed(text)).toEqual(value);
	});

	test("keys that come twice are told, if they may, and the last one counts", async () => {
		const repeated: string[] = [];
		const text = "a: &x {b: 1, c: 2}\nlist:\n- {<<: *x, b: 3, b: 4}\na: 5\n";
		expect(await parseYaml(text, repeated)).toEqual({ kind: "ok", value: { a: 5, list: [{ b: 4, c: 2 }] } });
		expect(repeated).toEqual(["list[0].b", "a"]);
	});

	test.each<[rule: string, text: string, message: string]>([
		["a key twice", "a: 1\nb: 2\na: 3", "yaml: line 3, column 1: Map keys must be unique"],
		["a bad escape", 'a: "x\\q"', "yaml: line 1, column 6: Invalid escape sequence \\q"],
		["a second document", "a: 1\n---\nb: 2", "yaml: line 2, column 1: expected a single document"],
		["numbers that JSON has not", "a: .inf", "yaml: line 1, column 1: infinite numbers and .nan are not allowed"],
		["an alias of itself", "a: &x [*x]", "yaml: line 1, column 1: exceeded max depth"],
		["flow nesting without end", "[".repeat(20_000), "yaml: line 1, column 1: exceeded max depth"],
		["block nesting without end", "- ".repeat(20_000), "yaml: line 1, column 1: exceeded max depth"],
		[
			"aliases that multiply",
			[
				"a: &a [x,x,x,x,x,x,x,x,x]",
				..."bcde".split("").map((name, index) => {
					const inner = `*${"abcd"[index]}`;
					return `${name}: &${name} [${new Array(9).fill(inner).join()}]`;
				}),
			].join("\n"),
			"yaml: line 1, column 1: Excessive alias count indicates a resource exhaustion attack",
		],
	])("refuses %s", async (_rule, text, message) => {
		expect(await parsed(text)).toBe(message);
	});

	test("keeps __proto__ as a key like any other", async () => {
		expect(JSON.stringify(await parsed("__proto__: {x: 1}\nconstructor: 2"))).toBe(
			'{"__proto__":{"x":1},"constructor":2}',
		);
	});
});

describe("parseManifests()", () => {
	test("gives each document with its line, and leaves empty ones out", async () => {
		const text = "# web\nkind: Service\n---\n# nothing here\n---\n\nkind: List\nitems: []\n";
		expect(await parseManifests(text)).toEqual({
			kind: "ok",
			documents: [
				{ line: 2, value: { kind: "Service" } },
				{ line: 7, value: { kind: "List", items: [] } },
			],
		});
	});

	test("says where a document is no object", async () => {
		expect(await parseManifests("kind: A\n---\n- 1\n")).toMatchObject({ kind: "malformed", line: 3, column: 1 });
	});
});

describe("stringifyYaml()", () => {
	test("prints lists flush and quotes what would be read as something else", async () => {
		expect(await stringifyYaml({ a: "yes", b: "0123", c: "22:22", list: [{ x: 1, z: [2] }] })).toBe(
			'a: "yes"\nb: "0123"\nc: "22:22"\nlist:\n- x: 1\n  z:\n  - 2\n',
		);
	});

	test("is read back as it was", async () => {
		await fc.assert(
			fc.asyncProperty(fc.jsonValue({ noUnicodeString: false }), async (value) => {
				const wrapped = { value: JSON.parse(JSON.stringify(value)) };
				expect(await parsed(await stringifyYaml(wrapped))).toEqual(wrapped);
			}),
		);
	});
});
