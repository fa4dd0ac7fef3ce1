/**
 * Flows of datagrams that go on to an endpoint that is gone, or that began before there was one: they must be cut,
 * for a client that keeps its port never asks anew. Connections of TCP are left to end by themselves.
 */
import { parseIP } from "../../api/ip.ts";
import type { NodeRules } from "./node-rules.ts";
import type { TablePort } from "./service-table.ts";

/** A flow as the connection table has it. Addresses are `IP:PORT`, IPv6 in brackets. */
export interface Flow {
	readonly protocol: "udp" | "tcp";
	/** What the client asked for. */
	readonly originalDestination: string;
	/** Where answers come from; the same as what was asked when the flow is not translated. */
	readonly replySource: string;
}

/** What of a port says where it was reached. */
export type ReachedPort = Pick<
	TablePort,
	"protocol" | "clusterIP" | "port" | "externalIPs" | "loadBalancerVIPs" | "nodePort"
>;

/**
 * @param nodeAddresses Of this node: node ports elsewhere are other nodes' to care for.
 * @param removed Ports that are gone since the last time, or reached elsewhere: where no Service is now, nothing serves.
 */
export function staleFlows<F extends Flow>(
	flows: readonly F[],
	rules: Pick<NodeRules, "tables">,
	nodeAddresses: readonly string[],
	removed: readonly ReachedPort[] = [],
): readonly F[] {
	const serving = new Map<string, ReadonlySet<string>>();
	const tell = (port: ReachedPort, ips: readonly string[]): void => {
		if (port.protocol !== "UDP") return;
		const hosts = [port.clusterIP, ...port.externalIPs, ...port.loadBalancerVIPs];
		for (const ip of hosts) serving.set(textOf(ip, port.port), new Set(ips));
		if (port.nodePort !== 0) for (const ip of nodeAddresses) serving.set(textOf(ip, port.nodePort), new Set(ips));
	};
	for (const port of removed) tell(port, []);
	for (const { ports } of rules.tables.values()) for (const port of ports) tell(port, port.servingIPs);
	return flows.filter(({ protocol, originalDestination, replySource }) => {
		const ips = protocol === "udp" ? serving.get(originalDestination) : undefined;
		if (ips === undefined || ips.has(hostOf(replySource))) return false;
		// A flow that is not translated does no harm while there is nobody to translate it to.
		return ips.size > 0 || replySource !== originalDestination;
	});
}

function textOf(ip: string, port: number): string {
	return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}

function hostOf(text: string): string {
	const host = text.slice(0, text.lastIndexOf(":")).replaceAll(/[[\]]/g, "");
	return parseIP(host) === undefined ? text : host;
}
