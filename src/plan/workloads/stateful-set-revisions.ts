/** The revisions of a StatefulSet: which template is current, which is next, and which are kept to go back to. */
import { STATEFUL_SETS } from "../../api/resource-names.ts";
import type { ControllerRevision, StatefulSet } from "../../api/types/apps.ts";
import type { PodTemplateSpec } from "../../api/types/core.ts";
import type { Draft } from "../../api/types/meta.ts";
import { fnv32 } from "../../kernel/fnv.ts";
import { deepEqual, isObject, ownValue } from "../../kernel/json.ts";
import { compareStrings } from "../../kernel/order.ts";
import { safeEncoded } from "./deployment-replica-sets.ts";
import { controllerReference } from "./owned-by.ts";

/** On ControllerRevisions: the hash that their name ends in. */
const HASH_LABEL = "controller.kubernetes.io/hash";
/** So that name, dash and hash stay below 253 characters. */
const NAME_CHARACTERS_MAX = 223;

export type RevisionChange =
	| { readonly kind: "none" }
	| { readonly kind: "create"; readonly draft: Draft<ControllerRevision> }
	/** An old template is wanted again: its revision becomes the newest. */
	| { readonly kind: "renumber"; readonly next: ControllerRevision };

export interface Revisions {
	/** Name of the revision of pods that are being replaced; the update's own when nothing is. */
	readonly currentName: string;
	readonly currentTemplate: PodTemplateSpec;
	readonly updateName: string;
	readonly change: RevisionChange;
}

export function revisionsOf(set: StatefulSet, known: readonly ControllerRevision[]): Revisions {
	const sorted = [...known].sort(
		(a, b) => a.revision - b.revision || compareStrings(a.metadata.creationTimestamp, b.metadata.creationTimestamp),
	);
	const data = revisionData(set);
	const newest = sorted.at(-1);
	const equal = sorted.filter((revision) => deepEqual(revision.data, data)).at(-1);
	const number = (newest?.revision ?? 0) + 1;
	const draft = newRevision(set, data, number);
	const updateName = equal?.metadata.name ?? draft.metadata.name ?? "";
	const current = sorted.find(({ metadata }) => metadata.name === set.status?.currentRevision);
	return {
		currentName: current?.metadata.name ?? updateName,
		currentTemplate: (current === undefined ? undefined : templateIn(current)) ?? set.spec.template,
		updateName,
		change: changeFor(equal, newest, draft, number),
	};
}

function changeFor(
	equal: ControllerRevision | undefined,
	newest: ControllerRevision | undefined,
	draft: Draft<ControllerRevision>,
	number: number,
): RevisionChange {
	if (equal === undefined) return { kind: "create", draft };
	return equal === newest ? { kind: "none" } : { kind: "renumber", next: { ...equal, revision: number } };
}

/** A strategic merge patch that brings the template back: so the history can be read by anyone who knows patches. */
function revisionData({ spec }: StatefulSet): unknown {
	return { spec: { template: { ...spec.template, $patch: "replace" } } };
}

function templateIn({ data }: ControllerRevision): PodTemplateSpec | undefined {
	const spec = isObject(data) ? ownValue(data, "spec") : undefined;
	const template = isObject(spec) ? ownValue(spec, "template") : undefined;
	if (!isObject(template)) return undefined;
	const { $patch: _, ...own } = template;
	// Only this controller writes revisions of its sets, from templates.
	return own as object as PodTemplateSpec;
}

function newRevision(set: StatefulSet, data: unknown, revision: number): Draft<ControllerRevision> {
	const hash = safeEncoded(fnv32(sortedJson(data) + String(set.status?.collisionCount ?? 0)));
	const { name, annotations } = set.metadata;
	return {
		metadata: {
			name: `${name.slice(0, NAME_CHARACTERS_MAX)}-${hash}`,
			labels: { ...set.spec.template.metadata?.labels, [HASH_LABEL]: hash },
			...(annotations === undefined ? {} : { annotations }),
			ownerReferences: [controllerReference(STATEFUL_SETS, set)],
		},
		data,
		revision,
	};
}

/** JSON as Go writes a map: keys sorted, and what HTML takes for markup escaped. */
function sortedJson(value: unknown): string {
	return JSON.stringify(sortedKeys(value)).replace(
		/[<>&\u2028\u2029]/g,
		(character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
	);
}

function sortedKeys(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(sortedKeys);
	if (!isObject(value)) return value;
	const keys = Object.keys(value).sort(compareStrings);
	return Object.fromEntries(keys.map((key) => [key, sortedKeys(value[key])]));
}

/** Revisions that nothing uses, beyond the history limit; oldest first. */
export function outdatedRevisions(
	set: StatefulSet,
	known: readonly ControllerRevision[],
	inUse: ReadonlySet<string>,
): readonly ControllerRevision[] {
	const unused = known.filter(({ metadata }) => !inUse.has(metadata.name));
	const excess = unused.length - (set.spec.revisionHistoryLimit ?? 10);
	return unused.sort((a, b) => a.revision - b.revision).slice(0, Math.max(0, excess));
}
