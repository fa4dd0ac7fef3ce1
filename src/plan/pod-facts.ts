/** What endpoint planners ask of a Pod. */
import type { ContainerPort, Pod, Service, ServicePort } from "../api/types/core.ts";

export function readyConditionOf(
	pod: Pod,
): { readonly status: string; readonly lastTransitionTime?: string } | undefined {
	return pod.status?.conditions?.find((condition) => condition.type === "Ready");
}

/** A Pod without the condition is not ready. */
export function isReady(pod: Pod): boolean {
	return readyConditionOf(pod)?.status === "True";
}

export function isTerminating(pod: Pod): boolean {
	return pod.metadata.deletionTimestamp !== undefined;
}

/** Whether the Pod may have an endpoint: it has an address and has not run to its end. Readiness plays no part. */
export function hasLiveAddress(pod: Pod): boolean {
	const status = pod.status;
	if (status?.phase === "Succeeded" || status?.phase === "Failed") return false;
	return (status?.podIP ?? "") !== "" || (status?.podIPs?.length ?? 0) > 0;
}

/** The name that DNS gives the Pod under the Service, for `hostname` and `subdomain` that ask for one. */
export function hostnameUnder(service: Service, pod: Pod): string | undefined {
	const { hostname, subdomain } = pod.spec;
	return hostname !== undefined && hostname !== "" && subdomain === service.metadata.name ? hostname : undefined;
}

/**
 * The number that the port of the Service has on this Pod; undefined if the Pod has no such port.
 *
 * A name is looked for in the containers, then in the sidecars (init containers that restart always),
 * and the protocol must be the same: the first match wins.
 */
export function resolvedPort(pod: Pod, port: ServicePort): number | undefined {
	const target = port.targetPort ?? port.port;
	if (typeof target === "number") return target;
	const protocol = port.protocol ?? "TCP";
	const isTarget = (p: ContainerPort): boolean => p.name === target && (p.protocol ?? "TCP") === protocol;
	for (const container of pod.spec.containers) {
		const found = container.ports?.find(isTarget);
		if (found !== undefined) return found.containerPort;
	}
	for (const container of pod.spec.initContainers ?? []) {
		const found = container.restartPolicy === "Always" ? container.ports?.find(isTarget) : undefined;
		if (found !== undefined) return found.containerPort;
	}
	return undefined;
}
