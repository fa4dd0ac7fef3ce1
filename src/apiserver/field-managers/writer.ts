/** Who writes, where, and what a write at that place cannot change. */
import { EMPTY_SET, type FieldSet, pathSet } from "../../api/apply/field-set.ts";
import type { Owners } from "../../api/apply/managed-fields.ts";
import { shapeOfMessage } from "../../api/apply/message-shape.ts";
import type { ApplyShape } from "../../api/apply/shape.ts";
import { fieldPath } from "../../api/apply/shaped-value.ts";
import type { Writer } from "../../api/apply/track-update.ts";
import { apiVersionOf, type ResourceType } from "../../api/resource.ts";
import type { RequestContext, ServerPorts } from "../ports.ts";
import { timestamp } from "../timestamp.ts";

export interface WriteOptions {
	readonly fieldManager?: string;
	readonly subresource?: "status" | "scale" | "finalize";
}

const UNKNOWN = "unknown";

export function writerOf(
	{ clock }: Pick<ServerPorts, "clock">,
	type: ResourceType,
	{ fieldManager = "", subresource }: WriteOptions,
	context: RequestContext,
): Writer {
	const asked = fieldManager === "" ? (context.manager ?? "") : fieldManager;
	return {
		shape: shapeOf(type),
		apiVersion: apiVersionOf(type),
		manager: asked === "" ? UNKNOWN : asked,
		subresource: subresource ?? "",
		ignored: ignoredBy(type, subresource),
		now: () => timestamp(clock.wallMs()),
	};
}

export function shapeOf(type: ResourceType): ApplyShape {
	return type.applyShape?.() ?? shapeOfMessage(type.schema);
}

const ignoredByStatus = new WeakMap<ResourceType, FieldSet>();
const STATUS = pathSet(fieldPath("status"));

function ignoredBy(type: ResourceType, subresource: WriteOptions["subresource"]): FieldSet {
	if (subresource !== "status") return type.prepareStatusUpdate === undefined ? EMPTY_SET : STATUS;
	const kept = (type.keptByStatus ?? []).map((path) => fieldPath(...path));
	const ignored = ignoredByStatus.get(type) ?? pathSet(fieldPath("spec"), ...kept);
	ignoredByStatus.set(type, ignored);
	return ignored;
}

/** Without those who wrote in a version that is not served: their fields cannot be told any more. */
export function knownOwners({ types }: Pick<ServerPorts, "types">, type: ResourceType, owners: Owners): Owners {
	const own = apiVersionOf(type);
	const isKnown = ({ apiVersion }: Owners[number]): boolean => apiVersion === own || isServed(types, type, apiVersion);
	return owners.every(isKnown) ? owners : owners.filter(isKnown);
}

/** Versions of what is not in the table are another part's matter. */
function isServed(types: readonly ResourceType[], { kind, ...type }: ResourceType, apiVersion: string): boolean {
	const sameKind = types.filter((each) => each.kind === kind);
	if (!sameKind.some((each) => each.group === type.group)) return true;
	return sameKind.some((each) => apiVersionOf(each) === apiVersion);
}
