/**
 * Decides how the Endpoints of one Service must change. Pure, like every planner.
 *
 * @see https://kubernetes.io/docs/concepts/services-networking/service/#endpoints
 */
import type { EndpointAddress, EndpointSubset, Endpoints, Pod, Service } from "../../api/types/core.ts";
import type { Draft, StringMap } from "../../api/types/meta.ts";
import {
	ENDPOINTS_CONTROLLER,
	ENDPOINTS_MANAGED_BY_LABEL,
	HEADLESS_LABEL,
	OVER_CAPACITY_ANNOTATION,
	TRIGGER_TIME_ANNOTATION,
} from "../../api/well-known.ts";
import { deepEqual, ownValue } from "../../kernel/json.ts";
import { endpointSelectorOf, isHeadless } from "../service-selector.ts";
import { subsetsOf } from "./pod-subsets.ts";
import { isPacked, repacked } from "./repack.ts";
import { SubsetIndex } from "./subset-index.ts";
import { isOverCapacity, truncated } from "./truncate.ts";

export interface EndpointsWorld {
	/** undefined: the Service is gone. */
	readonly service: Service | undefined;
	/** The Pods that the Service selects, or the index of them that is kept for the Service. */
	readonly pods: readonly Pod[] | SubsetIndex;
	readonly existing: Endpoints | undefined;
	/** What written Endpoints are annotated with; see trigger-time.ts. */
	readonly triggerTime?: string | undefined;
}

export interface EndpointsPolicy {
	/**
	 * Upstream writes truncated Endpoints at every sync, also when only the trigger time would change.
	 * That serves nobody and wakes every watcher, so it is off by default.
	 */
	readonly rewritesUnchanged: boolean;
}

export type EndpointsPlan =
	| { readonly kind: "none" }
	| { readonly kind: "create"; readonly endpoints: Draft<Endpoints> }
	| { readonly kind: "update"; readonly endpoints: Endpoints }
	/** Of whatever is there under the name; nothing may be. */
	| { readonly kind: "delete" };

const NOTHING: EndpointsPlan = { kind: "none" };

export function planEndpoints(
	world: EndpointsWorld,
	policy: EndpointsPolicy = { rewritesUnchanged: false },
): EndpointsPlan {
	const { service, existing } = world;
	if (service === undefined) return { kind: "delete" };
	if (endpointSelectorOf(service) === undefined) return NOTHING;
	const subsets = world.pods instanceof SubsetIndex ? world.pods.subsets() : subsetsOf(service, world.pods);
	if (existing !== undefined && isRight(existing, service, subsets)) return NOTHING;

	const annotations = annotationsOf(existing, world.triggerTime, isOverCapacity(subsets));
	const content = {
		metadata: { ...existing?.metadata, name: service.metadata.name, labels: labelsOf(service), annotations },
		...(subsets.length === 0 ? {} : { subsets: truncated(subsets) }),
	};
	if (existing === undefined) return { kind: "create", endpoints: withNamespace(content, service) };
	const { subsets: _, ...rest } = existing;
	const endpoints: Endpoints = { ...rest, ...content, metadata: { ...existing.metadata, ...content.metadata } };
	return !policy.rewritesUnchanged && sameButTriggerTime(existing, endpoints) ? NOTHING : { kind: "update", endpoints };
}

function withNamespace(endpoints: Draft<Endpoints>, service: Service): Draft<Endpoints> {
	const { namespace } = service.metadata;
	return namespace === undefined ? endpoints : { ...endpoints, metadata: { ...endpoints.metadata, namespace } };
}

/** Exactly the Service's labels, and two that the controller decides. What others have added goes. */
function labelsOf(service: Service): StringMap {
	const { [HEADLESS_LABEL]: _, ...labels } = service.metadata.labels ?? {};
	return {
		...labels,
		...(isHeadless(service) ? { [HEADLESS_LABEL]: "" } : {}),
		[ENDPOINTS_MANAGED_BY_LABEL]: ENDPOINTS_CONTROLLER,
	};
}

function annotationsOf(
	existing: Endpoints | undefined,
	triggerTime: string | undefined,
	isTruncated: boolean,
): StringMap {
	const stored = existing?.metadata.annotations ?? {};
	const { [TRIGGER_TIME_ANNOTATION]: _, [OVER_CAPACITY_ANNOTATION]: __, ...others } = stored;
	return {
		...others,
		...(triggerTime === undefined ? {} : { [TRIGGER_TIME_ANNOTATION]: triggerTime }),
		...(isTruncated ? { [OVER_CAPACITY_ANNOTATION]: "truncated" } : {}),
	};
}

/** Whether the stored object needs no write. One that says it is over capacity is looked at more closely. */
function isRight(existing: Endpoints, service: Service, subsets: readonly EndpointSubset[]): boolean {
	const stored = existing.subsets ?? [];
	return (
		ownValue(existing.metadata.annotations ?? {}, OVER_CAPACITY_ANNOTATION) === undefined &&
		!isOverCapacity(stored) &&
		labelsAreRight(existing, service) &&
		(sameSubsets(stored, subsets) || (!isPacked(stored) && sameSubsets(repacked(stored), subsets)))
	);
}

/** The headless label is not compared. */
function labelsAreRight(existing: Endpoints, service: Service): boolean {
	const wanted = service.metadata.labels ?? {};
	const { [HEADLESS_LABEL]: _, [ENDPOINTS_MANAGED_BY_LABEL]: manager, ...labels } = existing.metadata.labels ?? {};
	return manager === ENDPOINTS_CONTROLLER && deepEqual(labels, wanted);
}

/** Empty lists equal absent ones, and the resourceVersion of targets plays no part. */
function sameSubsets(a: readonly EndpointSubset[], b: readonly EndpointSubset[]): boolean {
	return a.length === b.length && a.every((subset, at) => sameSubset(subset, b[at] ?? {}));
}

function sameSubset(a: EndpointSubset, b: EndpointSubset): boolean {
	return (
		sameAddresses(a.addresses, b.addresses) &&
		sameAddresses(a.notReadyAddresses, b.notReadyAddresses) &&
		deepEqual(a.ports ?? [], b.ports ?? [])
	);
}

function sameAddresses(a: readonly EndpointAddress[] = [], b: readonly EndpointAddress[] = []): boolean {
	return a.length === b.length && a.every((address, at) => sameAddress(address, b[at] as EndpointAddress));
}

function sameAddress(a: EndpointAddress, b: EndpointAddress): boolean {
	if (a === b) return true;
	// Most that differ do so here.
	return a.ip === b.ip && a.targetRef?.uid === b.targetRef?.uid && deepEqual(withoutVersion(a), withoutVersion(b));
}

function withoutVersion(address: EndpointAddress): unknown {
	if (address.targetRef?.resourceVersion === undefined) return address;
	const { resourceVersion: _, ...targetRef } = address.targetRef;
	return { ...address, targetRef };
}

function sameButTriggerTime(stored: Endpoints, next: Endpoints): boolean {
	const essence = ({ metadata }: Endpoints): unknown => {
		const { [TRIGGER_TIME_ANNOTATION]: _, ...annotations } = metadata.annotations ?? {};
		return [annotations, metadata.labels ?? {}];
	};
	return deepEqual(essence(stored), essence(next)) && sameSubsets(stored.subsets ?? [], next.subsets ?? []);
}
