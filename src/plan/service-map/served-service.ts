/**
 * A Service with its slices, as proxies of any node need it: data that can be sent to a worker, without what no
 * proxy reads.
 */
import { keyOf } from "../../api/resource.ts";
import type { Service } from "../../api/types/core.ts";
import type { EndpointSlice } from "../../api/types/discovery.ts";
import { deepEqual } from "../../kernel/json.ts";

export interface ServedService {
	/** `namespace/name`. */
	readonly key: string;
	/** resourceVersion of the EndpointSlices. */
	readonly asOf: string;
	readonly service: Service;
	readonly slices: readonly EndpointSlice[];
}

export function servedService(service: Service, slices: readonly EndpointSlice[], asOf: string): ServedService {
	return { key: keyOf(service), asOf, service: lean(service), slices: slices.map(lean) };
}

/** Whether traffic goes the same way. Slices are frozen and shared: one that did not change is the same object. */
export function isServedAlike(
	a: { readonly service: Service; readonly slices: readonly EndpointSlice[] },
	b: { readonly service: Service; readonly slices: readonly EndpointSlice[] },
): boolean {
	return (
		a.slices.length === b.slices.length &&
		a.slices.every((slice, index) => slice === b.slices[index]) &&
		deepEqual(a.service.spec, b.service.spec) &&
		deepEqual(a.service.status, b.service.status) &&
		deepEqual(a.service.metadata.labels, b.service.metadata.labels)
	);
}

function lean<T extends Service | EndpointSlice>(object: T): T {
	const { name, namespace = "", uid, labels, generation, creationTimestamp, resourceVersion } = object.metadata;
	const more = { ...(labels === undefined ? {} : { labels }), ...(generation === undefined ? {} : { generation }) };
	return { ...object, metadata: { name, namespace, uid, creationTimestamp, resourceVersion, ...more } };
}
