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
	const newSet = byAge.find((set) => hasSameTemplate(set.spec.template, deployment.spec.template));
	return { newSet, oldSets: byAge.filter((set) => set !== newSet) };
}

function hasSameTemplate(a: PodTemplateSpec | undefined, b: PodTemplateSpec): boolean {
	return a !== undefined && deepEqual(withoutHash(a), withoutHash(b));
}

function withoutHash(template: PodTemplateSpec): PodTemplateSpec {
	const { [TEMPLATE_HASH_LABEL]: _, ...labels } = template.metadata?.labels ?? {};
	return { ...template, metadata: { ...template.metadata, labels } };
}

/** Decimal digits as characters of generated names: hashes never spell words. */
function safeEncoded(number: number): string {
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

export interface NewSetOptions {
	readonly replicas: number;
	readonly maxReplicas: number;
	readonly revision: number;
}

export function newReplicaSet(deployment: Deployment, options: NewSetOptions): Draft<ReplicaSet> {
	const hash = templateHash(deployment);
	const { template, selector, minReadySeconds } = deployment.spec;
	const labels = { ...template.metadata?.labels, [TEMPLATE_HASH_LABEL]: hash };
	return {
		metadata: {
			name: `${deployment.metadata.name.slice(0, 253 - 1 - hash.length)}-${hash}`,
			labels,
			annotations: annotationsFor(deployment, undefined, options),
			ownerReferences: [controllerReference(DEPLOYMENTS, deployment)],
		},
		spec: {
			replicas: options.replicas,
			...(minReadySeconds === undefined ? {} : { minReadySeconds }),
			selector: { ...selector, matchLabels: { ...selector.matchLabels, [TEMPLATE_HASH_LABEL]: hash } },
			template: { ...template, metadata: { ...template.metadata, labels } },
		},
	};
}

/** Annotations that the new ReplicaSet should have: the Deployment's, its revision, and the wanted size. */
export function annotationsFor(
	deployment: Deployment,
	existing: ReplicaSet | undefined,
	{ revision, maxReplicas }: NewSetOptions,
): StringMap {
	const copied = Object.fromEntries(
		Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !OWN_ANNOTATIONS.has(key)),
	);
	const before = existing?.metadata.annotations ?? {};
	const isRolledBack = existing !== undefined && revisionOf(existing) < revision && revisionOf(existing) > 0;
	return {
		...before,
		...copied,
		...(isRolledBack ? { [REVISION_HISTORY_ANNOTATION]: historyWith(before, revisionOf(existing)) } : {}),
		[REVISION_ANNOTATION]: String(existing === undefined ? revision : Math.max(revision, revisionOf(existing))),
		[DESIRED_REPLICAS_ANNOTATION]: String(deployment.spec.replicas ?? 1),
		[MAX_REPLICAS_ANNOTATION]: String(maxReplicas),
	};
}

function historyWith(annotations: StringMap, revision: number): string {
	const entries = [...(annotations[REVISION_HISTORY_ANNOTATION] ?? "").split(",").filter((text) => text !== "")];
	entries.push(String(revision));
	while (entries.join(",").length > HISTORY_CHARACTERS_MAX) entries.shift();
	return entries.join(",");
}
