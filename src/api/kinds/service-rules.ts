/** What a Service of some type has: the questions that defaulting, validation and allocation share. */
import type { Service, ServiceSpec } from "../types/core.ts";

/** Traffic from outside the cluster can arrive: only then is there an external traffic policy. */
export function isExternallyAccessible(spec: ServiceSpec): boolean {
	return (
		spec.type === "LoadBalancer" ||
		spec.type === "NodePort" ||
		(spec.type === "ClusterIP" && (spec.externalIPs ?? []).length > 0)
	);
}

/** A name without an address of its own: DNS answers with the endpoints. */
export function isHeadless(spec: ServiceSpec): boolean {
	return spec.clusterIPs?.length === 1 && spec.clusterIPs[0] === "None";
}

export function hasClusterIP(spec: ServiceSpec): boolean {
	return spec.type === "ClusterIP" || spec.type === "NodePort" || spec.type === "LoadBalancer";
}

export function hasNodePorts(spec: ServiceSpec): boolean {
	return spec.type === "NodePort" || spec.type === "LoadBalancer";
}

/** Whether ports without a node port get one. */
export function wantsNodePorts(spec: ServiceSpec): boolean {
	return spec.type === "NodePort" || (spec.type === "LoadBalancer" && spec.allocateLoadBalancerNodePorts !== false);
}

/** A load balancer asks each node, at this port, whether it has local endpoints. */
export function needsHealthCheck(spec: ServiceSpec): boolean {
	return spec.type === "LoadBalancer" && spec.externalTrafficPolicy === "Local";
}

/** The node ports in use, health check included. */
export function nodePortsOf(service: Service): readonly number[] {
	const { ports = [], healthCheckNodePort = 0 } = service.spec;
	return [...ports.map(({ nodePort = 0 }) => nodePort), healthCheckNodePort].filter((port) => port !== 0);
}
