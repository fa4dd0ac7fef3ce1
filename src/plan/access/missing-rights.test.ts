import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PolicyRule } from "../../api/types/rbac.ts";
import { holdsAll, missingRights } from "./missing-rights.ts";
import type { Question } from "./question.ts";
import { ruleAllows } from "./rule-allows.ts";

const rule = (verbs: string, apiGroup: string, resources: string, names?: string): PolicyRule => ({
	verbs: verbs.split(" "),
	apiGroups: [apiGroup],
	resources: resources.split(" "),
	...(names === undefined ? {} : { resourceNames: names.split(" ") }),
});
const urls = (...nonResourceURLs: string[]): PolicyRule => ({ verbs: ["get"], nonResourceURLs });

describe("missingRights()", () => {
	test.each<{ what: string; held: PolicyRule[]; wanted: PolicyRule[]; missing: string[] }>([
		{ what: "nothing is wanted", held: [], wanted: [], missing: [] },
		{
			what: "verbs of one resource are told together",
			held: [rule("get", "", "pods")],
			wanted: [rule("get list watch", "", "pods")],
			missing: ['{APIGroups:[""], Resources:["pods"], Verbs:["list" "watch"]}'],
		},
		{
			what: "several rules together hold it",
			held: [rule("get", "", "pods"), rule("list", "", "*")],
			wanted: [rule("get list", "", "pods")],
			missing: [],
		},
		{
			what: "names are held by who holds all",
			held: [rule("get", "", "pods")],
			wanted: [rule("get", "", "pods", "a b")],
			missing: [],
		},
		{
			what: "all names are not held by who holds some",
			held: [rule("get", "", "pods", "a")],
			wanted: [rule("get", "", "pods"), rule("get", "", "pods", "a b")],
			missing: [
				'{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}',
				'{APIGroups:[""], Resources:["pods"], Verbs:["get"]}',
			],
		},
		{
			what: "everything is held by a star alone",
			held: [rule("get list", "", "pods")],
			wanted: [rule("*", "*", "*")],
			missing: ['{APIGroups:["*"], Resources:["*"], Verbs:["*"]}'],
		},
		{
			what: "a subresource of everything",
			held: [rule("get", "apps", "*/scale")],
			wanted: [rule("get", "apps", "deployments/scale")],
			missing: [],
		},
		{ what: "paths below", held: [urls("/apis/*")], wanted: [urls("/apis/apps", "/apis/*")], missing: [] },
		{
			what: "a path",
			held: [urls("/apis")],
			wanted: [urls("/metrics")],
			missing: ['{NonResourceURLs:["/metrics"], Verbs:["get"]}'],
		},
	])("$what", ({ held, wanted, missing }) => {
		expect(missingRights(held, wanted)).toEqual({ texts: missing, more: 0, isCut: false });
	});

	const word = (...words: string[]): fc.Arbitrary<string[]> =>
		fc.uniqueArray(fc.constantFrom(...words), { minLength: 1 });
	const anyRule: fc.Arbitrary<PolicyRule> = fc.record(
		{
			verbs: word("get", "list", "*"),
			apiGroups: word("", "apps", "*"),
			resources: word("pods", "pods/log", "*/log", "*"),
			resourceNames: word("a", "b"),
		},
		{ requiredKeys: ["verbs", "apiGroups", "resources"] },
	);
	const anyQuestion: fc.Arbitrary<Question> = fc.record({
		kind: fc.constant("resource" as const),
		verb: fc.constantFrom("get", "list", "delete"),
		group: fc.constantFrom("", "apps", "batch"),
		plural: fc.constantFrom("pods", "services"),
		subresource: fc.constantFrom("", "log", "status"),
		namespace: fc.constant("default"),
		name: fc.constantFrom("", "a", "b", "c"),
	});

	test("what is held covers every question that what is wanted answers with yes", () => {
		fc.assert(
			fc.property(fc.array(anyRule), fc.array(anyRule), anyQuestion, (held, wanted, question) => {
				const may = (rules: PolicyRule[]): boolean => rules.some((known) => ruleAllows(known, question));
				return !holdsAll(held, wanted) || !may(wanted) || may(held);
			}),
		);
	});

	test("everybody holds what they hold", () => {
		fc.assert(fc.property(fc.array(anyRule), (rules) => holdsAll(rules, rules)));
	});

	const words = (count: number, prefix: string): string[] => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
	const long = (count: number): PolicyRule => ({
		verbs: words(count, "v"),
		apiGroups: words(count, "g"),
		resources: words(count, "r"),
	});

	test("of many tells the first, and how many more there are", () => {
		const { texts, more, isCut } = missingRights([], [long(10)]);
		expect({ shown: texts.length, more, isCut }).toEqual({ shown: 20, more: 80, isCut: false });
		expect(texts[0]).toMatch(/^{APIGroups:\["g0"\], Resources:\["r0"\], Verbs:\["v0" "v1" .*}$/);
	});

	test("a rule that multiplies to billions of rights is looked at for a while, and not given", () => {
		const { texts, isCut } = missingRights([rule("get", "", "pods")], [long(1_000)], 10_000);
		expect(texts.length).toBeLessThanOrEqual(20);
		expect(texts.join("\n").length).toBeLessThan(30_000);
		expect(isCut).toBe(true);
	});

	test("what was not looked at is not held, though all that was looked at is", () => {
		const halves = [long(40), { ...long(40), verbs: words(80, "v").slice(40) }];
		const both = { ...long(40), verbs: words(80, "v") };
		expect(missingRights(halves, [both])).toEqual({ texts: [], more: 0, isCut: false });
		expect(missingRights(halves, [both], 1_000)).toEqual({ texts: [], more: 0, isCut: true });
	});

	test("many rules, each held by one, need no look at each of their rights", () => {
		expect(missingRights([long(1_000)], [long(1_000)], 5_000)).toEqual({ texts: [], more: 0, isCut: false });
	});
});
