/** What a DELETE does to an object: a decision, not an act (api-protocol, "Delete"). */
import type { ResourceType } from "../api/resource.ts";
import { condition, withCondition } from "../api/structural/accepted-names.ts";
import type { CustomResourceDefinition } from "../api/types/apiextensions.ts";
import type { Namespace, Pod } from "../api/types/core.ts";
import type { KubeObject, ObjectMeta } from "../api/types/meta.ts";
import { timestamp } from "./timestamp.ts";

export interface DeletionOptions {
	readonly gracePeriodSeconds?: number;
	readonly propagationPolicy?: string;
	/** The old spelling of Orphan (true) and Background (false). */
	readonly orphanDependents?: boolean;
	readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

export type Deletion =
	/** Gone at once; watchers see `last` as its final state. */
	| { readonly kind: "remove"; readonly last: KubeObject }
	/** Marked: someone must finish it (kubelet, garbage collector, the owner of a finalizer). */
	| { readonly kind: "mark"; readonly next: KubeObject }
	/** Being deleted already, and this request changes nothing. */
	| { readonly kind: "unchanged" };

const ORPHAN = "orphan";
const FOREGROUND = "foregroundDeletion";
const DEFAULT_GRACE_SECONDS = 30;

export function decideDeletion(
	type: ResourceType,
	stored: KubeObject,
	options: DeletionOptions,
	nowMs: number,
): Deletion {
	if (isNamespace(type) && isHeldNamespace(stored)) return decideNamespace(stored, nowMs);
	if (type.kind === "CustomResourceDefinition" && stored.metadata.deletionTimestamp === undefined) {
		return { kind: "mark", next: markedDefinition(stored as CustomResourceDefinition, options, nowMs) };
	}
	const graceSeconds = isPod(type) ? podGraceSeconds(stored as Pod, options) : 0;
	if (stored.metadata.deletionTimestamp !== undefined) return decideAgain(stored, options, graceSeconds, nowMs);
	const finalizers = finalizersFor(stored.metadata, options);
	const marked = withDeletion(stored, finalizers, graceSeconds, nowMs);
	return graceSeconds === 0 && finalizers.length === 0
		? { kind: "remove", last: marked }
		: { kind: "mark", next: marked };
}

function isNamespace(type: ResourceType): boolean {
	return type.kind === "Namespace" && type.group === "";
}

function isPod(type: ResourceType): boolean {
	return type.kind === "Pod" && type.group === "";
}

function isHeldNamespace(namespace: Namespace): boolean {
	return (namespace.spec?.finalizers ?? []).length > 0;
}

function decideNamespace(stored: KubeObject, nowMs: number): Deletion {
	if (stored.metadata.deletionTimestamp !== undefined) return { kind: "unchanged" };
	const namespace: Namespace = {
		...stored,
		metadata: { ...stored.metadata, deletionTimestamp: timestamp(nowMs) },
		status: { ...(stored as Namespace).status, phase: "Terminating" },
	};
	return { kind: "mark", next: namespace };
}

const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";

/** Its objects go first: the API server removes them, and then the finalizer. */
function markedDefinition(stored: CustomResourceDefinition, options: DeletionOptions, nowMs: number): KubeObject {
	const asked = finalizersFor(stored.metadata, options);
	const finalizers = asked.includes(CLEANUP_FINALIZER) ? asked : [...asked, CLEANUP_FINALIZER];
	const why = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
	const terminating = condition("Terminating", "True", "InstanceDeletionPending", why, timestamp(nowMs));
	const next: CustomResourceDefinition = { ...stored, status: withCondition(stored.status ?? {}, terminating) };
	return withDeletion(next, finalizers, 0, nowMs);
}

/** A Pod that no node runs, or that has ended, has nobody to wait for. */
function podGraceSeconds({ spec, status }: Pod, options: DeletionOptions): number {
	if (spec.nodeName === undefined || spec.nodeName === "") return 0;
	if (status?.phase === "Succeeded" || status?.phase === "Failed") return 0;
	const seconds = options.gracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
	return seconds < 0 ? 1 : seconds;
}

/** A second DELETE can only make the wait shorter. */
function decideAgain(stored: KubeObject, options: DeletionOptions, graceSeconds: number, nowMs: number): Deletion {
	const { deletionGracePeriodSeconds = 0, deletionTimestamp = "", finalizers = [] } = stored.metadata;
	const isUnasked = options.gracePeriodSeconds === undefined && graceSeconds !== 0;
	if (isUnasked || graceSeconds >= deletionGracePeriodSeconds) {
		const isOver = deletionGracePeriodSeconds === 0 && finalizers.length === 0;
		return isOver ? { kind: "remove", last: stored } : { kind: "unchanged" };
	}
	if (graceSeconds === 0 && finalizers.length === 0) {
		return { kind: "remove", last: withDeletion(stored, finalizers, 0, nowMs) };
	}
	const startedMs = Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
	const isPast = startedMs + graceSeconds * 1000 < nowMs;
	const metadata: ObjectMeta = {
		...stored.metadata,
		deletionTimestamp: timestamp(isPast ? nowMs : startedMs + graceSeconds * 1000),
		deletionGracePeriodSeconds: isPast && graceSeconds !== 0 ? 1 : graceSeconds,
	};
	return { kind: "mark", next: { ...stored, metadata } };
}

/** Which finalizers hold the object: the explicit wish beats what is there, and both exclude each other. */
function finalizersFor({ finalizers = [] }: ObjectMeta, options: DeletionOptions): readonly string[] {
	const policy = policyOf(options);
	if (policy === undefined) return finalizers;
	const others = finalizers.filter((name) => name !== ORPHAN && name !== FOREGROUND);
	if (policy === "Orphan") return [...others, ORPHAN];
	return policy === "Foreground" ? [...others, FOREGROUND] : others;
}

function policyOf({ propagationPolicy, orphanDependents }: DeletionOptions): string | undefined {
	if (orphanDependents !== undefined) return orphanDependents ? "Orphan" : "Background";
	return propagationPolicy;
}

/** The deadline is what `deletionTimestamp` says, not the time of the request. */
function withDeletion(
	object: KubeObject,
	finalizers: readonly string[],
	graceSeconds: number,
	nowMs: number,
): KubeObject {
	const { finalizers: _, generation, ...metadata } = object.metadata;
	return {
		...object,
		metadata: {
			...metadata,
			deletionTimestamp: timestamp(nowMs + graceSeconds * 1000),
			deletionGracePeriodSeconds: graceSeconds,
			...(generation === undefined ? {} : { generation: generation + 1 }),
			...(finalizers.length > 0 ? { finalizers } : {}),
		},
	};
}
