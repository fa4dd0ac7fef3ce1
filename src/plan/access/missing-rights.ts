/** Nobody gives what they do not have: which of the wanted rights are not held already. */
import type { PolicyRule } from "../../api/types/rbac.ts";
import { clipped } from "../../kernel/clipped.ts";
import { compareStrings } from "../../kernel/order.ts";
import { urlMatches } from "./rule-allows.ts";

export interface MissingRights {
	/** One text a right, sorted: the first ones. Empty when `held` covers all of `wanted`. */
	readonly texts: readonly string[];
	/** Rights that are missing besides. */
	readonly more: number;
	/** There was too much to look at: what was not looked at counts as missing. */
	readonly isCut: boolean;
}

/**
 * Rights of one rule held against another: each takes some ten nanoseconds. A rule of a few kilobytes stands for
 * millions of rights, and the largest role that anybody has use for, for some thousands.
 */
const COMPARISONS_MAX = 1_000_000;
/** Resources of which rights are missing: nobody waits to hear of all of them. */
const PLACES_MAX = 10_000;
const TEXTS_MAX = 20;
/** Characters of one text, of which a rule with many verbs has many. */
const TEXT_MAX = 1_024;

/** @param comparisonsMax For tests. */
export function missingRights(
	held: readonly PolicyRule[],
	wanted: readonly PolicyRule[],
	comparisonsMax: number = COMPARISONS_MAX,
): MissingRights {
	const search = new Search(held.map(heldRule), comparisonsMax);
	for (const rule of wanted) {
		search.resources(rule);
		search.paths(rule);
		if (search.isCut) break;
	}
	return search.result();
}

export function holdsAll(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): boolean {
	const { texts, isCut } = missingRights(held, wanted);
	return texts.length === 0 && !isCut;
}

/** Rights at one place: verbs of one resource are told together. */
interface Place {
	readonly rule: Omit<PolicyRule, "verbs">;
	readonly verbs: readonly string[];
}

class Search {
	readonly #held: readonly HeldRule[];
	readonly #missing = new Map<string, Place>();
	#left: number;
	isCut = false;

	constructor(held: readonly HeldRule[], comparisonsMax: number) {
		this.#held = held;
		this.#left = comparisonsMax;
	}

	resources(rule: PolicyRule): void {
		// Who holds a rule as a whole holds each of its rights: most often that is all there is to look at.
		if (rule.verbs.length === 0 || this.#isHeldWhole(rule)) return;
		for (const place of placesOf(rule)) {
			this.#look(place);
			if (this.isCut) return;
		}
	}

	paths({ verbs, nonResourceURLs = [] }: PolicyRule): void {
		for (const url of nonResourceURLs) {
			for (const verb of verbs) {
				const isHeld = this.#isHeld((held) => holdsVerb(held, verb) && held.urls.some((own) => urlMatches(own, url)));
				if (this.isCut) return;
				if (!isHeld) this.#add({ nonResourceURLs: [url] }, [verb], `path ${verb} ${url}`);
			}
		}
	}

	result(): MissingRights {
		const texts = [...new Set([...this.#missing.values()].map(rightText))].sort(compareStrings);
		const shown = texts.slice(0, TEXTS_MAX);
		return { texts: shown, more: texts.length - shown.length, isCut: this.isCut };
	}

	#isHeldWhole({ verbs, apiGroups = [], resources = [], resourceNames = [] }: PolicyRule): boolean {
		const each = (words: readonly string[], holds: (word: string) => boolean): boolean =>
			words.every((word) => {
				this.#left--;
				return holds(word);
			});
		return this.#held.some(
			(held) =>
				this.#left > 0 &&
				each(verbs, (verb) => holdsVerb(held, verb)) &&
				each(apiGroups, (group) => holdsGroup(held, group)) &&
				each(resources, (resource) => holdsResource(held, resource)) &&
				(held.names.size === 0 || (resourceNames.length > 0 && each(resourceNames, (name) => held.names.has(name)))),
		);
	}

	#look({ verbs, group, resource, name }: ResourcePlace): void {
		const names = name === undefined ? [] : [name];
		const missing: string[] = [];
		for (const verb of verbs) {
			const isHeld = this.#isHeld(
				(held) =>
					holdsVerb(held, verb) && holdsGroup(held, group) && holdsResource(held, resource) && holdsNames(held, names),
			);
			if (this.isCut) break;
			if (!isHeld) missing.push(verb);
		}
		if (missing.length === 0) return;
		const rule = { apiGroups: [group], resources: [resource], ...(names.length === 0 ? {} : { resourceNames: names }) };
		this.#add(rule, missing, JSON.stringify([group, resource, ...names]));
	}

	/** Counts what it takes to know. */
	#isHeld(holds: (held: HeldRule) => boolean): boolean {
		this.#left--;
		const isHeld = this.#held.some((held) => {
			this.#left -= 1 + held.urls.length;
			return holds(held);
		});
		this.isCut = this.#left <= 0;
		return isHeld;
	}

	#add(rule: Place["rule"], verbs: readonly string[], key: string): void {
		const known = this.#missing.get(key)?.verbs ?? [];
		this.#missing.set(key, { rule, verbs: [...known, ...verbs] });
		this.isCut ||= this.#missing.size >= PLACES_MAX;
	}
}

/** One after the other: all of them at once may be more than there is memory for. */
function* placesOf({ verbs, apiGroups = [], resources = [], resourceNames = [] }: PolicyRule): Iterable<ResourcePlace> {
	const names = resourceNames.length === 0 ? [undefined] : resourceNames;
	for (const group of apiGroups) {
		for (const resource of resources) for (const name of names) yield { verbs, group, resource, name };
	}
}

interface ResourcePlace {
	readonly verbs: readonly string[];
	readonly group: string;
	readonly resource: string;
	readonly name: string | undefined;
}

/** A rule to be asked often. */
interface HeldRule {
	readonly verbs: ReadonlySet<string>;
	readonly groups: ReadonlySet<string>;
	readonly resources: ReadonlySet<string>;
	readonly names: ReadonlySet<string>;
	readonly urls: readonly string[];
}

function heldRule(rule: PolicyRule): HeldRule {
	return {
		verbs: new Set(rule.verbs),
		groups: new Set(rule.apiGroups),
		resources: new Set(rule.resources),
		names: new Set(rule.resourceNames),
		urls: rule.nonResourceURLs ?? [],
	};
}

function holdsVerb({ verbs }: HeldRule, verb: string): boolean {
	return verbs.has("*") || verbs.has(verb);
}

function holdsGroup({ groups }: HeldRule, group: string): boolean {
	return groups.has("*") || groups.has(group);
}

function holdsResource({ resources }: HeldRule, resource: string): boolean {
	if (resources.has("*") || resources.has(resource)) return true;
	const [, subresource] = resource.split("/");
	return subresource !== undefined && resources.has(`*/${subresource}`);
}

function holdsNames({ names }: HeldRule, wanted: readonly string[]): boolean {
	return names.size === 0 || (wanted.length > 0 && wanted.every((name) => names.has(name)));
}

const PARTS = [
	["APIGroups", "apiGroups"],
	["Resources", "resources"],
	["NonResourceURLs", "nonResourceURLs"],
	["ResourceNames", "resourceNames"],
	["Verbs", "verbs"],
] as const;

function rightText({ rule, verbs }: Place): string {
	const right: PolicyRule = { ...rule, verbs };
	const parts = PARTS.map(([label, key]) => [label, right[key] ?? []] as const).filter(([, list]) => list.length > 0);
	return clipped(`{${parts.map(([label, list]) => `${label}:${listText(list)}`).join(", ")}}`, TEXT_MAX);
}

/** As Go prints a list of strings: `["a" "b"]`. */
export function listText(list: readonly string[]): string {
	return `[${list.map((word) => JSON.stringify(word)).join(" ")}]`;
}
