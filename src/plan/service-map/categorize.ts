/**
 * Which endpoints of a port may get new connections: hints, traffic policies, and the fallback to
 * endpoints that are terminating but still serve. @see KEP-1669, KEP-2086, KEP-2433, KEP-3015
 */
import { isExternallyAccessible, type ProxiedPort } from "./service-ports.ts";
import type { ProxyPlace, ServiceEndpoint } from "./slice-endpoints.ts";

/** What the endpoints' hints ask for; `none` when they do not hold for this place, and all endpoints are used. */
export type TopologyMode = "PreferSameNode" | "PreferSameZone" | "none";

export interface EndpointCategories {
	/** For policy Cluster. Empty when no traffic of the port goes by it. */
	readonly cluster: readonly ServiceEndpoint[];
	/** For policy Local. Empty when no traffic of the port goes by it. */
	readonly local: readonly ServiceEndpoint[];
	/** Everything in one of the two lists, once. */
	readonly allReachable: readonly ServiceEndpoint[];
	/** Some endpoint, wherever it is, could take traffic: it makes an empty list mean drop, not refuse. */
	readonly hasAny: boolean;
}

/** `endpoints` sorted; the lists keep its order. */
export function categorizeEndpoints(
	endpoints: readonly ServiceEndpoint[],
	port: ProxiedPort,
	place: ProxyPlace,
): EndpointCategories {
	const isExternal = isExternallyAccessible(port);
	const usesCluster = !port.isInternalLocal || isExternal;
	const usesLocal = port.isInternalLocal || (port.isExternalLocal && isExternal);
	const cluster = usesCluster ? clusterEndpoints(endpoints, place) : [];
	const local = usesLocal ? readyOrServing(endpoints.filter(({ isLocal }) => isLocal)) : [];
	const reachable = new Set([...cluster, ...local]);
	return {
		cluster,
		local,
		allReachable: endpoints.filter((endpoint) => reachable.has(endpoint)),
		hasAny: endpoints.some((endpoint) => endpoint.isReady || isLastResort(endpoint)),
	};
}

/** Hints count only when every ready endpoint has one: half-written hints would overload the few that have. */
export function topologyMode(endpoints: readonly ServiceEndpoint[], { nodeName, zone }: ProxyPlace): TopologyMode {
	const ready = endpoints.filter(({ isReady }) => isReady);
	const holds = (hintsOf: (endpoint: ServiceEndpoint) => readonly string[], own: string | undefined): boolean =>
		own !== undefined &&
		own !== "" &&
		ready.every((endpoint) => hintsOf(endpoint).length > 0) &&
		ready.some((endpoint) => hintsOf(endpoint).includes(own));
	if (holds(({ nodeHints }) => nodeHints, nodeName)) return "PreferSameNode";
	return holds(({ zoneHints }) => zoneHints, zone) ? "PreferSameZone" : "none";
}

/** Terminating endpoints are taken without regard to hints. */
function clusterEndpoints(endpoints: readonly ServiceEndpoint[], place: ProxyPlace): readonly ServiceEndpoint[] {
	const mode = topologyMode(endpoints, place);
	const ready = endpoints.filter((endpoint) => endpoint.isReady && isNear(endpoint, mode, place));
	return ready.length > 0 ? ready : endpoints.filter(isLastResort);
}

function isNear(endpoint: ServiceEndpoint, mode: TopologyMode, { nodeName = "", zone = "" }: ProxyPlace): boolean {
	if (mode === "PreferSameNode") return endpoint.nodeHints.includes(nodeName);
	return mode === "none" || endpoint.zoneHints.includes(zone);
}

function readyOrServing(endpoints: readonly ServiceEndpoint[]): readonly ServiceEndpoint[] {
	const ready = endpoints.filter(({ isReady }) => isReady);
	return ready.length > 0 ? ready : endpoints.filter(isLastResort);
}

function isLastResort({ isServing, isTerminating }: ServiceEndpoint): boolean {
	return isServing && isTerminating;
}
