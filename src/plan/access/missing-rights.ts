/** Nobody gives what they do not have: which of the wanted rights are not held already. */
import type { PolicyRule } from "../../api/types/rbac.ts";
import { compareStrings } from "../../kernel/order.ts";
import { urlMatches } from "./rule-allows.ts";

/** One text a right, sorted; empty when `held` covers all of `wanted`. */
export function missingRights(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly string[] {
	const missing = wanted.flatMap(singleRights).filter((right) => !held.some((rule) => covers(rule, right)));
	return [...new Set(compacted(missing).map(rightText))].sort(compareStrings);
}

/** The rule as many small ones, of one verb, group, resource and name each. */
function singleRights(rule: PolicyRule): readonly PolicyRule[] {
	const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
	const forPaths = verbs.flatMap((verb) => nonResourceURLs.map((url) => ({ verbs: [verb], nonResourceURLs: [url] })));
	const plain = verbs.flatMap((verb) =>
		apiGroups.flatMap((group) =>
			resources.map((resource) => ({ verbs: [verb], apiGroups: [group], resources: [resource] })),
		),
	);
	if (resourceNames.length === 0) return [...plain, ...forPaths];
	return [...plain.flatMap((right) => resourceNames.map((name) => ({ ...right, resourceNames: [name] }))), ...forPaths];
}

function covers(held: PolicyRule, right: PolicyRule): boolean {
	const { resourceNames: names = [] } = held;
	const { resourceNames: wantedNames = [] } = right;
	return (
		hasAll(held.verbs, right.verbs) &&
		hasAll(held.apiGroups, right.apiGroups) &&
		(right.resources ?? []).every((resource) => coversResource(held.resources ?? [], resource)) &&
		(right.nonResourceURLs ?? []).every((url) => (held.nonResourceURLs ?? []).some((own) => urlMatches(own, url))) &&
		(names.length === 0 || (wantedNames.length > 0 && wantedNames.every((name) => names.includes(name))))
	);
}

function hasAll(held: readonly string[] = [], wanted: readonly string[] = []): boolean {
	return held.includes("*") || wanted.every((word) => held.includes(word));
}

function coversResource(held: readonly string[], resource: string): boolean {
	if (held.includes("*") || held.includes(resource)) return true;
	const [, subresource] = resource.split("/");
	return subresource !== undefined && held.includes(`*/${subresource}`);
}

/** Verbs of one resource told together. */
function compacted(rights: readonly PolicyRule[]): readonly PolicyRule[] {
	const byPlace = new Map<string, PolicyRule>();
	const others: PolicyRule[] = [];
	for (const right of rights) {
		if (right.nonResourceURLs !== undefined) {
			others.push(right);
			continue;
		}
		const place = JSON.stringify([right.apiGroups, right.resources, right.resourceNames]);
		const known = byPlace.get(place);
		byPlace.set(place, known === undefined ? right : { ...known, verbs: [...known.verbs, ...right.verbs] });
	}
	return [...others, ...byPlace.values()];
}

const PARTS = [
	["APIGroups", "apiGroups"],
	["Resources", "resources"],
	["NonResourceURLs", "nonResourceURLs"],
	["ResourceNames", "resourceNames"],
	["Verbs", "verbs"],
] as const;

function rightText(rule: PolicyRule): string {
	const parts = PARTS.map(([label, key]) => [label, rule[key] ?? []] as const).filter(([, list]) => list.length > 0);
	return `{${parts.map(([label, list]) => `${label}:${listText(list)}`).join(", ")}}`;
}

/** As Go prints a list of strings: `["a" "b"]`. */
export function listText(list: readonly string[]): string {
	return `[${list.map((word) => JSON.stringify(word)).join(" ")}]`;
}
