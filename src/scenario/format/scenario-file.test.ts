import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseScenario } from "./scenario-file.ts";
import type { Step } from "./steps.ts";

const HEAD = "title: t\ngiven: {}\nsteps: []\n";
const EXPECT = "expect: {writes: {Pod: {any: 0}}}\n";

/** Each fault as `LINE:COLUMN what`. */
function faults(text: string): readonly string[] {
	const parsed = parseScenario(text);
	return parsed.kind === "problems"
		? parsed.problems.map(({ line, column, message }) => `${line}:${column} ${message}`)
		: [];
}

function withGiven(given: string): string {
	return `title: t\ngiven:\n  ${given}\nsteps: []\n${EXPECT}`;
}

function withStep(step: string): string {
	return `title: t\ngiven: {}\nsteps:\n  - ${step}\n${EXPECT}`;
}

function withExpect(expected: string): string {
	return `${HEAD}expect:\n  ${expected}\n`;
}

function steps(...written: readonly string[]): readonly Step[] {
	const parsed = parseScenario(`title: t\ngiven: {}\nsteps: [${written.join(", ")}]\n${EXPECT}`);
	if (parsed.kind === "problems") throw new Error(JSON.stringify(parsed.problems));
	return parsed.scenario.steps;
}

describe("a file with a fault", () => {
	test.each([
		["a missing key", `given: {}\nsteps: []\n${EXPECT}`, '1:1 title: key "title" is missing'],
		["an unknown key", `${HEAD}expected: {}\n${EXPECT}`, '4:1 expected: unknown key "expected"; known here: '],
		["an unknown key of an object", withGiven("pods: [{name: a, address: 10.1.0.1}]"), "3:20 given.pods[0].address: "],
		["a list for a map", withGiven("controller: []"), "3:15 given.controller: want a map, found a list"],
		["a list for labels", withGiven("pods: [{name: a, labels: [x]}]"), "3:28 given.pods[0].labels: want a map"],
		["a map for a list", withGiven("pods: {name: a}"), "3:9 given.pods: want a list, found "],
		["a number for a text", withGiven("pods: [{name: 1}]"), "3:17 given.pods[0].name: want a text, found 1"],
		[
			"a label that is no text",
			withGiven("pods: [{name: a, labels: {v: 1}}]"),
			"3:32 given.pods[0].labels.v: want a text",
		],
		["a word of no list", withGiven("pods: [{name: a, phase: Gone}]"), "want one of Pending, Running, Succeeded"],
		["a count of objects without end", withGiven("pods_repeat: [{count: 1000000, name: a}]"), "want 100000 or less"],
		["a step of two keys", withStep("{tick: 1s, settle: true}"), "4:5 steps[0]: want one key: a step does one thing"],
		["a step of no key", withStep("{}"), "4:5 steps[0]: want one key"],
		["an unknown step", withStep("{sleep: 1s}"), '4:6 steps[0].sleep: unknown key "sleep"; known here: settle, check'],
		["a duration without a unit", withStep("{tick: 5}"), "4:12 steps[0].tick: want a duration, such as 500ms"],
		["a duration of years", withStep("{tick: 999999m}"), "steps[0].tick: want a week or less"],
		["an object without a name", withStep("{delete: {kind: Pod}}"), "steps[0].delete: want a name, or service"],
		["two ways to delete", withStep("{delete_pods: {keep: 1, match: a}}"), "want one of match, keep, from_each_slice"],
		["a kind that cannot be made", withStep("{create: {kind: Pod, name: a}}"), "want kind Service, Endpoints"],
		["an owner without a kind", withGiven("pods: [{name: a, owner: web}]"), "want KIND/NAME, such as Deployment/web"],
		["an expectation of nothing", withExpect("{}"), "5:3 expect: compares nothing: want at least one more key"],
		[
			"an expectation that compares nothing",
			withExpect("slices: [{service: web}]"),
			"expect.slices[0]: compares nothing",
		],
		[
			"a text that is no endpoint",
			withExpect("slices: [{service: w, exact: [{endpoints: [a]}]}]"),
			"want ADDRESS FLAGS",
		],
		["a text that is no port", withExpect("slices: [{service: w, exact: [{ports: ['80']}]}]"), "want NAME:PORT/PROTO"],
		[
			"a count without bounds",
			withExpect("writes: {Pod: {any: {}}}"),
			"5:23 expect.writes.Pod.any: want min, max or both",
		],
		[
			"a kind that there is not",
			withExpect("writes: {Pods: {any: 0}}"),
			"5:12 expect.writes.Pods: want one of Service",
		],
		["a pointer that is none", withExpect("objects: [{kind: Pod, name: a, present: [a]}]"), "want a JSON Pointer"],
		["an expression that is none", withExpect("objects: [{kind: Pod, name: a, matches: {/a: '('}}]"), "want a regular"],
		["a duplicate key", `${HEAD}title: again\n${EXPECT}`, "4:1 Map keys must be unique"],
		["a tab", "title: t\ngiven:\n\t- x", "3:1 Tabs are not allowed as indentation"],
		["a tag that there is not", `${HEAD}notes: !mine x\n${EXPECT}`, "4:8 Unresolved tag: !mine"],
		["two documents", `${HEAD}${EXPECT}---\n${HEAD}`, "5:1 want one document, found another"],
	])("%s: is told with its line, its column and what was wanted", (_, text, told) => {
		expect(faults(text).join("\n")).toContain(told);
	});

	test("tells twenty faults, not more, and not fewer than there are", () => {
		expect(faults(withGiven(`pods: [${"{}, ".repeat(9)}]`))).toHaveLength(9);
		expect(faults(withGiven(`pods: [${"{}, ".repeat(30)}]`))).toHaveLength(20);
	});
});

describe("odd YAML", () => {
	const bomb = Array.from(
		{ length: 12 },
		(_, i) =>
			`&a${i} [${
				i === 0
					? "x"
					: Array(9)
							.fill(`*a${i - 1}`)
							.join(",")
			}]`,
	);
	const deep = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

	test.each([
		["an empty file", "", "1:1 want a map, found null"],
		["a list", "- a", "1:1 want a map, found a list"],
		["a text", "a", '1:1 want a map, found "a"'],
		["a megabyte and more", "#".repeat(1_048_577), "1:1 longer than 1048576 characters"],
		["aliases of aliases", `${HEAD}${EXPECT}remark: [${bomb.join(", ")}]`, "want at most 100 aliases"],
		["an alias of nothing", `${HEAD}${EXPECT}notes: *gone`, "5:8 alias *gone: there is no anchor"],
		["an alias of what it is in", `${HEAD}${EXPECT}remark: &me [*me]`, "5:14 alias *me: it is a part of itself"],
		["flow without end", `${HEAD}${EXPECT}remark: ${deep(20_000)}`, "nested too deeply"],
		["a raw object without end", withGiven(`raw: [{a: ${deep(5_000)}}]`), "nested too deeply"],
		["a key that is a list", `${HEAD}${EXPECT}? [a, b]\n: c`, 'unknown key "[ a, b ]"'],
		["a key that is a number", `${HEAD}${EXPECT}1: 2`, '5:1 1: unknown key "1"'],
		["a key of every object", `${HEAD}${EXPECT}constructor: 1`, '5:1 constructor: unknown key "constructor"'],
		["a prototype", withGiven("__proto__: {pods: []}"), '3:3 given.__proto__: unknown key "__proto__"'],
	])("%s is a fault, and no crash", (_, text, told) => {
		expect(faults(text)[0]).toContain(told);
	});

	test("keeps every key of a map of names, also those that objects have", () => {
		const parsed = parseScenario(withGiven("pods: [{name: a, labels: {__proto__: p, constructor: c, toString: t}}]"));
		const labels = parsed.kind === "scenario" ? parsed.scenario.given.pods?.[0]?.labels : undefined;
		expect(Object.entries(labels ?? {})).toEqual([
			["__proto__", "p"],
			["constructor", "c"],
			["toString", "t"],
		]);
	});

	test("takes few aliases, a byte order mark and other ends of lines", () => {
		const text = `\uFEFF${HEAD}${EXPECT}notes: &n x\nfault: *n\n`.replaceAll("\n", "\r\n");
		expect(faults(text)).toEqual([]);
	});

	test("never throws, whatever is done to a file", () => {
		const file = readFileSync("examples/scenarios/rolling-update.yaml", "utf8");
		const cut = fc.tuple(fc.nat(file.length), fc.nat(20), fc.string({ unit: "grapheme", maxLength: 12 }));
		fc.assert(
			fc.property(fc.array(cut, { minLength: 1, maxLength: 4 }), (cuts) => {
				const text = cuts.reduce(
					(all, [from, length, put]) => all.slice(0, from) + put + all.slice(from + length),
					file,
				);
				expect(["scenario", "problems"]).toContain(parseScenario(text).kind);
			}),
		);
	});
});

describe("what is read", () => {
	test("durations in milliseconds, and steps by their key", () => {
		expect(steps("{tick: 500ms}", "{tick: 3s}", "{wait: {max: 2m}}", "{settle: {allow_retry: true}}")).toEqual([
			{ key: "tick", value: 500 },
			{ key: "tick", value: 3_000 },
			{ key: "wait", value: { max: 120_000 } },
			{ key: "settle", value: { allow_retry: true } },
		]);
	});

	test("bodies as they stand", () => {
		const body = { spec: { selector: null, ports: [{ port: 1 }] } };
		expect(
			steps(`{patch: {kind: Service, name: a, type: merge, body: ${JSON.stringify(body)}}}`)[0]?.value,
		).toMatchObject({
			body,
		});
	});
});
