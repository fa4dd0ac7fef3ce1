/** PUT of an object or of its status, and the part of a PATCH that comes after the patch was applied. */

import { sameOwners } from "../../api/apply/managed-fields.ts";
import { required } from "../../api/field-error.ts";
import { validateMetadataUpdate } from "../../api/metadata-validation.ts";
import { badRequest, conflict, invalidObject, notFound, OBJECT_MODIFIED } from "../../api/status.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import { deepEqual, ownValue } from "../../kernel/json.ts";
import type { Entry } from "../../store/entry.ts";
import { requireNoEscalation } from "../access/escalation.ts";
import { decodeBody } from "../decode-body.ts";
import { type ManagedFields, trackedUpdate } from "../field-managers/track-write.ts";
import { raisesGeneration } from "../generation.ts";
import { updatedMetadata } from "../metadata.ts";
import { inOneGo, type RequestContext, type ServerPorts, type Target, type WriteFlags } from "../ports.ts";
import { shownEntry } from "../stored-form.ts";
import { commitPlan, planRemoval, planUpdate, type WritePlan } from "../write-plan.ts";
import { createObject } from "./create.ts";

export interface UpdateOptions extends WriteFlags {
	readonly subresource?: "status" | "finalize" | "scale";
	/** An apply knows already who owns what. */
	readonly ownedBy?: ManagedFields;
}

export interface UpdateAnswer {
	readonly object: KubeObject;
	/** The PUT made it: 201 instead of 200. */
	readonly isCreated: boolean;
}

export async function updateObject(
	ports: ServerPorts,
	target: Target,
	body: unknown,
	options: UpdateOptions,
	context: RequestContext,
): Promise<UpdateAnswer> {
	const proposed = decodeBody(target.type, body, options, context, shownEntry(ports, target)?.object);
	requireSameName(target, proposed);
	for (let attempt = context; ; attempt = inOneGo(context)) {
		if (attempt.turn !== undefined) await attempt.turn();
		const stored = shownEntry(ports, target);
		if (stored === undefined) {
			if (!target.type.createOnUpdate || options.subresource !== undefined) {
				throw notFound(target.type, target.name);
			}
			ports.authorizer.authorize(context.user, { verb: "create", ...target });
			requireUnbound(target, proposed);
			return { object: await createObject(ports, target, body, options, attempt), isCreated: true };
		}
		const object = await applyUpdate(ports, target, stored, proposed, options, attempt);
		if (object !== undefined) return { object, isCreated: false };
	}
}

/** A uid names an object that is gone, and must not be made anew as another one. @throws {ApiError} `Conflict` */
function requireUnbound({ type, name }: Target, { metadata: { uid = "" } }: KubeObject): void {
	if (uid === "") return;
	throw conflict(type, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: `);
}

/** @throws {ApiError} `BadRequest` */
export function requireSameName({ name, namespace, type }: Target, { metadata }: KubeObject): void {
	if (metadata.name !== "" && metadata.name !== name) {
		throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
	}
	if (type.namespaced && (metadata.namespace ?? namespace) !== namespace) {
		throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
	}
}

/**
 * Brings `proposed` over the stored object.
 *
 * @returns undefined when someone else wrote meanwhile: then the caller tries again on the newer object, and
 * fails if the client said which version it means. A patch does not say so by what it leaves alone.
 */
export async function applyUpdate(
	ports: ServerPorts,
	target: Target,
	stored: Entry,
	proposed: KubeObject,
	options: UpdateOptions,
	context: RequestContext,
): Promise<KubeObject | undefined> {
	const { type } = target;
	requireMeantVersion(target, stored.object, proposed);
	const merged = { ...proposed, metadata: updatedMetadata(proposed.metadata, stored.object.metadata, context) };
	const complete = type.withDefaults(merged);
	if (context.turn !== undefined) await context.turn();
	const tracked = trackedUpdate(ports, type, stored.object, complete, options, context);
	if (context.turn !== undefined) await context.turn();
	const next = preparedUpdate(type, stored.object, tracked, options);
	const plan = planUpdate(ports, type, stored, next, options.dryRun);
	requireNoEscalation(ports, target, context.user, plan.object, stored.object);
	requireValidUpdate(target, plan.object, stored.object, options);
	for (const text of type.warnings(plan.object, stored.object)) context.warn(text);
	const isGone = isFinished(plan.object);
	if (!isGone && changesNothing(plan.object, stored.object)) return stored.object;
	if (options.dryRun) return plan.object;
	const final: WritePlan = isGone ? planRemoval(ports, type, stored, plan.object) : plan;
	const result = await commitPlan(ports, type, final);
	return result.kind === "committed" ? result.object : undefined;
}

/**
 * If the client says which version it means, it must be the stored one.
 * @throws {ApiError} `Conflict`, or `Invalid` where a kind does not allow to leave it out.
 */
function requireMeantVersion({ type, name }: Target, stored: KubeObject, { metadata }: KubeObject): void {
	const { uid = "", resourceVersion = "" } = metadata;
	if (uid !== "" && uid !== stored.metadata.uid) {
		const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${stored.metadata.uid}`;
		throw conflict(type, name, why);
	}
	if (resourceVersion === "" || resourceVersion === "0") {
		if (type.unconditionalUpdate) return;
		const error = required("metadata.resourceVersion", "must be specified for an update");
		throw invalidObject(type, name, [
			{ ...error, type: "Invalid", body: "Invalid value: 0: must be specified for an update" },
		]);
	}
	if (resourceVersion !== stored.metadata.resourceVersion) throw conflict(type, name, OBJECT_MODIFIED);
}

/** When somebody owned something last is no change by itself. */
function changesNothing(next: KubeObject, stored: KubeObject): boolean {
	return (
		equalBut("metadata", next, stored) &&
		equalBut("managedFields", next.metadata, stored.metadata) &&
		sameOwners(next.metadata.managedFields, stored.metadata.managedFields)
	);
}

/** Equality of plain data but for one member, without a copy: every write asks. */
function equalBut(except: string, a: object, b: object): boolean {
	const isEqual = (key: string): boolean => key === except || deepEqual(ownValue(a, key), ownValue(b, key));
	return Object.keys(a).every(isEqual) && Object.keys(b).every((key) => Object.hasOwn(a, key) || isEqual(key));
}

function preparedUpdate(
	type: Target["type"],
	stored: KubeObject,
	tracked: KubeObject,
	{ subresource }: UpdateOptions,
): KubeObject {
	const next = prepare(type, tracked, stored, subresource);
	// What a controller reports, annotations of the status write included, is no change of what is wanted.
	const isReport = subresource === "status" || subresource === "finalize";
	if (isReport || !raisesGeneration(type, next, stored)) return next;
	return { ...next, metadata: { ...next.metadata, generation: (stored.metadata.generation ?? 0) + 1 } };
}

function prepare(
	type: Target["type"],
	next: KubeObject,
	stored: KubeObject,
	subresource: UpdateOptions["subresource"],
): KubeObject {
	if (subresource === "status") return type.prepareStatusUpdate?.(next, stored) ?? next;
	if (subresource === "finalize") return withFinalizersOf(next, stored);
	return type.prepareUpdate(next, stored);
}

/** `/finalize` of a Namespace changes `spec.finalizers` and nothing else. */
function withFinalizersOf(next: KubeObject, stored: KubeObject): KubeObject {
	const { finalizers = [] } = (next as { spec?: { finalizers?: readonly string[] } }).spec ?? {};
	return { ...stored, ...(finalizers.length > 0 ? { spec: { finalizers } } : { spec: {} }) } as KubeObject;
}

function requireValidUpdate(
	{ type, name }: Target,
	next: KubeObject,
	stored: KubeObject,
	{ subresource }: UpdateOptions,
): void {
	if (subresource === "finalize") return;
	const own =
		subresource === "status" ? (type.validateStatusUpdate?.(next, stored) ?? []) : type.validateUpdate(next, stored);
	const errors = [...validateMetadataUpdate(next.metadata, stored.metadata, type), ...own];
	if (errors.length > 0) throw invalidObject(type, name, errors);
}

/** Deleted before, and the last thing that held it has let go: this very update removes it. */
function isFinished(object: KubeObject): boolean {
	const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
	if (deletionTimestamp === undefined || finalizers.length > 0 || deletionGracePeriodSeconds > 0) return false;
	if (object.kind !== "Namespace" || object.apiVersion !== "v1") return true;
	const held = (object as { spec?: { finalizers?: readonly string[] } }).spec?.finalizers ?? [];
	return held.length === 0;
}
