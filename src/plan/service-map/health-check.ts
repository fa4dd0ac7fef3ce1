/**
 * What a health check node port answers: whether a load balancer should send the Service's connections to this node.
 *
 * Only ready endpoints count. Those that are terminating still get the connections of load balancers that have not
 * asked again yet, but keep none from going elsewhere. @see KEP-1669
 */
import type { ServiceTable } from "./service-table.ts";

export interface HealthAnswer {
	readonly status: 200 | 503;
	readonly headers: Readonly<Record<string, string>>;
	readonly body: string;
}

/** 0: the Service has none. */
export function healthCheckPortOf({ ports }: Pick<ServiceTable, "ports">): number {
	return ports.find(({ healthCheckNodePort }) => healthCheckNodePort !== 0)?.healthCheckNodePort ?? 0;
}

/**
 * Without a table the Service is gone, and the answer one of the last before the port closes.
 * @param isProxyHealthy False when its rules are behind. A proxy that is one with who answers is always healthy.
 */
export function healthAnswer(
	key: string,
	table: Pick<ServiceTable, "localReady"> | undefined,
	isProxyHealthy = true,
): HealthAnswer {
	const localEndpoints = table?.localReady ?? 0;
	const [namespace = "", name = ""] = key.split("/");
	const body = { service: { namespace, name }, localEndpoints, serviceProxyHealthy: isProxyHealthy };
	return {
		status: localEndpoints > 0 && isProxyHealthy ? 200 : 503,
		headers: {
			"content-type": "application/json",
			"x-content-type-options": "nosniff",
			"x-load-balancing-endpoint-weight": String(localEndpoints),
		},
		body: JSON.stringify(body, undefined, "\t"),
	};
}
