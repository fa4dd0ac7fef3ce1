/** What the server tells the writer of a Service that it accepted. */
import { deepEqual } from "../../kernel/json.ts";
import { cidrWarnings, ipWarnings } from "../ip-validation.ts";
import type { Service, ServiceSpec } from "../types/core.ts";
import { isHeadless } from "./service-rules.ts";

const HINTS = "service.kubernetes.io/topology-aware-hints";

export function serviceWarnings(service: Service, stored: Service | undefined): readonly string[] {
	const { metadata, spec } = service;
	return [
		...(metadata.annotations?.[HINTS] === undefined
			? []
			: [`annotation ${HINTS} is deprecated, please use service.kubernetes.io/topology-mode instead`]),
		...(isHeadless(spec) ? headlessWarnings(spec) : addressWarnings("clusterIPs", spec.clusterIPs)),
		...addressWarnings("externalIPs", spec.externalIPs),
		...(spec.loadBalancerIP === undefined ? [] : ipWarnings("spec.loadBalancerIP", spec.loadBalancerIP)),
		...(spec.loadBalancerSourceRanges ?? []).flatMap((range, index) =>
			cidrWarnings(`spec.loadBalancerSourceRanges[${index}]`, range.trim()),
		),
		...typeWarnings(spec),
		...(spec.trafficDistribution === "PreferClose"
			? ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"']
			: []),
		...ingressWarnings(service, stored),
	];
}

function addressWarnings(key: string, addresses: readonly string[] = []): readonly string[] {
	return addresses.flatMap((address, index) => ipWarnings(`spec.${key}[${index}]`, address));
}

function headlessWarnings(spec: ServiceSpec): readonly string[] {
	return [
		...(spec.loadBalancerIP === undefined ? [] : ["spec.loadBalancerIP is ignored for headless services"]),
		...((spec.externalIPs ?? []).length > 0 ? ["spec.externalIPs is ignored for headless services"] : []),
		...(spec.sessionAffinity === "None" ? [] : ["spec.SessionAffinity is ignored for headless services"]),
	];
}

function typeWarnings(spec: ServiceSpec): readonly string[] {
	const hasExternalIPs = (spec.externalIPs ?? []).length > 0;
	if (spec.type === "ExternalName") {
		return hasExternalIPs ? ['spec.externalIPs is ignored when spec.type is "ExternalName"'] : [];
	}
	return [
		...(hasExternalIPs && !isHeadless(spec)
			? ["spec.externalIPs is deprecated and may no longer be implemented in some clusters"]
			: []),
		...((spec.externalName ?? "") === "" ? [] : ['spec.externalName is ignored when spec.type is not "ExternalName"']),
	];
}

function ingressWarnings(service: Service, stored: Service | undefined): readonly string[] {
	const ingress = service.status?.loadBalancer?.ingress ?? [];
	if (deepEqual(ingress, stored?.status?.loadBalancer?.ingress ?? [])) return [];
	return ingress.flatMap(({ ip = "" }, index) => ipWarnings(`status.loadBalancer.ingress[${index}].ip`, ip));
}
