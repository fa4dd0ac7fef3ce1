/** What a Service asks of a proxy: its ports in one IP family, with their addresses and policies. */
import { canonicalIP, contains, familyOf, parseCIDR, parseIP, parseLenientCIDR } from "../../api/ip.ts";
import type { LoadBalancerIngress, Service, ServicePort } from "../../api/types/core.ts";
import type { IPFamily, Protocol } from "../../api/types/meta.ts";
import { assertDefined } from "../../kernel/assert.ts";
import { isForOtherProxy } from "./slice-endpoints.ts";

/** A port of a Service in one family. A dual-stack Service has one for each family; both have the same node port. */
export interface ProxiedPort {
	/** "" for the single port without a name. */
	readonly name: string;
	readonly protocol: Protocol;
	readonly family: IPFamily;
	readonly clusterIP: string;
	readonly port: number;
	/** 0: none. */
	readonly nodePort: number;
	readonly externalIPs: readonly string[];
	readonly loadBalancerVIPs: readonly string[];
	/** CIDRs of the family that load balancer addresses may be reached from, if {@link hasSourceRanges}. */
	readonly loadBalancerSourceRanges: readonly string[];
	/** Without ranges load balancer addresses are open to all; with none of this family, to nobody. */
	readonly hasSourceRanges: boolean;
	readonly isInternalLocal: boolean;
	readonly isExternalLocal: boolean;
	/** `sessionAffinity: ClientIP`: how long a client without new connections stays with its endpoint. */
	readonly affinitySeconds?: number;
	/** 0: none. */
	readonly healthCheckNodePort: number;
}

/** The API's default of `sessionAffinityConfig.clientIP.timeoutSeconds`: three hours. */
const AFFINITY_SECONDS = 10_800;

/** Whether the proxy serves this Service at all. */
export function isProxied(service: Service): boolean {
	const { clusterIP = "", type } = service.spec;
	return clusterIP !== "" && clusterIP !== "None" && type !== "ExternalName" && !isForOtherProxy(service.metadata);
}

/** Empty when the Service is not proxied, or has no cluster IP of the family. */
export function proxiedPorts(service: Service, family: IPFamily): readonly ProxiedPort[] {
	const clusterIP = isProxied(service) ? clusterIPOf(service, family) : undefined;
	if (clusterIP === undefined) return [];
	const { spec } = service;
	const addresses = {
		externalIPs: (spec.externalIPs ?? []).filter((ip) => isUsable(ip, family)).map(canonical),
		loadBalancerVIPs: loadBalancerVIPs(service, family),
		loadBalancerSourceRanges: sourceRanges(service, family),
		hasSourceRanges: (spec.loadBalancerSourceRanges ?? []).length > 0,
	};
	const shared = { family, clusterIP, ...addresses, ...policiesOf(service, addresses.externalIPs.length > 0) };
	return (spec.ports ?? []).map((port) => ({ ...numbersOf(port), ...shared }));
}

/** Node port, load balancer or external address: it can be reached from outside the cluster. */
export function isExternallyAccessible(port: ProxiedPort): boolean {
	return port.nodePort !== 0 || port.loadBalancerVIPs.length > 0 || port.externalIPs.length > 0;
}

function numbersOf(port: ServicePort): Pick<ProxiedPort, "name" | "protocol" | "port" | "nodePort"> {
	return { name: port.name ?? "", protocol: port.protocol ?? "TCP", port: port.port, nodePort: port.nodePort ?? 0 };
}

function policiesOf(
	{ spec }: Service,
	hasExternalIPs: boolean,
): Pick<ProxiedPort, "isInternalLocal" | "isExternalLocal" | "affinitySeconds" | "healthCheckNodePort"> {
	const isExternal = spec.type === "NodePort" || spec.type === "LoadBalancer" || hasExternalIPs;
	const isExternalLocal = isExternal && spec.externalTrafficPolicy === "Local";
	const hasHealthCheck = spec.type === "LoadBalancer" && spec.externalTrafficPolicy === "Local";
	const affinitySeconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? AFFINITY_SECONDS;
	return {
		isInternalLocal: spec.internalTrafficPolicy === "Local",
		isExternalLocal,
		...(spec.sessionAffinity === "ClientIP" ? { affinitySeconds } : {}),
		healthCheckNodePort: hasHealthCheck ? (spec.healthCheckNodePort ?? 0) : 0,
	};
}

/** The cluster IP at the family's place in `ipFamilies`. */
function clusterIPOf({ spec }: Service, family: IPFamily): string | undefined {
	const { clusterIP = "", clusterIPs = [clusterIP], ipFamilies = [] } = spec;
	const ip = ipFamilies.length === 0 ? clusterIP : clusterIPs[ipFamilies.indexOf(family)];
	return ip !== undefined && familyOf(ip) === family ? canonicalIP(ip) : undefined;
}

/** Entries with `ipMode: Proxy` are left alone: the load balancer wants to see that traffic. */
function loadBalancerVIPs({ spec, status }: Service, family: IPFamily): readonly string[] {
	if (spec.type !== "LoadBalancer") return [];
	const isVIP = ({ ip = "", ipMode = "VIP" }: LoadBalancerIngress): boolean => ipMode === "VIP" && isUsable(ip, family);
	return (status?.loadBalancer?.ingress ?? []).filter(isVIP).map(({ ip = "" }) => canonical(ip));
}

function sourceRanges({ spec }: Service, family: IPFamily): readonly string[] {
	return (spec.loadBalancerSourceRanges ?? [])
		.map((text) => text.trim())
		.filter((text) => parseLenientCIDR(text)?.base.family === family);
}

/** Addresses that mean the machine itself must not be taken over by a Service. */
const OWN_RANGES = ["127.0.0.0/8", "0.0.0.0/32", "::1/128", "::/128"].map((text) =>
	assertDefined(parseCIDR(text), text),
);

function isUsable(text: string, family: IPFamily): boolean {
	const ip = parseIP(canonical(text));
	return ip !== undefined && ip.family === family && !OWN_RANGES.some((range) => contains(range, ip));
}

function canonical(text: string): string {
	return canonicalIP(text) ?? "";
}
