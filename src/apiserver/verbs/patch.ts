/** PATCH: apply the patch to the stored object, then go the way of an update. */

import { applyJsonPatch, unknownOperationFields } from "../../api/patch/json-patch.ts";
import { applyMergePatch } from "../../api/patch/merge-patch.ts";
import type { PatchResult } from "../../api/patch/patch-result.ts";
import { applyStrategicMergePatch } from "../../api/patch/strategic-merge-patch.ts";
import { ApiError, badRequest, invalidObject, notFound } from "../../api/status.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import { decodeBody } from "../decode-body.ts";
import { inOneGo, type RequestContext, type ServerPorts, type Target } from "../ports.ts";
import { shownEntry } from "../stored-form.ts";
import { applyObject } from "./apply.ts";
import { applyUpdate, type UpdateAnswer, type UpdateOptions } from "./update.ts";

/** Says what to change of the stored object. */
export interface ChangePatch {
	readonly type: "json" | "merge" | "strategic";
	/** Plain data, as JSON.parse gives it. */
	readonly body: unknown;
}

/** Says what the object is to be, as far as the applier cares. */
export interface ApplyPatch {
	readonly type: "apply";
	readonly body: unknown;
}

export type Patch = ChangePatch | ApplyPatch;

export async function patchObject(
	ports: ServerPorts,
	target: Target,
	patch: Patch,
	options: UpdateOptions,
	context: RequestContext,
): Promise<UpdateAnswer> {
	if (patch.type === "apply") return applyObject(ports, target, patch.body, options, context);
	if (patch.type === "strategic" && target.type.custom !== undefined) throw noStrategicPatch();
	for (let attempt = context; ; attempt = inOneGo(context)) {
		const stored = shownEntry(ports, target);
		if (stored === undefined) throw notFound(target.type, target.name);
		const result = applyPatch(target.type.schema, stored.object, patch);
		if (attempt.turn !== undefined) await attempt.turn();
		const proposed = decodePatched(target, result, stored.object, patch, options, context);
		requireSameName(target, proposed);
		if (attempt.turn !== undefined) await attempt.turn();
		const object = await applyUpdate(ports, target, stored, proposed, options, attempt);
		if (object !== undefined) return { object, isCreated: false };
	}
}

/** Nobody has said how lists of custom resources are merged. */
function noStrategicPatch(): ApiError {
	const accepted = "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
	const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
	return new ApiError("UnsupportedMediaType", message);
}

/** The patched form of `original`, not yet checked. @throws {ApiError} `BadRequest`, `Invalid`. */
export function applyPatch(schema: string, original: KubeObject, patch: ChangePatch): unknown {
	const result = patched(schema, { ...original }, patch);
	if (result.kind === "ok") return result.value;
	if (result.code === 400) throw badRequest(result.message);
	// An error that has no reason of its own there: clients show its text alone.
	if (result.code === 500) throw new ApiError("", result.message);
	if (result.code === 413) throw new ApiError("RequestEntityTooLarge", result.message);
	// A real server gives no more than this for a JSON patch that does not fit.
	const message =
		patch.type === "json" ? "the server rejected our request due to an error in our request" : result.message;
	throw new ApiError("Invalid", message);
}

function patched(
	schema: string,
	original: Readonly<Record<string, unknown>>,
	{ type, body }: ChangePatch,
): PatchResult {
	switch (type) {
		case "json":
			return applyJsonPatch(original, body);
		case "merge":
			return applyMergePatch(original, body);
		case "strategic":
			return applyStrategicMergePatch(schema, original, body);
	}
}

/** Unknown fields of a patch are 422 on the field `patch`, where those of a whole object are 400. */
function decodePatched(
	target: Target,
	result: unknown,
	stored: KubeObject,
	patch: ChangePatch,
	options: UpdateOptions,
	context: RequestContext,
): KubeObject {
	const found: string[] = [
		...(options.oddities ?? []),
		...(patch.type === "json" ? unknownOperationFields(patch.body) : []),
	];
	const collecting: RequestContext = { user: context.user, warn: (text) => found.push(text) };
	const object = decodeBody(target.type, result, { fieldValidation: "Warn" }, collecting, stored);
	if (found.length === 0 || options.fieldValidation === "Ignore") return object;
	if (options.fieldValidation === "Warn") {
		for (const text of found) context.warn(text);
		return object;
	}
	const detail = `strict decoding error: ${found.join(", ")}`;
	throw invalidObject({ group: "", kind: "" }, "", [
		{ type: "Invalid", field: "patch", body: `Invalid value: ${detail}` },
	]);
}

function requireSameName({ name, namespace, type }: Target, { metadata }: KubeObject): void {
	if (metadata.name !== name) {
		throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
	}
	if (type.namespaced && metadata.namespace !== namespace) {
		throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
	}
}
