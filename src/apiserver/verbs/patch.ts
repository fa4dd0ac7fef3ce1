/** PATCH: apply the patch to the stored object, then go the way of an update. */

import { applyMergePatch } from "../../api/patch/merge-patch.ts";
import { applyStrategicMergePatch } from "../../api/patch/strategic-merge-patch.ts";
import { ApiError, badRequest, invalidObject, notFound } from "../../api/status.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import { isObject } from "../../kernel/json.ts";
import { decodeBody } from "../decode-body.ts";
import type { RequestContext, ServerPorts, Target } from "../ports.ts";
import { storeKey } from "../ports.ts";
import { applyUpdate, type UpdateOptions } from "./update.ts";

export interface Patch {
	readonly type: "json" | "merge" | "strategic";
	/** Plain data, as JSON.parse gives it. */
	readonly body: unknown;
}

export async function patchObject(
	ports: ServerPorts,
	target: Target,
	patch: Patch,
	options: UpdateOptions,
	context: RequestContext,
): Promise<KubeObject> {
	for (;;) {
		const stored = ports.store.space(target.type.storagePrefix).get(storeKey(target));
		if (stored === undefined) throw notFound(target.type, target.name);
		const patched = applyPatch(ports, target.type.schema, stored.object, patch);
		const proposed = decodePatched(target, patched, options, context);
		requireSameName(target, proposed);
		const object = await applyUpdate(ports, target, stored, proposed, options, context);
		if (object !== undefined) return object;
	}
}

/** The patched form of `original`, not yet checked. @throws {ApiError} `BadRequest`, `Invalid`. */
export function applyPatch(
	{ applyJsonPatch }: Pick<ServerPorts, "applyJsonPatch">,
	schema: string,
	original: unknown,
	patch: Patch,
): unknown {
	if (patch.type === "json") return applyJsonPatch(original, patch.body);
	if (!isObject(patch.body)) throw badRequest('the patch must be an object, such as {"metadata":{"labels":{"a":"b"}}}');
	if (patch.type === "merge") return applyMergePatch(original, patch.body);
	const result = applyStrategicMergePatch(schema, original, patch.body);
	if (result.kind === "ok") return result.value;
	throw result.code === 400 ? badRequest(result.message) : new ApiError("Invalid", result.message);
}

/** Unknown fields of a patch are 422 on the field `patch`, where those of a whole object are 400. */
function decodePatched(target: Target, patched: unknown, options: UpdateOptions, context: RequestContext): KubeObject {
	const found: string[] = [];
	const collecting: RequestContext = { user: context.user, warn: (text) => found.push(text) };
	const object = decodeBody(target.type, patched, { fieldValidation: "Warn" }, collecting);
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
