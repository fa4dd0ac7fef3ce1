/**
 * Which endpoints of a port may get new connections: hints, traffic policies, and the fallback to
 * endpoints that are terminating but still serve. @see KEP-1669, KEP-2086, KEP-2433, KEP-3015
 */
import { isExternallyAccessible, type ProxiedPort } from "./service-ports.ts";
import type { ProxyPlace, ServiceEndpoint } from "./slice-endpoints.ts";

/** What the endpoints' hints ask for; `none` when they do not hold for this place, and all endpoints are used. */
export type TopologyMode = "PreferSameNode" | "PreferSameZone" | "none";

/** What became of the hints, for people: which of them holds here, or why none does. */
export interface HintsUse {
	readonly mode: TopologyMode;
	/** Absent when they hold, or when no endpoint has any. */
	readonly ignored?:
		| "a ready endpoint has no hint"
		| "no hint names this zone"
		| "this node has no zone"
		| "no endpoint is ready";
}

/** Why an endpoint gets no new connections under policy Cluster. */
export type SkipReason =
	| "not ready"
	| "terminating, and others are ready"
	| "terminating, and not serving"
	| "hinted at other zones"
	| "hinted at other nodes";

export interface SkippedEndpoint {
	readonly ip: string;
	readonly port: number;
	readonly why: SkipReason;
}

export interface EndpointCategories {
	/** For policy Cluster. Empty when no traffic of the port goes by it. */
	readonly cluster: readonly ServiceEndpoint[];
	/** For policy Local. Empty when no traffic of the port goes by it. */
	readonly local: readonly ServiceEndpoint[];
	/** Everything in one of the two lists, once. */
	readonly allReachable: readonly ServiceEndpoint[];
	/** Some endpoint, wherever it is, could take traffic: it makes an empty list mean drop, not refuse. */
	readonly hasAny: boolean;
	readonly hints: HintsUse;
	/** What is left out of the cluster list, when traffic goes by it. */
	readonly skipped: readonly SkippedEndpoint[];
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
	const hints = hintsUse(endpoints, place);
	const cluster = usesCluster ? clusterEndpoints(endpoints, hints.mode, place) : [];
	const local = usesLocal
		? readyOrServing(
				endpoints.filter(({ isLocal }) => isLocal),
				place,
			)
		: [];
	const reachable = new Set([...cluster, ...local]);
	return {
		cluster,
		local,
		allReachable: endpoints.filter((endpoint) => reachable.has(endpoint)),
		hasAny: endpoints.some((endpoint) => endpoint.isReady || isLastResort(endpoint)),
		hints,
		skipped: usesCluster ? skippedOf(endpoints, cluster, hints.mode) : [],
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

/** Hints that do not hold are ignored as a whole; operators want to know why. */
export function hintsUse(endpoints: readonly ServiceEndpoint[], place: ProxyPlace): HintsUse {
	const mode = topologyMode(endpoints, place);
	const isHinted = ({ zoneHints, nodeHints }: ServiceEndpoint): boolean => zoneHints.length > 0 || nodeHints.length > 0;
	if (mode !== "none" || !endpoints.some(isHinted)) return { mode };
	const ready = endpoints.filter(({ isReady }) => isReady);
	if (ready.length === 0) return { mode, ignored: "no endpoint is ready" };
	if (!ready.every(isHinted)) return { mode, ignored: "a ready endpoint has no hint" };
	const hasZone = place.zone !== undefined && place.zone !== "";
	return { mode, ignored: hasZone ? "no hint names this zone" : "this node has no zone" };
}

function skippedOf(
	endpoints: readonly ServiceEndpoint[],
	cluster: readonly ServiceEndpoint[],
	mode: TopologyMode,
): readonly SkippedEndpoint[] {
	const used = new Set(cluster);
	return endpoints
		.filter((endpoint) => !used.has(endpoint))
		.map((endpoint) => ({ ip: endpoint.ip, port: endpoint.port, why: skipReason(endpoint, mode) }));
}

function skipReason({ isReady, isServing, isTerminating }: ServiceEndpoint, mode: TopologyMode): SkipReason {
	if (isReady) return mode === "PreferSameNode" ? "hinted at other nodes" : "hinted at other zones";
	if (!isTerminating) return "not ready";
	return isServing ? "terminating, and others are ready" : "terminating, and not serving";
}

/** Terminating endpoints are taken without regard to hints. */
function clusterEndpoints(
	endpoints: readonly ServiceEndpoint[],
	mode: TopologyMode,
	place: ProxyPlace,
): readonly ServiceEndpoint[] {
	const ready = endpoints.filter((endpoint) => endpoint.isReady && isNear(endpoint, mode, place));
	return ready.length > 0 ? ready : lastResort(endpoints, place);
}

function isNear(endpoint: ServiceEndpoint, mode: TopologyMode, { nodeName = "", zone = "" }: ProxyPlace): boolean {
	if (mode === "PreferSameNode") return endpoint.nodeHints.includes(nodeName);
	return mode === "none" || endpoint.zoneHints.includes(zone);
}

function readyOrServing(endpoints: readonly ServiceEndpoint[], place: ProxyPlace): readonly ServiceEndpoint[] {
	const ready = endpoints.filter(({ isReady }) => isReady);
	return ready.length > 0 ? ready : lastResort(endpoints, place);
}

function lastResort(
	endpoints: readonly ServiceEndpoint[],
	{ terminatingFallback = true }: ProxyPlace,
): readonly ServiceEndpoint[] {
	return terminatingFallback ? endpoints.filter(isLastResort) : [];
}

function isLastResort({ isServing, isTerminating }: ServiceEndpoint): boolean {
	return isServing && isTerminating;
}
