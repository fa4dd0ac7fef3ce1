/** `scale`: the size of a workload, read and written without knowing its kind. */
import { shapeOfMessage } from "../../api/apply/message-shape.ts";
import { scaleOf, validateScale, type Workload, withScale } from "../../api/scale.ts";
import { decodeObject } from "../../api/schema/decode.ts";
import { badRequest, conflict, invalidObject, notFound, OBJECT_MODIFIED } from "../../api/status.ts";
import type { Scale } from "../../api/types/autoscaling.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import { applied, checkedConfig } from "../field-managers/apply.ts";
import type { ManagedFields } from "../field-managers/track-write.ts";
import { shapeOf } from "../field-managers/writer.ts";
import type { RequestContext, ServerPorts, Target, WriteFlags } from "../ports.ts";
import { shownEntry } from "../stored-form.ts";
import { configOf, reportRepeats, requireUnrepeated } from "../verbs/apply.ts";
import { applyPatch, type Patch } from "../verbs/patch.ts";
import { getObject } from "../verbs/read.ts";
import { applyUpdate, type UpdateOptions } from "../verbs/update.ts";

export function getScale(ports: ServerPorts, target: Target): Scale {
	return scaleOfObject(target, getObject(ports, target));
}

export async function updateScale(
	ports: ServerPorts,
	target: Target,
	change: ScaleChange,
	flags: WriteFlags,
	context: RequestContext,
): Promise<Scale> {
	for (;;) {
		const stored = shownEntry(ports, target);
		if (stored === undefined) throw notFound(target.type, target.name);
		const options: UpdateOptions = { ...flags, subresource: "scale" };
		const { next, ownedBy } = resizedBy(ports, target, stored.object, change, options, context);
		const owned = ownedBy === undefined ? options : { ...options, ownedBy };
		const updated = await applyUpdate(ports, target, stored, next, owned, context);
		if (updated !== undefined) return scaleOfObject(target, updated);
	}
}

interface Resized {
	readonly next: KubeObject;
	/** Of an apply, which knows who owns what. */
	readonly ownedBy?: ManagedFields;
}

type ScaleChange = { readonly body: unknown } | { readonly patch: Patch };

function resizedBy(
	ports: ServerPorts,
	target: Target,
	parent: KubeObject,
	change: ScaleChange,
	options: UpdateOptions,
	context: RequestContext,
): Resized {
	if (!("patch" in change)) return { next: resized(target, parent, decodedScale(change.body)) };
	const { patch } = change;
	if (patch.type === "apply") return appliedScale(ports, target, parent, patch.body, options, context);
	return {
		next: resized(target, parent, decodedScale(applyPatch("autoscaling.Scale", scaleOfObject(target, parent), patch))),
	};
}

/** Custom resources say where their size is. */
function scaleOfObject({ type }: Target, object: KubeObject): Scale {
	return type.scale?.read(object) ?? scaleOf(workloadOf(object));
}

/** Of the built-in kinds, only workloads have the subresource. */
function workloadOf(object: KubeObject): Workload {
	return object as Workload;
}

/** Whoever applies a size owns the size of the parent, and nothing else of it. */
function appliedScale(
	ports: ServerPorts,
	target: Target,
	parent: KubeObject,
	body: unknown,
	options: UpdateOptions,
	context: RequestContext,
): Resized {
	const config = configOf({ group: "autoscaling", version: "v1", kind: "Scale" }, body);
	requireUnrepeated(options);
	const scale = decodedScale(checkedConfig(shapeOfMessage("autoscaling.Scale"), config).value);
	reportRepeats(options, context);
	const { type, name } = target;
	const { namespace = "" } = parent.metadata;
	const replicas = scale.spec?.replicas;
	const head = {
		apiVersion: parent.apiVersion,
		kind: parent.kind,
		metadata: { name, namespace } as KubeObject["metadata"],
	};
	const resizedHead = type.scale?.write(head, scale) ?? { ...head, ...{ spec: { replicas } } };
	const wanted = replicas === undefined ? head : resizedHead;
	const { object, ownedBy } = applied(
		ports,
		type,
		parent,
		checkedConfig(shapeOf(type), { ...wanted }),
		options,
		context,
	);
	// Only the size of the parent can have changed.
	const size = scaleOfObject(target, { ...parent, ...object }).spec?.replicas;
	return { next: resized(target, parent, { ...scale, spec: size === undefined ? {} : { replicas: size } }), ownedBy };
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
