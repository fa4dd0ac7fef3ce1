/**
 * What an update means that left out fields which the server once filled in. Clients older than a
 * field drop it when they write an object back, and must not lose the Service its addresses by that.
 */
import { deepEqual, without } from "../../kernel/json.ts";
import { hasClusterIP, needsHealthCheck, wantsNodePorts } from "../kinds/service-rules.ts";
import type { Service, ServicePort, ServiceSpec } from "../types/core.ts";

/** Fills in what the server once assigned, where old and new Service both need it. */
export function withCarriedOver(next: Service, stored: Service): Service {
	return {
		...next,
		spec: withHealthCheckPort(withNodePorts(withClusterIPs(next.spec, stored.spec), stored.spec), stored.spec),
	};
}

function withClusterIPs(spec: ServiceSpec, old: ServiceSpec): ServiceSpec {
	if (!hasClusterIP(spec) || !hasClusterIP(old)) return spec;
	const { clusterIP, clusterIPs } = old;
	return {
		...spec,
		...((spec.clusterIP ?? "") === "" && clusterIP !== undefined ? { clusterIP } : {}),
		...((spec.clusterIPs ?? []).length === 0 && clusterIPs !== undefined ? { clusterIPs } : {}),
	};
}

/** By the name of the port, unless another port of the new Service has taken the number. */
function withNodePorts(spec: ServiceSpec, old: ServiceSpec): ServiceSpec {
	if (!wantsNodePorts(spec) || !wantsNodePorts(old)) return spec;
	const { ports = [] } = spec;
	const stored = old.ports ?? [];
	const before = new Set(stored.map(nodePortOf));
	const used = new Set(ports.map(nodePortOf).filter((port) => before.has(port)));
	const byName = new Map(stored.map((port) => [port.name ?? "", nodePortOf(port)]));
	return {
		...spec,
		ports: ports.map((port) => {
			const nodePort = byName.get(port.name ?? "") ?? 0;
			if (nodePortOf(port) !== 0 || nodePort === 0 || used.has(nodePort)) return port;
			used.add(nodePort);
			return { ...port, nodePort };
		}),
	};
}

function nodePortOf(port: ServicePort): number {
	return port.nodePort ?? 0;
}

function withHealthCheckPort(spec: ServiceSpec, old: ServiceSpec): ServiceSpec {
	const { healthCheckNodePort = 0 } = old;
	const isMissing = (spec.healthCheckNodePort ?? 0) === 0 && healthCheckNodePort !== 0;
	return isMissing && needsHealthCheck(spec) && needsHealthCheck(old) ? { ...spec, healthCheckNodePort } : spec;
}

/**
 * Makes `clusterIPs` follow `clusterIP` when only the older, single field was written. Whoever
 * writes both means both: validation compares them.
 */
export function normaliseClusterIPs(next: Service, stored?: Service): Service {
	const spec = stored === undefined ? normalisedNew(next.spec) : normalised(next.spec, stored.spec);
	return { ...next, spec };
}

function normalisedNew(spec: ServiceSpec): ServiceSpec {
	const { clusterIP = "", clusterIPs = [] } = spec;
	return clusterIP !== "" && clusterIPs.length === 0 ? { ...spec, clusterIPs: [clusterIP] } : spec;
}

function normalised(next: ServiceSpec, old: ServiceSpec): ServiceSpec {
	const [clusterIP, oldIP] = [next.clusterIP ?? "", old.clusterIP ?? ""];
	const oldIPs = old.clusterIPs ?? [];
	if (clusterIP === oldIP) {
		const isDropped = (next.clusterIPs ?? []).length === 0 && oldIPs.length > 0;
		return isDropped ? { ...next, clusterIPs: oldIPs } : next;
	}
	if (!deepEqual(next.clusterIPs ?? [], oldIPs)) return next;
	return clusterIP === "" ? without(next, "clusterIPs") : { ...next, clusterIPs: [clusterIP] };
}
