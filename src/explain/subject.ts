/** A Service with all that belongs to it: what every check looks at. */
import { keyOf } from "../api/resource.ts";
import type { Endpoints, Pod, Service } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import type { StringMap } from "../api/types/meta.ts";
import { ZONE_LABEL } from "../api/well-known.ts";
import { planServiceTable, type ServiceTable } from "../plan/service-map/service-table.ts";
import { endpointSelectorOf } from "../plan/service-selector.ts";
import type { Scene } from "./snapshot.ts";

export interface Subject {
	readonly scene: Scene;
	readonly service: Service;
	/** `namespace/name` */
	readonly key: string;
	readonly namespace: string;
	/** Undefined: the Service has none, or is of type ExternalName. */
	readonly selector: StringMap | undefined;
	/** Pods that the selector means. */
	readonly pods: readonly Pod[];
	readonly slices: readonly EndpointSlice[];
	readonly endpoints: Endpoints | undefined;
	/** The node that is asked from, if any. */
	readonly fromNode: string | undefined;
	/** What a proxy there makes of it. */
	table(): ServiceTable;
}

export function subjectOf(scene: Scene, service: Service, fromNode: string | undefined): Subject {
	const key = keyOf(service);
	const namespace = service.metadata.namespace ?? "";
	const selector = endpointSelectorOf(service);
	const slices = scene.slicesOf(key);
	const zone = fromNode === undefined ? undefined : scene.node(fromNode)?.metadata.labels?.[ZONE_LABEL];
	const place = {
		...(fromNode === undefined ? {} : { nodeName: fromNode }),
		...(zone === undefined ? {} : { zone }),
	};
	return {
		scene,
		service,
		key,
		namespace,
		selector,
		pods: selector === undefined ? [] : scene.podsWith(namespace, selector),
		slices,
		endpoints: scene.endpointsOf(key),
		fromNode,
		// Only asked for where somebody looks at where connections go.
		table: () => planServiceTable(service, slices, place),
	};
}

export function podName({ metadata }: Pod): string {
	return `Pod/${metadata.name}`;
}

export function serviceName({ service }: Subject): string {
	return `Service/${service.metadata.name}`;
}

/** `app=web,tier=front` */
export function selectorText(selector: StringMap): string {
	return Object.entries(selector)
		.map(([key, value]) => `${key}=${value}`)
		.join(",");
}
