/** What a Service says when it says nothing. */
import { without } from "../../kernel/json.ts";
import type { Service, ServicePort, ServiceSpec } from "../types/core.ts";
import { isExternallyAccessible } from "./service-rules.ts";

/** `service.spec.clientIP` sticks to one endpoint for three hours. */
const AFFINITY_TIMEOUT_SECONDS = 10_800;

export function withServiceDefaults(service: Service): Service {
	const spec = withAffinityDefaults(withoutEmpty(service.spec ?? {}));
	const typed = { ...spec, type: spec.type ?? ("ClusterIP" as const) };
	return {
		...service,
		spec: {
			...typed,
			...(typed.ports === undefined ? {} : { ports: typed.ports.map(withPortDefaults) }),
			...(isExternallyAccessible(typed)
				? { externalTrafficPolicy: typed.externalTrafficPolicy ?? ("Cluster" as const) }
				: {}),
			...(typed.type === "ExternalName"
				? {}
				: { internalTrafficPolicy: typed.internalTrafficPolicy ?? ("Cluster" as const) }),
			...(typed.type === "LoadBalancer"
				? { allocateLoadBalancerNodePorts: typed.allocateLoadBalancerNodePorts ?? true }
				: {}),
		},
		status: withStatusDefaults(service.status ?? {}),
	};
}

/** In these fields "", 0 and the empty list mean that nothing is said. */
function withoutEmpty(spec: ServiceSpec): ServiceSpec {
	const keys = [
		"type",
		"sessionAffinity",
		"clusterIP",
		"externalTrafficPolicy",
		"externalName",
		"loadBalancerIP",
		"healthCheckNodePort",
		"ports",
		"clusterIPs",
		"ipFamilies",
		"externalIPs",
		"loadBalancerSourceRanges",
	] as const;
	const empty = keys.filter((key) => isEmpty(spec[key]));
	// Kube-proxy never sees the traffic of an ExternalName, so a policy of its own would mean nothing.
	const isIgnoredPolicy = spec.type === "ExternalName" && isPolicy(spec.internalTrafficPolicy);
	const cleared = without(spec, ...empty);
	return isIgnoredPolicy ? without(cleared, "internalTrafficPolicy") : cleared;
}

function isEmpty(value: unknown): boolean {
	return value === "" || value === 0 || (Array.isArray(value) && value.length === 0);
}

function isPolicy(text: string | undefined): boolean {
	return text === "Cluster" || text === "Local";
}

function withAffinityDefaults(spec: ServiceSpec): ServiceSpec {
	const sessionAffinity = spec.sessionAffinity ?? "None";
	if (sessionAffinity === "None") return { ...without(spec, "sessionAffinityConfig"), sessionAffinity };
	if (sessionAffinity !== "ClientIP" || spec.sessionAffinityConfig?.clientIP?.timeoutSeconds !== undefined) return spec;
	return { ...spec, sessionAffinityConfig: { clientIP: { timeoutSeconds: AFFINITY_TIMEOUT_SECONDS } } };
}

function withPortDefaults(port: ServicePort): ServicePort {
	const number = port.port ?? 0;
	return {
		...port,
		port: number,
		protocol: port.protocol || "TCP",
		targetPort: port.targetPort || number,
	};
}

function withStatusDefaults(status: NonNullable<Service["status"]>): NonNullable<Service["status"]> {
	const ingress = status.loadBalancer?.ingress ?? [];
	const withMode = ingress.map((entry) =>
		(entry.ip ?? "") === "" ? entry : { ...entry, ipMode: entry.ipMode ?? ("VIP" as const) },
	);
	return { ...status, loadBalancer: withMode.length === 0 ? {} : { ...status.loadBalancer, ingress: withMode } };
}
