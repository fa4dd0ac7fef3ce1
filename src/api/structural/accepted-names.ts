/** Which names a definition gets: each resource name and kind of a group belongs to one definition. */
import { deepEqual } from "../../kernel/json.ts";
import type {
	CustomResourceDefinition,
	CustomResourceDefinitionStatus,
	CustomResourceNames,
} from "../types/apiextensions.ts";
import type { Condition } from "../types/meta.ts";

/** The status that a definition should have, given all others. The same object when nothing is to be changed. */
export function acceptedStatus(
	definition: CustomResourceDefinition,
	others: readonly CustomResourceDefinition[],
	now: string,
): CustomResourceDefinitionStatus {
	const { spec, status = {} } = definition;
	const established = findCondition(status, "Established");
	if (deepEqual(spec.names, status.acceptedNames) && established?.status === "True") return status;
	const { names, conflict } = accepted(spec.names, status.acceptedNames, others, spec.group);
	const conditions = [
		conflict === undefined
			? condition("NamesAccepted", "True", "NoConflicts", "no conflicts found", now)
			: condition("NamesAccepted", "False", conflict.reason, conflict.message, now),
		establishedCondition(established, conflict !== undefined, now),
	];
	const next = conditions.reduce(withCondition, { ...status, acceptedNames: names });
	return deepEqual(next, status) ? status : next;
}

function establishedCondition(known: Condition | undefined, hasConflict: boolean, now: string): Condition {
	if (known?.status === "True") return known;
	return hasConflict
		? condition("Established", "False", "NotAccepted", "not all names are accepted", now)
		: condition("Established", "True", "InitialNamesAccepted", "the initial names have been accepted", now);
}

interface Conflict {
	readonly reason: string;
	readonly message: string;
}

function accepted(
	wanted: CustomResourceNames,
	before: CustomResourceNames | undefined,
	others: readonly CustomResourceDefinition[],
	group: string,
): { readonly names: CustomResourceNames; readonly conflict: Conflict | undefined } {
	const taken = namesOf(others.filter(({ spec }) => spec.group === group));
	let conflict: Conflict | undefined;
	const names: Record<string, unknown> = { ...(before ?? { plural: "", kind: "" }) };
	const claim = (key: keyof CustomResourceNames, used: ReadonlySet<string>, reason: string): void => {
		const asked = [wanted[key] ?? []].flat();
		const had = [before?.[key] ?? []].flat();
		const clashes = asked.filter((name) => !had.includes(name) && used.has(name));
		if (clashes.length === 0) {
			if (wanted[key] === undefined) delete names[key];
			else names[key] = wanted[key];
			return;
		}
		const texts = [...new Set(clashes)].map((name) => `${JSON.stringify(name)} is already in use`);
		conflict = { reason, message: texts.length === 1 ? String(texts[0]) : `[${texts.join(", ")}]` };
	};
	claim("plural", taken.resources, "PluralConflict");
	claim("singular", taken.resources, "SingularConflict");
	claim("shortNames", taken.resources, "ShortNamesConflict");
	claim("kind", taken.kinds, "KindConflict");
	claim("listKind", taken.kinds, "ListKindConflict");
	if (wanted.categories === undefined) delete names["categories"];
	else names["categories"] = wanted.categories;
	const { plural = "", kind = "" } = names as Partial<CustomResourceNames>;
	return { names: { ...names, plural, kind }, conflict };
}

function namesOf(definitions: readonly CustomResourceDefinition[]): {
	readonly resources: ReadonlySet<string>;
	readonly kinds: ReadonlySet<string>;
} {
	const names = definitions.flatMap(({ status }) => status?.acceptedNames ?? []);
	const some = (texts: readonly (string | undefined)[]): string[] =>
		texts.filter((text) => text !== undefined && text !== "") as string[];
	return {
		resources: new Set(
			names.flatMap(({ plural, singular, shortNames = [] }) => some([plural, singular, ...shortNames])),
		),
		kinds: new Set(names.flatMap(({ kind, listKind }) => some([kind, listKind]))),
	};
}

export function condition(
	type: string,
	status: "True" | "False",
	reason: string,
	message: string,
	now: string,
): Condition {
	return { type, status, lastTransitionTime: now, reason, message };
}

function findCondition(status: CustomResourceDefinitionStatus, type: string): Condition | undefined {
	return status.conditions?.find((known) => known.type === type);
}

/** The time of a condition is that of its last change. */
export function withCondition(status: CustomResourceDefinitionStatus, next: Condition): CustomResourceDefinitionStatus {
	const { conditions = [] } = status;
	const known = conditions.find(({ type }) => type === next.type);
	if (known === undefined) return { ...status, conditions: [...conditions, next] };
	const { lastTransitionTime } = known;
	const kept =
		known.status === next.status && lastTransitionTime !== undefined ? { ...next, lastTransitionTime } : next;
	return { ...status, conditions: conditions.map((each) => (each === known ? kept : each)) };
}
