import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { errorTexts, metadataOf } from "../testing/api-objects.ts";
import { matchesFields, parseFieldSelector } from "./field-selector.ts";
import { formatRequirements, matchesLabels, requirementsOf, validateLabelSelector } from "./label-selector.ts";
import { parseLabelSelector } from "./label-selector-grammar.ts";
import { ApiError } from "./status.ts";
import type { StringMap } from "./types/meta.ts";

function refusal(parse: () => unknown): string {
	try {
		parse();
	} catch (error) {
		return error instanceof ApiError ? `${error.code} ${error.message}` : String(error);
	}
	return "accepted";
}

describe("label selectors", () => {
	const web: StringMap = { app: "web", tier: "a", size: "10", in: "x" };
	test.each([
		{ selector: "", isMatch: true },
		{ selector: "app", isMatch: true },
		{ selector: "!app", isMatch: false },
		{ selector: "!other", isMatch: true },
		{ selector: "app=web", isMatch: true },
		{ selector: " app == web , tier ", isMatch: true },
		{ selector: "app!=web", isMatch: false },
		{ selector: "other!=web", isMatch: true },
		{ selector: "other notin (a)", isMatch: true },
		{ selector: "other in (a)", isMatch: false },
		{ selector: "tier in (b, a)", isMatch: true },
		{ selector: "tier notin (b,c),app=web", isMatch: true },
		{ selector: "app=", isMatch: false },
		{ selector: "tier in (a,)", isMatch: true },
		{ selector: "size>9,size<11", isMatch: true },
		{ selector: "size>10", isMatch: false },
		{ selector: "app>1", isMatch: false },
		{ selector: "in in (x,in)", isMatch: true },
		{ selector: "constructor", isMatch: false },
	])("$selector: $isMatch", ({ selector, isMatch }) => {
		expect(matchesLabels(parseLabelSelector(selector), web)).toBe(isMatch);
	});

	test.each([
		{ selector: "a b", why: "400 unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt" },
		{ selector: "a=b c", why: "400 found 'c', expected: ',' or 'end of string'" },
		{ selector: "a,", why: "400 found '', expected: identifier after ','" },
		{ selector: ",a", why: "400 found ',', expected: !, identifier, or 'end of string'" },
		{ selector: "a in b", why: "400 unable to parse requirement: found 'b' expected: '('" },
		{ selector: "a in (b", why: "400 unable to parse requirement: found '', expected: ',' or ')'" },
		{
			selector: "a in ()",
			why: "400 unable to parse requirement: values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
		},
		{
			selector: "a>b",
			why: "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an integer",
		},
		{ selector: "-a", why: '400 unable to parse requirement: <nil>: Invalid value: "-a": name part must consist' },
		{ selector: "a=-b", why: '400 unable to parse requirement: values[0][a]: Invalid value: "-b": a valid label' },
	])("$selector is refused", ({ selector, why }) => {
		expect(refusal(() => parseLabelSelector(selector))).toContain(why);
	});

	test("no text makes the grammar do anything but answer or refuse", () => {
		fc.assert(
			fc.property(fc.stringMatching(/^[ab=!(),<> in-]{0,12}$/), (text) => {
				expect(refusal(() => parseLabelSelector(text))).toMatch(/^(400 |accepted$)/);
			}),
		);
	});

	test("the object form says the same, and prints sorted", () => {
		const requirements = requirementsOf({
			matchLabels: { tier: "a" },
			matchExpressions: [
				{ key: "app", operator: "In", values: ["web", "api"] },
				{ key: "old", operator: "DoesNotExist" },
				{ key: "env", operator: "NotIn", values: ["x"] },
				{ key: "on", operator: "Exists" },
			],
		});
		const text = "app in (api,web),env notin (x),!old,on,tier=a";
		expect(formatRequirements(requirements)).toBe(text);
		expect(formatRequirements(parseLabelSelector(text))).toBe(text);
		expect(matchesLabels(requirements, { app: "api", on: "", tier: "a" })).toBe(true);
	});

	test("an expression has as many values as its operator takes", () => {
		const errors = validateLabelSelector("s", {
			matchExpressions: [
				{ key: "a", operator: "In" },
				{ key: "b", operator: "Exists", values: ["x"] },
			],
		});
		expect(errorTexts(errors)).toEqual([
			"s.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
			"s.matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
		]);
	});
});

describe("field selectors", () => {
	const plain = { fieldLabels: [], namespaced: true, fields: () => ({}) };
	const pods = { fieldLabels: ["status.phase"], namespaced: true, fields: () => ({ "status.phase": "a,b=c\\" }) };
	const nodes = { fieldLabels: ["spec.unschedulable"], namespaced: false, fields: () => ({}) };
	const object = { apiVersion: "v1", kind: "Pod", metadata: metadataOf("web") };

	test.each([
		{ selector: "metadata.name=web,metadata.namespace==default", isMatch: true },
		{ selector: "metadata.name!=web", isMatch: false },
		{ selector: ",", isMatch: true },
		{ selector: "status.phase=a\\,b\\=c\\\\", isMatch: true },
		{ selector: "status.phase=", isMatch: false },
	])("$selector: $isMatch", ({ selector, isMatch }) => {
		expect(matchesFields(parseFieldSelector(selector, pods), pods, object)).toBe(isMatch);
	});

	test("a field without a value compares as empty", () => {
		expect(matchesFields(parseFieldSelector("spec.unschedulable=", nodes), nodes, object)).toBe(true);
	});

	test.each([
		{ type: pods, selector: "spec.foo=1", why: "400 field label not supported: spec.foo" },
		{ type: nodes, selector: "metadata.namespace=x", why: "400 field label not supported: metadata.namespace" },
		{
			type: plain,
			selector: "spec.foo=1",
			why: '400 "spec.foo" is not a known field selector: only "metadata.name", "metadata.namespace"',
		},
		{
			type: plain,
			selector: "metadata.name",
			why: "400 invalid selector: 'metadata.name'; can't understand 'metadata.name'",
		},
		{ type: plain, selector: "metadata.name=a\\b", why: "400 invalid field selector: invalid escape sequence: \\b" },
		{ type: plain, selector: "metadata.name=a=b", why: "400 invalid field selector: unescaped character in value: =" },
	])("$selector is refused", ({ type, selector, why }) => {
		expect(refusal(() => parseFieldSelector(selector, type))).toBe(why);
	});
});
