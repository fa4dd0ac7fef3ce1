/**
 * Everything a proxy, a gateway or an explanation has to know of one Service, as data that can be sent to
 * a worker: made anew whenever the Service or one of its slices changes.
 */
import { keyOf } from "../../api/resource.ts";
import type { Service } from "../../api/types/core.ts";
import type { EndpointSlice } from "../../api/types/discovery.ts";
import type { IPFamily } from "../../api/types/meta.ts";
import { TRIGGER_TIME_ANNOTATION } from "../../api/well-known.ts";
import { categorizeEndpoints, type HintsUse, type SkippedEndpoint } from "./categorize.ts";
import { type ProxiedPort, proxiedPorts } from "./service-ports.ts";
import {
	endpointsByPort,
	type ProxyPlace,
	portKey,
	type ServiceEndpoint,
	serviceKeyOfSlice,
} from "./slice-endpoints.ts";

/** Where a connection can go. */
export interface Target {
	readonly ip: string;
	readonly port: number;
	readonly nodeName?: string;
	/** `namespace/name` of the Pod. */
	readonly podKey?: string;
}

export interface TablePort extends ProxiedPort {
	/** For traffic under policy Cluster, sorted by address and port as text. */
	readonly cluster: readonly Target[];
	/** For traffic under policy Local. */
	readonly local: readonly Target[];
	/** Some endpoint could take traffic, even if it is in neither list. */
	readonly hasAny: boolean;
	readonly hints: HintsUse;
	/** Left out of the cluster list, and why. */
	readonly skipped: readonly SkippedEndpoint[];
	/** Of UDP ports: addresses that serve, terminating or not, wherever they are. A flow to another one is stale. */
	readonly servingIPs: readonly string[];
}

export interface ServiceTable {
	/** `namespace/name`. */
	readonly key: string;
	/** resourceVersion of the EndpointSlices that this was made from. */
	readonly asOf?: string;
	/** The Service's creationTimestamp: of two that want the same address the older has it. */
	readonly createdAt?: string;
	/** When the newest change behind the slices happened, wall milliseconds; absent when no slice tells. */
	readonly triggeredMs?: number;
	/** In the Service's order, IPv4 before IPv6. Empty: the Service is not proxied. */
	readonly ports: readonly TablePort[];
	/** Different addresses of endpoints that are ready and on this node: what a health check node port counts. */
	readonly localReady: number;
}

const FAMILIES: readonly IPFamily[] = ["IPv4", "IPv6"];

/** `slices` may hold slices of other Services: only those that name this one count. */
export function planServiceTable(
	service: Service,
	slices: readonly EndpointSlice[],
	place: ProxyPlace & { readonly asOf?: string } = {},
): ServiceTable {
	const key = keyOf(service);
	const own = slices.filter((slice) => serviceKeyOfSlice(slice) === key);
	const found = FAMILIES.flatMap((family) => portsOf(service, own, { family, place }));
	const ready = found.flatMap(({ endpoints }) => endpoints.filter(({ isReady, isLocal }) => isReady && isLocal));
	return {
		key,
		...(place.asOf === undefined ? {} : { asOf: place.asOf }),
		createdAt: service.metadata.creationTimestamp,
		...triggeredBy(own),
		ports: found.map(({ port }) => port),
		localReady: new Set(ready.map(({ ip }) => ip)).size,
	};
}

/** The controller notes in each slice when the Pod or Service changed that made it write. */
function triggeredBy(slices: readonly EndpointSlice[]): { readonly triggeredMs?: number } {
	const times = slices.flatMap(({ metadata }) => {
		const text = metadata.annotations?.[TRIGGER_TIME_ANNOTATION];
		const ms = text === undefined ? Number.NaN : Date.parse(text);
		return Number.isNaN(ms) ? [] : [ms];
	});
	return times.length === 0 ? {} : { triggeredMs: Math.max(...times) };
}

interface PortWithEndpoints {
	readonly port: TablePort;
	readonly endpoints: readonly ServiceEndpoint[];
}

function portsOf(
	service: Service,
	slices: readonly EndpointSlice[],
	{ family, place }: { readonly family: IPFamily; readonly place: ProxyPlace },
): readonly PortWithEndpoints[] {
	const ports = proxiedPorts(service, family);
	if (ports.length === 0) return [];
	const lists = endpointsByPort(slices, family, place);
	return ports.map((port) => {
		const endpoints = lists.get(portKey(port.name, port.protocol)) ?? [];
		const { cluster, local, hasAny, hints, skipped } = categorizeEndpoints(endpoints, port, place);
		const serving = port.protocol === "UDP" ? endpoints.filter(({ isServing }) => isServing) : [];
		const targets = { cluster: cluster.map(targetOf), local: local.map(targetOf) };
		return {
			port: { ...port, ...targets, hasAny, hints, skipped, servingIPs: serving.map(({ ip }) => ip) },
			endpoints,
		};
	});
}

function targetOf({ ip, port, nodeName, podKey }: ServiceEndpoint): Target {
	return {
		ip,
		port,
		...(nodeName === undefined ? {} : { nodeName }),
		...(podKey === undefined ? {} : { podKey }),
	};
}
