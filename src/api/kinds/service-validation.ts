/** The rules of a Service, in the order in which a real API server reports them. */
import { ERRORS_MAX, errorsOf, type FieldError, forbidden, invalid, notSupported, required } from "../field-error.ts";
import { parseLenientIP } from "../ip.ts";
import { validateEndpointIP, validateLegacyCIDR, validateLegacyIP } from "../ip-validation.ts";
import { invalids, validateLabels } from "../metadata-validation.ts";
import { dns1123SubdomainProblems, qualifiedNameProblems } from "../names.ts";
import type { LoadBalancerIngress, Service, ServiceSpec } from "../types/core.ts";
import { validateOneOf } from "./protocol-validation.ts";
import { validateClusterIPFields, validateClusterIPUpdate } from "./service-ip-validation.ts";
import { validateHealthCheckPort, validatePortPairs, validateServicePorts } from "./service-port-validation.ts";
import { isExternallyAccessible, isHeadless, needsHealthCheck } from "./service-rules.ts";

const HINTS_ANNOTATION = "service.kubernetes.io/topology-aware-hints";
const MODE_ANNOTATION = "service.kubernetes.io/topology-mode";
const SOURCE_RANGES_ANNOTATION = "service.beta.kubernetes.io/load-balancer-source-ranges";
const AFFINITY_TIMEOUT_SECONDS_MAX = 86_400;
const AFFINITIES: readonly string[] = ["ClientIP", "None"];
const TYPES: readonly string[] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const POLICIES: readonly string[] = ["Cluster", "Local"];
const DISTRIBUTIONS: readonly string[] = ["PreferClose", "PreferSameZone", "PreferSameNode"];
const BALANCER_ONLY = "may only be used when `type` is 'LoadBalancer'";

export function validateService(service: Service, stored?: Service): readonly FieldError[] {
	const { spec } = service;
	const portErrors = validateServicePorts(spec.ports ?? []);
	return [
		...validateTopologyAnnotations(service),
		...((spec.ports ?? []).length === 0 && !isHeadless(spec) && spec.type !== "ExternalName"
			? [required("spec.ports", "")]
			: []),
		...validateForType(spec),
		...portErrors,
		...validateLabels("spec.selector", spec.selector),
		...validateAffinity(spec),
		...validateClusterIPFields(service, stored),
		...validateExternalIPs(spec, stored?.spec.externalIPs ?? []),
		...validateOneOf("spec.type", spec.type ?? "", TYPES),
		// Nobody would be told of them.
		...(portErrors.length > ERRORS_MAX ? [] : validatePortPairs(spec)),
		...validateSourceRanges(service, stored),
		...validateLoadBalancerFields(spec),
		...validateTrafficPolicies(spec),
	];
}

export function validateServiceUpdate(next: Service, stored: Service): readonly FieldError[] {
	const { spec } = next;
	const isBalancerStill = spec.type === "LoadBalancer" && stored.spec.type === "LoadBalancer";
	const isCheckStill = needsHealthCheck(spec) && needsHealthCheck(stored.spec);
	return [
		...validateClusterIPUpdate(next, stored),
		...(isBalancerStill && spec.loadBalancerClass !== stored.spec.loadBalancerClass
			? [invalid("spec.loadBalancerClass", spec.loadBalancerClass, "may not change once set")]
			: []),
		...(isCheckStill && spec.healthCheckNodePort !== stored.spec.healthCheckNodePort
			? [forbidden("spec.healthCheckNodePort", "field is immutable")]
			: []),
		...validateService(next, stored),
	];
}

function validateTopologyAnnotations({ metadata }: Service): readonly FieldError[] {
	const mode = metadata.annotations?.[MODE_ANNOTATION];
	const hints = metadata.annotations?.[HINTS_ANNOTATION];
	if (mode === undefined || hints === undefined || mode === hints) return [];
	const detail = `must match annotations[${HINTS_ANNOTATION}] when both are specified`;
	return [invalid(`metadata.annotations[${MODE_ANNOTATION}]`, mode, detail)];
}

function validateForType(spec: ServiceSpec): readonly FieldError[] {
	if (spec.type === "ExternalName") return validateExternalName(spec);
	if ((spec.type === "LoadBalancer" || spec.type === "NodePort") && isHeadless(spec)) {
		return [invalid("spec.clusterIPs[0]", "None", `may not be set to 'None' for ${spec.type} services`)];
	}
	return [];
}

function validateExternalName(spec: ServiceSpec): readonly FieldError[] {
	const { clusterIPs = [], ipFamilies = [], ipFamilyPolicy, externalName = "" } = spec;
	const detail = "may not be set for ExternalName services";
	const domain = externalName.endsWith(".") ? externalName.slice(0, -1) : externalName;
	return [
		...(clusterIPs.length > 0 ? [forbidden("spec.clusterIPs", detail)] : []),
		...(ipFamilies.length > 0 ? [forbidden("spec.ipFamilies", detail)] : []),
		...(ipFamilyPolicy === undefined ? [] : [forbidden("spec.ipFamilyPolicy", detail)]),
		...(domain === ""
			? [required("spec.externalName", "")]
			: invalids("spec.externalName", domain, dns1123SubdomainProblems(domain))),
	];
}

function validateAffinity(spec: ServiceSpec): readonly FieldError[] {
	const type = validateOneOf("spec.sessionAffinity", spec.sessionAffinity ?? "", AFFINITIES);
	if (spec.sessionAffinity !== "ClientIP") return type;
	const field = "spec.sessionAffinityConfig.clientIP.timeoutSeconds";
	const seconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds;
	if (seconds === undefined) return [...type, required(field, "when session affinity type is ClientIP")];
	if (seconds >= 1 && seconds <= AFFINITY_TIMEOUT_SECONDS_MAX) return type;
	const detail = `must be greater than 0 and less than ${AFFINITY_TIMEOUT_SECONDS_MAX}`;
	return [...type, invalid(field, seconds, detail)];
}

function validateExternalIPs({ externalIPs = [] }: ServiceSpec, stored: readonly string[]): readonly FieldError[] {
	return errorsOf(externalIPs, (ip, index) => {
		const field = `spec.externalIPs[${index}]`;
		const format = validateLegacyIP(field, ip, stored);
		return format.length > 0 ? format : validateEndpointIP(field, ip);
	});
}

function validateSourceRanges(service: Service, stored: Service | undefined): readonly FieldError[] {
	const { type, loadBalancerSourceRanges: ranges = [] } = service.spec;
	if (ranges.length === 0) return validateSourceRangesAnnotation(service, stored);
	// The capital L is part of the path that users know.
	const field = "spec.LoadBalancerSourceRanges";
	const old = stored?.spec.loadBalancerSourceRanges ?? [];
	return [
		...(type === "LoadBalancer" ? [] : [forbidden(field, BALANCER_ONLY)]),
		...errorsOf(ranges, (range, index) =>
			old.includes(range) ? [] : validateLegacyCIDR(`${field}[${index}]`, range.trim()),
		),
	];
}

/** The field's predecessor; checked only when it changes. */
function validateSourceRangesAnnotation(service: Service, stored: Service | undefined): readonly FieldError[] {
	const list = service.metadata.annotations?.[SOURCE_RANGES_ANNOTATION];
	if (list === undefined) return [];
	const field = `metadata.annotations[${SOURCE_RANGES_ANNOTATION}]`;
	const isChanged = stored?.metadata.annotations?.[SOURCE_RANGES_ANNOTATION] !== list;
	return [
		...(service.spec.type === "LoadBalancer" ? [] : [forbidden(field, BALANCER_ONLY)]),
		...(isChanged && list.trim() !== ""
			? errorsOf(list.split(","), (range) => validateLegacyCIDR(field, range.trim()))
			: []),
	];
}

function validateLoadBalancerFields(spec: ServiceSpec): readonly FieldError[] {
	const { type, allocateLoadBalancerNodePorts, loadBalancerClass } = spec;
	if (type === "LoadBalancer") {
		return loadBalancerClass === undefined
			? []
			: invalids("spec.loadBalancerClass", loadBalancerClass, qualifiedNameProblems(loadBalancerClass));
	}
	return [
		...(allocateLoadBalancerNodePorts === undefined
			? []
			: [forbidden("spec.allocateLoadBalancerNodePorts", BALANCER_ONLY)]),
		...(loadBalancerClass === undefined ? [] : [forbidden("spec.loadBalancerClass", BALANCER_ONLY)]),
	];
}

function validateTrafficPolicies(spec: ServiceSpec): readonly FieldError[] {
	const { externalTrafficPolicy = "", internalTrafficPolicy, trafficDistribution } = spec;
	const field = "spec.externalTrafficPolicy";
	const outside = "may only be set for externally-accessible services";
	return [
		...(isExternallyAccessible(spec)
			? validateOneOf(field, externalTrafficPolicy, POLICIES)
			: externalTrafficPolicy === ""
				? []
				: [invalid(field, externalTrafficPolicy, outside)]),
		...validateHealthCheckPort(spec.healthCheckNodePort ?? 0, needsHealthCheck(spec)),
		...(internalTrafficPolicy === undefined || POLICIES.includes(internalTrafficPolicy)
			? []
			: [notSupported("spec.internalTrafficPolicy", internalTrafficPolicy, POLICIES)]),
		...(trafficDistribution === undefined || DISTRIBUTIONS.includes(trafficDistribution)
			? []
			: [notSupported("spec.trafficDistribution", trafficDistribution, DISTRIBUTIONS)]),
	];
}

export function validateServiceStatus(next: Service, stored: Service): readonly FieldError[] {
	const field = "status.loadBalancer.ingress";
	const ingress = next.status?.loadBalancer?.ingress ?? [];
	if (next.spec.type !== "LoadBalancer" && ingress.length > 0) {
		return [forbidden(field, "may only be used when `spec.type` is 'LoadBalancer'")];
	}
	const old = (stored.status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => (ip === undefined ? [] : [ip]));
	return errorsOf(ingress, (entry, index) => validateIngress(`${field}[${index}]`, entry, old));
}

function validateIngress(field: string, entry: LoadBalancerIngress, old: readonly string[]): readonly FieldError[] {
	const { ip = "", hostname = "" } = entry;
	return [
		...(ip === "" ? [] : validateLegacyIP(`${field}.ip`, ip, old)),
		...validateIPMode(`${field}.ipMode`, ip, entry.ipMode),
		...(hostname === "" ? [] : validateHostname(`${field}.hostname`, hostname)),
	];
}

function validateIPMode(field: string, ip: string, mode: string | undefined): readonly FieldError[] {
	const supported = ["Proxy", "VIP"];
	if (mode === undefined) return ip === "" ? [] : [required(field, "must be specified when `ip` is set")];
	if (ip === "") return [forbidden(field, "may not be specified when `ip` is not set")];
	return supported.includes(mode) ? [] : [notSupported(field, mode, supported)];
}

function validateHostname(field: string, hostname: string): readonly FieldError[] {
	return [
		...invalids(field, hostname, dns1123SubdomainProblems(hostname)),
		...(parseLenientIP(hostname) === undefined
			? []
			: [invalid(field, hostname, "must be a DNS name, not an IP address")]),
	];
}
