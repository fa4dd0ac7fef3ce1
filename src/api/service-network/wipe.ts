/**
 * Clears what has no meaning for the new type, so that changing only `spec.type` works. What the
 * writer changed together with the type is kept, and validation says that it has no place.
 */
import { deepEqual, without } from "../../kernel/json.ts";
import { hasClusterIP, hasNodePorts, isExternallyAccessible, needsHealthCheck } from "../kinds/service-rules.ts";
import type { Service, ServiceSpec, ServiceType } from "../types/core.ts";

type SpecKey = keyof ServiceSpec;

const SERVICE_TYPES: readonly ServiceType[] = ["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"];

export function withoutStaleFields(next: Service, stored: Service): Service {
	const { spec } = next;
	const old = stored.spec;
	// A type that does not exist says nothing of what its Service needs: validation refuses it, and it alone.
	if (!SERVICE_TYPES.some((type) => type === spec.type)) return next;
	const isUntouched = (key: SpecKey): boolean => deepEqual(spec[key], old[key]);
	const stale = staleKeys(spec, old).filter(isUntouched);
	// `clusterIP` goes with `clusterIPs`: the one is the first of the other.
	const cleared = stale.includes("clusterIPs") ? [...stale, "clusterIP" as const] : stale;
	const kept = without(spec, ...cleared);
	return { ...next, spec: withoutStaleNodePorts(kept, old), ...withoutStaleIngress(next) };
}

function staleKeys(spec: ServiceSpec, old: ServiceSpec): readonly SpecKey[] {
	const isLeft = (has: (spec: ServiceSpec) => boolean): boolean => has(old) && !has(spec);
	const isBalancer = ({ type }: ServiceSpec): boolean => type === "LoadBalancer";
	return [
		...(isLeft(hasClusterIP) ? (["clusterIPs", "ipFamilies", "ipFamilyPolicy"] as const) : []),
		...(isLeft(needsHealthCheck) ? (["healthCheckNodePort"] as const) : []),
		...(isLeft(isBalancer) ? (["allocateLoadBalancerNodePorts", "loadBalancerClass"] as const) : []),
		...(isLeft(isExternallyAccessible) ? (["externalTrafficPolicy"] as const) : []),
	];
}

function withoutStaleNodePorts(spec: ServiceSpec, old: ServiceSpec): ServiceSpec {
	if (!hasNodePorts(old) || hasNodePorts(spec) || spec.ports === undefined) return spec;
	const before = new Set((old.ports ?? []).map(({ nodePort }) => nodePort));
	const isUntouched = spec.ports.every(({ nodePort = 0 }) => nodePort === 0 || before.has(nodePort));
	return isUntouched ? { ...spec, ports: spec.ports.map((port) => without(port, "nodePort")) } : spec;
}

function withoutStaleIngress({ spec, status }: Service): Pick<Service, "status"> {
	return spec.type === "LoadBalancer" ? {} : { status: { ...status, loadBalancer: {} } };
}
