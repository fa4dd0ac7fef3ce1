/** The rules of one family as text, one line for each port of each Service: for people, logs and comparisons. */
import type { IPFamily } from "../../api/types/meta.ts";
import { compareStrings } from "../../kernel/order.ts";
import type { ServiceTable, TablePort, Target } from "./service-table.ts";
import { endpointText } from "./slice-endpoints.ts";

/** `demo/web:http TCP 10.96.0.10:80 nodePort 30080 -> 10.244.0.1:8080 10.244.0.2:8080` */
export function renderRules(tables: ReadonlyMap<string, ServiceTable>, family: IPFamily): string {
	const lines = [...tables.values()].flatMap(({ key, ports }) =>
		ports.filter((port) => port.family === family).map((port) => renderPort(key, port)),
	);
	return lines.sort(compareStrings).join("\n");
}

function renderPort(key: string, port: TablePort): string {
	const address = endpointText({ ip: port.clusterIP, port: port.port });
	const words = [
		`${key}${port.name === "" ? "" : `:${port.name}`} ${port.protocol} ${address}`,
		...port.externalIPs.map((ip) => `externalIP ${ip}`),
		...port.loadBalancerVIPs.map((ip) => `loadBalancer ${ip}`),
		...(port.hasSourceRanges ? [`from ${port.loadBalancerSourceRanges.join(",") || "nobody"}`] : []),
		...(port.nodePort === 0 ? [] : [`nodePort ${port.nodePort}`]),
		...(port.affinitySeconds === undefined ? [] : [`ClientIP ${port.affinitySeconds}s`]),
		`-> ${targetsText(port.cluster, port)}`,
		...(port.isInternalLocal || port.isExternalLocal ? [`local ${targetsText(port.local, port)}`] : []),
	];
	return words.join(" ");
}

function targetsText(targets: readonly Target[], { hasAny }: TablePort): string {
	if (targets.length > 0) return targets.map(endpointText).join(" ");
	return hasAny ? "none here" : "none";
}
