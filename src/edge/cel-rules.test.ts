import { describe, expect, test } from "vitest";
import type { RuleProps, SchemaProps } from "../api/structural/schema-props.ts";
import { CelRules } from "./cel-rules.ts";

const SCHEMA: SchemaProps = {
	type: "object",
	properties: {
		n: { type: "integer" },
		m: { type: "integer" },
		f: { type: "number" },
		s: { type: "string" },
		at: { type: "string", format: "date-time" },
		namespace: { type: "string" },
		"a-b": { type: "string" },
		list: {
			type: "array",
			items: { type: "object", properties: { name: { type: "string" }, v: { type: "integer" } } },
		},
		map: { type: "object", additionalProperties: { type: "integer" } },
		flag: { type: "boolean" },
		wait: { type: "string", format: "duration" },
		raw: { type: "string", format: "byte" },
		set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
		byName: {
			type: "array",
			"x-kubernetes-list-type": "map",
			"x-kubernetes-list-map-keys": ["name"],
			items: {
				type: "object",
				properties: {
					name: { type: "string" },
					set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
				},
			},
		},
		atomic: { type: "array", items: { type: "string" } },
		port: { "x-kubernetes-int-or-string": true },
	},
};

const rules = new CelRules();

function ask(rule: string | RuleProps, self: unknown, oldSelf?: unknown): unknown {
	const compiled = rules.compile(typeof rule === "string" ? { rule } : rule, SCHEMA);
	if (compiled.kind === "wrong") return compiled;
	const result = compiled.rule.check(self, oldSelf);
	return result.kind === "holds" ? true : result.kind === "broken" ? (result.message ?? false) : result.why;
}

describe("a rule", () => {
	test.each([
		["self.n <= self.m", { n: 1, m: 2 }, true],
		["self.n / 2 == 1 && self.n % 2 == 1", { n: 3 }, true],
		["self.f > 1.5 && self.f < 2.5", { f: 2 }, true],
		["!has(self.s) || self.s.size() > 2", {}, true],
		["has(self.s) ? self.s.startsWith('a') : false", { s: "abc" }, true],
		["self.s.matches('^a+$') && matches(self.s, 'a')", { s: "aaa" }, true],
		["self.s != 'x.matches(y)'", { s: "a" }, true],
		["self.list.all(x, x.v > 0) && self.list.exists(x, x.name == 'b')", { list: [{ name: "b", v: 1 }] }, true],
		["self.list.map(x, x.v).sum() == 3", { list: [{ v: 1 }, { v: 2 }] }, true],
		["self.list.filter(x, x.v > 1).size() == 1", { list: [{ v: 1 }, { v: 2 }] }, true],
		["self.list.map(x, x.v).isSorted()", { list: [{ v: 2 }, { v: 1 }] }, false],
		["'a' in self.map && self.map['a'] == 1", { map: { a: 1 } }, true],
		["self.s in ['a', 'b']", { s: "c" }, false],
		["self.__namespace__ == 'x' && self.a__dash__b == 'y'", { namespace: "x", "a-b": "y" }, true],
		["self.at < timestamp('2030-01-01T00:00:00Z')", { at: "2020-01-01T00:00:00Z" }, true],
		["type(self.port) == int ? self.port > 0 : self.port.endsWith('%')", { port: "5%" }, true],
		["self.missing.deeper == 1", {}, "no such key: missing"],
		["self.list[1].v == 1", { list: [{ v: 1 }] }, "index out of bounds: 1"],
		["self.wait > duration('1h') && self.wait.getMinutes() == 90", { wait: "1h30m" }, true],
		["self.wait == duration('1.5s')", { wait: "1500ms" }, true],
		["self.wait == duration('-10s')", { wait: "-10s" }, true],
		["self.wait == duration('72h')", { wait: "3 days" }, true],
		["size(self.raw) == 3 && self.raw == b'abc'", { raw: "YWJj" }, true],
		["isIP(self.s)", { s: "10.0.0.1" }, true],
	])("%s on %j gives %s", (rule, self, result) => {
		expect(ask(rule, self)).toEqual(result);
	});

	test("about a change sees what was, and is not asked without it", () => {
		expect(ask("self.s == oldSelf.s", { s: "a" }, { s: "b" })).toBe(false);
		expect(rules.compile({ rule: "self.s == oldSelf.s" }, SCHEMA)).toMatchObject({ rule: { usesOldSelf: true } });
		expect(rules.compile({ rule: "self.s == 'oldSelf'" }, SCHEMA)).toMatchObject({ rule: { usesOldSelf: false } });
	});

	test.each([
		["self.set == oldSelf.set", { set: ["a", "b"] }, { set: ["b", "a"] }, true],
		["self == oldSelf", { set: ["a", "b"] }, { set: ["b", "a"] }, true],
		["self.set == oldSelf.set", { set: ["a", "b"] }, { set: ["b", "c"] }, false],
		["self.set[0] == 'b' && oldSelf.set[0] == 'a'", { set: ["b", "c"] }, { set: ["a", "b"] }, true],
		[
			"self.byName == oldSelf.byName",
			{ byName: [{ name: "a", set: ["x", "y"] }, { name: "b" }] },
			{ byName: [{ name: "b" }, { name: "a", set: ["y", "x"] }] },
			true,
		],
		["self.byName == oldSelf.byName", { byName: [{ name: "a" }] }, { byName: [{ name: "a", set: ["x"] }] }, false],
		["self.atomic == oldSelf.atomic", { atomic: ["a", "b"] }, { atomic: ["b", "a"] }, false],
	])("%s on %j after %j is %s: only the order of sets and maps does not count", (rule, self, oldSelf, result) => {
		expect(ask(rule, self, oldSelf)).toBe(result);
	});

	test.each([
		["self.f == 2 && self.n == 2.0", { f: 2, n: 2 }],
		["self.port == 'a' || self.port == 1", { port: 1 }],
		["self.flag", { flag: true }],
		["self.unknown == 1 || true", {}],
	])("%s may hold, and is no mistake", (rule, self) => {
		expect(ask(rule, self)).toBe(true);
	});

	test("may compute its message", () => {
		const rule = { rule: "self.n < 3", messageExpression: "'n is ' + string(self.n)" };
		expect(ask(rule, { n: 5 })).toBe("n is 5");
	});

	test.each([
		[{ rule: "self.n ==" }, "rule", /Unexpected token/],
		[{ rule: "self.foo(1)" }, "rule", /no matching overload for 'dyn.foo\(int\)'/],
		[{ rule: "other.x" }, "rule", /Unknown variable: other/],
		[{ rule: "'text'" }, "rule", /must evaluate to a bool/],
		[{ rule: "true", messageExpression: "1" }, "messageExpression", /must evaluate to a string/],
		[{ rule: "self == oldSelf", optionalOldSelf: true }, "optionalOldSelf", /not supported/],
		[{ rule: "cel.bind(a, self, a == a)" }, "rule", /cel.bind is not supported/],
		[{ rule: "self.s" }, "rule", /must evaluate to a bool/],
		[{ rule: "self.s == 1" }, "rule", /no matching overload for '_==_' applied to '\(string, int\)'/],
		[{ rule: "has(self.n) && 'x' != self.n" }, "rule", /'_!=_' applied to '\(string, int\)'/],
		[{ rule: "self.n == self.s" }, "rule", /'\(int, string\)'/],
		[{ rule: "self.wait == '1h'" }, "rule", /'\(duration, string\)'/],
		[{ rule: "self.s.matches('a(')" }, "rule", /invalid matches argument/],
		[{ rule: "matches(self.s, '[')" }, "rule", /invalid matches argument/],
		[{ rule: `${"(".repeat(5000)}true` }, "rule", /./],
		[{ rule: "x".repeat(20_000) }, "rule", /longer than/],
	])("%j is refused when it is written", (rule, field, why) => {
		expect(ask(rule, {})).toEqual({ kind: "wrong", field, why: expect.stringMatching(why) });
	});

	test("that would take too long fails instead", () => {
		const list = Array.from({ length: 2_000 }, (_, v) => ({ v }));
		const startedMs = performance.now();
		expect(ask("self.list.all(x, self.list.all(y, self.list.all(z, x.v + y.v + z.v >= 0)))", { list })).toMatch(
			/too large/,
		);
		expect(ask("self.s.matches('(a+)+$')", { s: `${"a".repeat(100_000)}b` })).not.toBe(true);
		expect(performance.now() - startedMs).toBeLessThan(3_000);
	});

	test("does not see what objects inherit", () => {
		expect(ask("has(self.constructor) || has(self.toString)", {})).toBe(false);
		expect(ask("self.map.all(k, k != 'x')", { map: JSON.parse('{"__proto__": 1, "constructor": 2}') })).toBe(true);
	});
});
