/** `scale`: the size of a workload, read and written without knowing its kind. */
import { scaleOf, validateScale, type Workload, withScale } from "../../api/scale.ts";
import { decodeObject } from "../../api/schema/decode.ts";
import { badRequest, conflict, invalidObject, notFound, OBJECT_MODIFIED } from "../../api/status.ts";
import type { Scale } from "../../api/types/autoscaling.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import type { RequestContext, ServerPorts, Target, WriteFlags } from "../ports.ts";
import { shownEntry } from "../stored-form.ts";
import { applyPatch, type Patch } from "../verbs/patch.ts";
import { getObject } from "../verbs/read.ts";
import { applyUpdate } from "../verbs/update.ts";

export function getScale(ports: ServerPorts, target: Target): Scale {
	return scaleOfObject(target, getObject(ports, target));
}

export async function updateScale(
	ports: ServerPorts,
	target: Target,
	change: { readonly body: unknown } | { readonly patch: Patch },
	flags: WriteFlags,
	context: RequestContext,
): Promise<Scale> {
	for (;;) {
		const stored = shownEntry(ports, target);
		if (stored === undefined) throw notFound(target.type, target.name);
		const current = scaleOfObject(target, stored.object);
		const body = "patch" in change ? applyPatch("autoscaling.Scale", current, change.patch) : change.body;
		const parent = resized(target, stored.object, decodedScale(body));
		const updated = await applyUpdate(ports, target, stored, parent, flags, context);
		if (updated !== undefined) return scaleOfObject(target, updated);
	}
}

/** Custom resources say where their size is. */
function scaleOfObject({ type }: Target, object: KubeObject): Scale {
	return type.scale?.read(object) ?? scaleOf(workloadOf(object));
}

/** Of the built-in kinds, only workloads have the subresource. */
function workloadOf(object: KubeObject): Workload {
	return object as Workload;
}

function decodedScale(body: unknown): Scale {
	const decoded = decodeObject("autoscaling.Scale", body, { apiVersion: "autoscaling/v1", kind: "Scale" });
	if (decoded.kind === "wrong") throw badRequest(decoded.message);
	return decoded.object as Partial<Scale> as Scale;
}

/** The parent at the asked size; the Scale's uid and resourceVersion are preconditions. */
function resized({ type, name }: Target, parent: KubeObject, scale: Scale): KubeObject {
	const errors = validateScale(scale);
	if (errors.length > 0) throw invalidObject({ group: "autoscaling", kind: "Scale" }, name, errors);
	const { uid = "", resourceVersion = "" } = scale.metadata ?? {};
	if (uid !== "" && uid !== parent.metadata.uid) {
		const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${parent.metadata.uid}`;
		throw conflict(type, name, why);
	}
	if (resourceVersion !== "" && resourceVersion !== parent.metadata.resourceVersion) {
		throw conflict(type, name, OBJECT_MODIFIED);
	}
	return type.scale?.write(parent, scale) ?? withScale(workloadOf(parent), scale);
}
