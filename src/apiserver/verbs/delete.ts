/** DELETE of one object, and of a collection. */
import type { FieldError } from "../../api/field-error.ts";
import { invalid, notSupported } from "../../api/field-error.ts";
import { conflict, hasReason, invalidObject, notFound, type Status } from "../../api/status.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import type { Entry } from "../../store/entry.ts";
import { requireDeletable } from "../admission.ts";
import { type DeletionOptions, decideDeletion } from "../deletion.ts";
import type { RequestContext, ServerPorts, Target } from "../ports.ts";
import { shownEntry } from "../stored-form.ts";
import { commitPlan, planRemoval, planUpdate } from "../write-plan.ts";
import { type ListAnswer, type ListQuery, listObjects } from "./list.ts";

export interface DeleteFlags extends DeletionOptions {
	readonly dryRun: boolean;
}

export interface Deleted {
	/** The object while it is only marked, and for the kinds that answer so; else a Status. */
	readonly answer: KubeObject | Status;
	/** The object is still there, and someone must finish it. */
	readonly isPending: boolean;
}

/** @throws {ApiError} `NotFound`, `Conflict` for a failed precondition, `Forbidden`, `Invalid`. */
export async function deleteObject(ports: ServerPorts, target: Target, flags: DeleteFlags): Promise<Deleted> {
	requireValidOptions(flags);
	requireDeletable(target);
	for (;;) {
		const stored = shownEntry(ports, target);
		if (stored === undefined) throw notFound(target.type, target.name);
		requirePreconditions(target, stored.object, flags);
		const deleted = await tryDelete(ports, target, stored, flags);
		if (deleted !== undefined) return deleted;
	}
}

async function tryDelete(
	ports: ServerPorts,
	target: Target,
	stored: Entry,
	flags: DeleteFlags,
): Promise<Deleted | undefined> {
	const { type } = target;
	const deletion = decideDeletion(type, stored.object, flags, ports.clock.wallMs());
	if (deletion.kind === "unchanged") return { answer: stored.object, isPending: true };
	const isRemoval = deletion.kind === "remove";
	const next = isRemoval ? deletion.last : deletion.next;
	const deleted = (object: KubeObject): Deleted => ({
		answer: isRemoval ? removalAnswer(target, object) : object,
		isPending: !isRemoval,
	});
	if (flags.dryRun) return deleted(isRemoval ? stored.object : next);
	const plan = isRemoval ? planRemoval(ports, type, stored, next) : planUpdate(ports, type, stored, next, false);
	const result = await commitPlan(ports, type, plan);
	return result.kind === "committed" ? deleted(result.object) : undefined;
}

function removalAnswer({ type }: Target, object: KubeObject): KubeObject | Status {
	if (type.deleteAnswers === "object") return object;
	const { name, uid } = object.metadata;
	const group = type.group === "" ? {} : { group: type.group };
	return {
		kind: "Status",
		apiVersion: "v1",
		metadata: {},
		status: "Success",
		details: { name, ...group, kind: type.plural, uid },
	};
}

function requirePreconditions({ type, name }: Target, { metadata }: KubeObject, { preconditions }: DeleteFlags): void {
	const { uid, resourceVersion } = preconditions ?? {};
	if (uid !== undefined && uid !== metadata.uid) {
		const why =
			`the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). ` +
			"The object might have been deleted and then recreated";
		throw conflict(type, name, why);
	}
	if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
		const why =
			`the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in ` +
			`record (${metadata.resourceVersion}). The object might have been modified`;
		throw conflict(type, name, why);
	}
}

const POLICIES = ["Foreground", "Background", "Orphan"] as const;

function requireValidOptions({ propagationPolicy, orphanDependents }: DeleteFlags): void {
	const errors: FieldError[] = [];
	const field = "propagationPolicy";
	if (propagationPolicy !== undefined && orphanDependents !== undefined) {
		errors.push(invalid(field, propagationPolicy, "orphanDependents and deletionPropagation cannot be both set"));
	} else if (propagationPolicy !== undefined && !POLICIES.some((policy) => policy === propagationPolicy)) {
		errors.push(notSupported(field, propagationPolicy, [...POLICIES, "nil"]));
	}
	if (errors.length > 0) throw invalidObject({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", errors);
}

/** Deletes each match and answers with what matched, as it was listed. */
export async function deleteCollection(
	ports: ServerPorts,
	target: Target,
	query: ListQuery,
	flags: DeleteFlags,
	context: RequestContext,
): Promise<ListAnswer> {
	const list = await listObjects(ports, target, query, context);
	for (const { metadata } of list.items) {
		const one = { type: target.type, namespace: metadata.namespace ?? "", name: metadata.name };
		await deleteObject(ports, one, flags).catch((error: unknown) => {
			if (!hasReason(error, "NotFound")) throw error;
		});
	}
	return list;
}
