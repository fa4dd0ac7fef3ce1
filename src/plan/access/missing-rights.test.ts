import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PolicyRule } from "../../api/types/rbac.ts";
import { missingRights } from "./missing-rights.ts";
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
		expect(missingRights(held, wanted)).toEqual(missing);
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
				return missingRights(held, wanted).length > 0 || !may(wanted) || may(held);
			}),
		);
	});

	test("everybody holds what they hold", () => {
		fc.assert(fc.property(fc.array(anyRule), (rules) => missingRights(rules, rules).length === 0));
	});
});
