/** A Service with all that belongs to it: what every check looks at. */
import { keyOf } from "../api/resource.ts";
import type { Endpoints, Pod, Service } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import type { StringMap } from "../api/types/meta.ts";
import { planServiceTable, type ServiceTable } from "../plan/service-map/service-table.ts";
import { endpointSelectorOf } from "../plan/service-selector.ts";
import type { ClientPlace, ProxyView } from "./client-place.ts";
import type { FixTarget } from "./fix.ts";
import type { Scene } from "./snapshot.ts";

export interface SubjectTable {
	/** Of one node; undefined: of none in particular. */
	readonly node: string | undefined;
	readonly table: ServiceTable;
}

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
	/** Where the client is. */
	readonly from: ClientPlace;
	/** What a proxy there makes of it; several when the client may be on several nodes. @param views Default: where the client is. */
	tables(views?: readonly ProxyView[]): readonly SubjectTable[];
}

export function subjectOf(scene: Scene, service: Service, from: ClientPlace): Subject {
	const key = keyOf(service);
	const namespace = service.metadata.namespace ?? "";
	const selector = endpointSelectorOf(service);
	const slices = scene.slicesOf(key);
	return {
		scene,
		service,
		key,
		namespace,
		selector,
		pods: selector === undefined ? [] : scene.podsWith(namespace, selector),
		slices,
		endpoints: scene.endpointsOf(key),
		from,
		// Only asked for where somebody looks at where connections go.
		tables: (views = from.views) =>
			views.map(({ node, place }) => ({ node, table: planServiceTable(service, slices, place) })),
	};
}

export function podName({ metadata }: Pod): string {
	return `Pod/${metadata.name}`;
}

export function serviceName({ service }: Subject): string {
	return `Service/${service.metadata.name}`;
}

export function serviceTarget({ service, namespace }: Subject): FixTarget {
	return { kind: "Service", namespace, name: service.metadata.name };
}

/** `app=web,tier=front` */
export function selectorText(selector: StringMap): string {
	return Object.entries(selector)
		.map(([key, value]) => `${key}=${value}`)
		.join(",");
}
