/** What a slice says about itself: labels, owner, trigger time. */
import type { Service } from "../../api/types/core.ts";
import type { AddressType, EndpointSlice } from "../../api/types/discovery.ts";
import type { Draft, OwnerReference, StringMap } from "../../api/types/meta.ts";
import {
	ENDPOINTSLICE_CONTROLLER,
	HEADLESS_LABEL,
	SERVICE_NAME_LABEL,
	SLICE_MANAGED_BY_LABEL,
	TRIGGER_TIME_ANNOTATION,
} from "../../api/well-known.ts";
import { deepEqual } from "../../kernel/json.ts";
import { isHeadless } from "../service-selector.ts";

/** Labels of a slice that the controller alone decides; a Service's own values for them are ignored. */
const RESERVED: ReadonlySet<string> = new Set([SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL, HEADLESS_LABEL]);

function unreserved(labels: StringMap | undefined): StringMap {
	return Object.fromEntries(Object.entries(labels ?? {}).filter(([key]) => !RESERVED.has(key)));
}

/** The labels that every slice of the Service is written with. */
export function sliceLabels(service: Service): StringMap {
	return {
		...unreserved(service.metadata.labels),
		...(isHeadless(service) ? { [HEADLESS_LABEL]: "" } : {}),
		[SERVICE_NAME_LABEL]: service.metadata.name,
		[SLICE_MANAGED_BY_LABEL]: ENDPOINTSLICE_CONTROLLER,
	};
}

/** Reserved labels are not compared: an edit of one does not by itself cause a write. */
export function labelsDiffer(slice: EndpointSlice, service: Service): boolean {
	return !deepEqual(unreserved(slice.metadata.labels), unreserved(service.metadata.labels));
}

export function isOwnedBy(slice: EndpointSlice, service: Service): boolean {
	return (slice.metadata.ownerReferences ?? []).some(
		({ apiVersion, kind, uid }) => apiVersion === "v1" && kind === "Service" && uid === service.metadata.uid,
	);
}

/** A slice that is not there yet; the server makes up the rest of its name. */
export function newSlice(
	service: Service,
	addressType: AddressType,
	contents: Pick<EndpointSlice, "endpoints" | "ports">,
): Draft<EndpointSlice> {
	const { name, namespace, uid } = service.metadata;
	const owner: OwnerReference = {
		apiVersion: "v1",
		kind: "Service",
		name,
		uid,
		controller: true,
		blockOwnerDeletion: true,
	};
	return {
		metadata: {
			generateName: `${name}-`,
			...(namespace === undefined ? {} : { namespace }),
			labels: sliceLabels(service),
			ownerReferences: [owner],
		},
		addressType,
		...contents,
	};
}

/**
 * Whether the slice already is the placeholder that would be written. A missing label counts as an
 * empty one, so the headless label plays no part; names, annotations and owners play none either.
 */
export function isPlaceholder(slice: EndpointSlice, placeholder: Draft<EndpointSlice>): boolean {
	return (
		slice.metadata.namespace === placeholder.metadata.namespace &&
		slice.addressType === placeholder.addressType &&
		(slice.endpoints ?? []).length === 0 &&
		(slice.ports ?? []).length === 0 &&
		deepEqual(nonEmpty(slice.metadata.labels), nonEmpty(placeholder.metadata.labels))
	);
}

function nonEmpty(labels: StringMap | undefined): StringMap {
	return Object.fromEntries(Object.entries(labels ?? {}).filter(([, value]) => value !== ""));
}

/** The slice with the trigger time, or without one if there is none. */
export function withTriggerTime<S extends Pick<Draft<EndpointSlice>, "metadata">>(
	slice: S,
	triggerTime: string | undefined,
): S {
	const { [TRIGGER_TIME_ANNOTATION]: _, ...others } = slice.metadata.annotations ?? {};
	const annotations = triggerTime === undefined ? others : { ...others, [TRIGGER_TIME_ANNOTATION]: triggerTime };
	return { ...slice, metadata: { ...slice.metadata, annotations } };
}
