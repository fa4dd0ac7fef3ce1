/** Ports of Services as a proxy has them. */
import type { ServiceTable, TablePort, Target } from "../plan/service-map/service-table.ts";

/** `http` at 10.96.0.10:80, without endpoints. */
export function tablePort(more: Partial<TablePort> = {}): TablePort {
	return {
		name: "http",
		protocol: "TCP",
		family: "IPv4",
		clusterIP: "10.96.0.10",
		port: 80,
		nodePort: 0,
		externalIPs: [],
		loadBalancerVIPs: [],
		loadBalancerSourceRanges: [],
		hasSourceRanges: false,
		isInternalLocal: false,
		isExternalLocal: false,
		healthCheckNodePort: 0,
		cluster: [],
		local: [],
		hasAny: true,
		hints: { mode: "none" },
		skipped: [],
		servingIPs: [],
		...more,
	};
}

export function tableOf(key: string, ...ports: readonly Partial<TablePort>[]): ServiceTable {
	return { key, ports: ports.map(tablePort), localReady: 0 };
}

/** 10.244.0.N:8080 for each number. */
export function targets(...numbers: readonly number[]): readonly Target[] {
	return numbers.map((n) => ({ ip: `10.244.0.${n}`, port: 8080 }));
}
