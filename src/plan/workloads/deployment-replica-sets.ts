/** The ReplicaSets of a Deployment: which is the new one, what they are called, which revision they are. */
import { DEPLOYMENTS } from "../../api/resource-names.ts";
import type { Deployment, ReplicaSet } from "../../api/types/apps.ts";
import type { PodTemplateSpec } from "../../api/types/core.ts";
import type { Draft, StringMap } from "../../api/types/meta.ts";
import { fnv32a } from "../../kernel/fnv.ts";
import { deepEqual, isObject } from "../../kernel/json.ts";
import { compareStrings } from "../../kernel/order.ts";
import { NAME_ALPHABET } from "../../kernel/random.ts";
import { controllerReference } from "./owned-by.ts";
import type { RollingNumbers } from "./rolling-numbers.ts";

const TEMPLATE_HASH_LABEL = "pod-template-hash";
export const REVISION_ANNOTATION = "deployment.kubernetes.io/revision";
export const REVISION_HISTORY_ANNOTATION = "deployment.kubernetes.io/revision-history";
export const DESIRED_REPLICAS_ANNOTATION = "deployment.kubernetes.io/desired-replicas";
export const MAX_REPLICAS_ANNOTATION = "deployment.kubernetes.io/max-replicas";

/** Never copied from a Deployment to its ReplicaSets. */
const OWN_ANNOTATIONS: ReadonlySet<string> = new Set([
	"kubectl.kubernetes.io/last-applied-configuration",
	"deprecated.deployment.rollback.to",
	REVISION_ANNOTATION,
	REVISION_HISTORY_ANNOTATION,
	DESIRED_REPLICAS_ANNOTATION,
	MAX_REPLICAS_ANNOTATION,
]);

/** Characters of all earlier revisions of one ReplicaSet; the oldest go first. */
const HISTORY_CHARACTERS_MAX = 2000;

export interface Generations {
	/** The one with the Deployment's template. */
	readonly newSet: ReplicaSet | undefined;
	/** The others, oldest first. */
	readonly oldSets: readonly ReplicaSet[];
}

export function generationsOf(deployment: Deployment, sets: readonly ReplicaSet[]): Generations {
	const byAge = [...sets].sort(
		(a, b) =>
			compareStrings(a.metadata.creationTimestamp, b.metadata.creationTimestamp) ||
			compareStrings(a.metadata.name, b.metadata.name),
	);
	const newSet = byAge.find((set) => hasTemplateOf(set, deployment));
	return { newSet, oldSets: byAge.filter((set) => set !== newSet) };
}

/** Whether the ReplicaSet is one of the Deployment's template as it is now. */
export function hasTemplateOf(set: ReplicaSet, { spec }: Deployment): boolean {
	return set.spec.template !== undefined && deepEqual(withoutHash(set.spec.template), withoutHash(spec.template));
}

function withoutHash(template: PodTemplateSpec): PodTemplateSpec {
	const { [TEMPLATE_HASH_LABEL]: _, ...labels } = template.metadata?.labels ?? {};
	return { ...template, metadata: { ...template.metadata, labels } };
}

/** Decimal digits as characters of generated names: hashes never spell words. */
export function safeEncoded(number: number): string {
	return [...String(number)].map((digit) => NAME_ALPHABET[digit.charCodeAt(0) % NAME_ALPHABET.length]).join("");
}

/** A stable hash of the template; the count of collisions so far makes another one of it. */
export function templateHash({ spec, status }: Deployment): string {
	const text = JSON.stringify(sortedKeys(withoutHash(spec.template)));
	return safeEncoded(fnv32a(`${text}${status?.collisionCount ?? ""}`));
}

function sortedKeys(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(sortedKeys);
	if (!isObject(value)) return value;
	const keys = Object.keys(value).sort(compareStrings);
	return Object.fromEntries(keys.map((key) => [key, sortedKeys(value[key])]));
}

export function revisionOf({ metadata }: ReplicaSet | Deployment): number {
	return Number(metadata.annotations?.[REVISION_ANNOTATION] ?? 0) || 0;
}

/** The ReplicaSet of a template that has none yet. */
export function newReplicaSet(
	deployment: Deployment,
	numbers: RollingNumbers,
	{ size, revision }: { readonly size: number; readonly revision: number },
): Draft<ReplicaSet> {
	const hash = templateHash(deployment);
	const { template, selector, minReadySeconds } = deployment.spec;
	const labels = { ...template.metadata?.labels, [TEMPLATE_HASH_LABEL]: hash };
	return {
		metadata: {
			name: `${deployment.metadata.name.slice(0, 253 - 1 - hash.length)}-${hash}`,
			labels,
			annotations: {
				...copiedAnnotations(deployment),
				[REVISION_ANNOTATION]: String(revision),
				...sizeAnnotations(numbers),
			},
			ownerReferences: [controllerReference(DEPLOYMENTS, deployment)],
		},
		spec: {
			replicas: size,
			...(minReadySeconds === undefined ? {} : { minReadySeconds }),
			selector: { ...selector, matchLabels: { ...selector.matchLabels, [TEMPLATE_HASH_LABEL]: hash } },
			template: { ...template, metadata: { ...template.metadata, labels } },
		},
	};
}

/** What the Deployment wanted when it last sized a ReplicaSet: how a later scaling is noticed, and shared out. */
export function sizeAnnotations({ replicas, maxSurge }: RollingNumbers): StringMap {
	return {
		[DESIRED_REPLICAS_ANNOTATION]: String(replicas),
		[MAX_REPLICAS_ANNOTATION]: String(replicas + maxSurge),
	};
}

function copiedAnnotations({ metadata }: Deployment): StringMap {
	return Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !OWN_ANNOTATIONS.has(key)));
}

/** The annotations of a ReplicaSet that has become, or still is, the new one; its revision never falls. */
export function syncedAnnotations(deployment: Deployment, set: ReplicaSet, revision: number): StringMap {
	const annotations = { ...set.metadata.annotations, ...copiedAnnotations(deployment) };
	const before = revisionOf(set);
	if (before >= revision) return annotations;
	// A lower revision of its own means that the Deployment was rolled back to it.
	const history = before === 0 ? {} : { [REVISION_HISTORY_ANNOTATION]: historyWith(annotations, before) };
	return { ...annotations, ...history, [REVISION_ANNOTATION]: String(revision) };
}

function historyWith(annotations: StringMap, revision: number): string {
	const entries = (annotations[REVISION_HISTORY_ANNOTATION] ?? "").split(",").filter((text) => text !== "");
	entries.push(String(revision));
	while (entries.join(",").length > HISTORY_CHARACTERS_MAX) entries.shift();
	return entries.join(",");
}
