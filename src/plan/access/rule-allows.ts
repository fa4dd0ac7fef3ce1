/**
 * Whether a rule gives what a question asks for.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/rbac/
 */
import type { PolicyRule } from "../../api/types/rbac.ts";
import type { Question } from "./question.ts";

export function ruleAllows(rule: PolicyRule, question: Question): boolean {
	if (!has(rule.verbs, question.verb)) return false;
	if (question.kind === "path") return (rule.nonResourceURLs ?? []).some((url) => urlMatches(url, question.path));
	const { resourceNames = [] } = rule;
	return (
		has(rule.apiGroups, question.group) &&
		resourceMatches(rule.resources, question.plural, question.subresource ?? "") &&
		(resourceNames.length === 0 || resourceNames.includes(question.name))
	);
}

function has(list: readonly string[] | undefined, word: string): boolean {
	return list !== undefined && (list.includes(word) || list.includes("*"));
}

function resourceMatches(resources: readonly string[] | undefined, plural: string, subresource: string): boolean {
	if (resources === undefined) return false;
	if (subresource === "") return has(resources, plural);
	return has(resources, `${plural}/${subresource}`) || resources.includes(`*/${subresource}`);
}

export function urlMatches(pattern: string, path: string): boolean {
	if (pattern === "*" || pattern === path) return true;
	if (!pattern.endsWith("*")) return false;
	let end = pattern.length;
	while (pattern[end - 1] === "*") end--;
	return path.startsWith(pattern.slice(0, end));
}
