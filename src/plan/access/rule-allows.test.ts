import { describe, expect, test } from "vitest";
import type { PolicyRule } from "../../api/types/rbac.ts";
import type { Question } from "./question.ts";
import { ruleAllows } from "./rule-allows.ts";

const pods = { kind: "resource", verb: "get", group: "", plural: "pods", namespace: "shop", name: "web" } as const;
const log = { ...pods, subresource: "log" } as const;
const metrics = { kind: "path", verb: "get", path: "/metrics" } as const;
const rule = (resources: string, more: Partial<PolicyRule> = {}): PolicyRule => ({
	verbs: ["get"],
	apiGroups: [""],
	resources: resources.split(" "),
	...more,
});
const urls = (...nonResourceURLs: string[]): PolicyRule => ({ verbs: ["get"], nonResourceURLs });

describe("ruleAllows()", () => {
	test.each<{ what: string; rule: PolicyRule; question: Question; gives: boolean }>([
		{ what: "the resource that it names", rule: rule("pods"), question: pods, gives: true },
		{ what: "another resource", rule: rule("services"), question: pods, gives: false },
		{ what: "another verb", rule: rule("pods", { verbs: ["list"] }), question: pods, gives: false },
		{ what: "every verb", rule: rule("pods", { verbs: ["*"] }), question: pods, gives: true },
		{ what: "another group", rule: rule("pods", { apiGroups: ["apps"] }), question: pods, gives: false },
		{ what: "every group", rule: rule("pods", { apiGroups: ["*"] }), question: pods, gives: true },
		{ what: "no group at all", rule: { verbs: ["get"], resources: ["pods"] }, question: pods, gives: false },
		{ what: "every resource", rule: rule("*"), question: pods, gives: true },
		{ what: "a subresource with its object", rule: rule("pods"), question: log, gives: false },
		{ what: "a subresource by name", rule: rule("pods/log"), question: log, gives: true },
		{ what: "the object with its subresource", rule: rule("pods/log"), question: pods, gives: false },
		{ what: "a subresource of everything", rule: rule("*/log"), question: log, gives: true },
		{ what: "another subresource of everything", rule: rule("*/status"), question: log, gives: false },
		{ what: "every subresource", rule: rule("*"), question: log, gives: true },
		{ what: "a subresource of one by a star", rule: rule("pods/*"), question: log, gives: false },
		{ what: "one name", rule: rule("pods", { resourceNames: ["web"] }), question: pods, gives: true },
		{ what: "another name", rule: rule("pods", { resourceNames: ["db"] }), question: pods, gives: false },
		{
			what: "one name to a question about none",
			rule: rule("pods", { resourceNames: ["web"] }),
			question: { ...pods, name: "" },
			gives: false,
		},
		{ what: "no names as every name", rule: rule("pods", { resourceNames: [] }), question: pods, gives: true },
		{ what: "a path", rule: urls("/metrics"), question: metrics, gives: true },
		{ what: "another path", rule: urls("/healthz"), question: metrics, gives: false },
		{ what: "every path", rule: urls("*"), question: metrics, gives: true },
		{ what: "paths below", rule: urls("/me*"), question: metrics, gives: true },
		{ what: "a path, never a resource", rule: urls("*"), question: pods, gives: false },
		{ what: "a resource, never a path", rule: rule("*"), question: metrics, gives: false },
	])("$what: $gives", ({ rule: given, question, gives }) => {
		expect(ruleAllows(given, question)).toBe(gives);
	});
});
