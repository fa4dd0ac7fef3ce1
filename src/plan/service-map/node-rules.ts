/**
 * Where the connections of one node go: the tables of all Services, found by the address that a client asks for.
 *
 *     const rules = new NodeRules(node);
 *     rules.put(table);
 *     rules.route({ ip: "10.96.0.10", port: 80, protocol: "TCP" }, { ip: "10.244.1.7", place: "pod" });
 *     // { kind: "forward", targets: [...], ... }
 *
 * What a cluster's kernels would do with the first packet; whoever carries the connection picks one of the targets.
 */
import { type CIDR, contains, familyOf, parseIP, parseLenientCIDR } from "../../api/ip.ts";
import type { IPFamily, Protocol } from "../../api/types/meta.ts";
import { compareStrings } from "../../kernel/order.ts";
import { healthCheckPortOf } from "./health-check.ts";
import type { ServiceTable, TablePort, Target } from "./service-table.ts";
import { type ClientPlace, type Destination, verdictFor } from "./verdict.ts";

export interface RulesNode {
	/** Addresses of the node, one for each family: node ports are reached there. */
	readonly addresses: readonly string[];
	/** Ranges of pod addresses: who is a pod of the cluster. */
	readonly clusterCIDRs: readonly CIDR[];
	/** Ranges of cluster IPs: what nobody has there is dropped. */
	readonly serviceCIDRs: readonly CIDR[];
}

export interface Asked {
	readonly ip: string;
	readonly port: number;
	readonly protocol: Protocol;
}

export interface Client {
	readonly ip: string;
	readonly place: ClientPlace;
}

/** The port of a Service that an address belongs to. */
export interface RoutedPort {
	/** `namespace/name` of the Service. */
	readonly serviceKey: string;
	readonly port: TablePort;
	readonly destination: Destination;
}

export type Route =
	| (RoutedPort & {
			readonly kind: "forward";
			/** Sorted; all equally likely, but for a client that has one already. */
			readonly targets: readonly Target[];
			/** Whether targets see the node's address instead of the client's. A hairpin is masqueraded in any case. */
			readonly isMasqueraded: boolean;
	  })
	| (RoutedPort & { readonly kind: "reject" | "drop"; readonly why: string })
	/** No Service has the address; it may be in the range of cluster IPs. */
	| { readonly kind: "reject" | "drop" | "absent"; readonly why: string; readonly port?: undefined };

export class NodeRules {
	readonly #node: RulesNode;
	readonly #tables = new Map<string, ServiceTable>();
	/** By address and port; the oldest Service first, which has it. */
	readonly #index = new Map<string, RoutedPort[]>();
	/** How many ports each cluster IP has. */
	readonly #clusterIPs = new Map<string, number>();
	/** By health check node port, which no two Services share. */
	readonly #healthChecks = new Map<number, string>();
	/** Counts changes of each family's rules. */
	readonly #versions: Record<IPFamily, number> = { IPv4: 0, IPv6: 0 };

	constructor(node: RulesNode) {
		this.#node = node;
	}

	get tables(): ReadonlyMap<string, ServiceTable> {
		return this.#tables;
	}

	/** Rises with every change of the rules of the family, and with no other. */
	version(family: IPFamily): number {
		return this.#versions[family];
	}

	/** Takes the place of the table that the Service had. */
	put(table: ServiceTable): void {
		const before = this.#tables.get(table.key);
		this.#unindex(before);
		this.#tables.set(table.key, table);
		this.#indexAll(table);
		this.#count(before, table);
	}

	/** `key` is `namespace/name` of a Service. */
	remove(key: string): void {
		const before = this.#tables.get(key);
		if (before === undefined) return;
		this.#unindex(before);
		this.#tables.delete(key);
		this.#count(before, undefined);
	}

	/** `namespace/name` of the Service that has this health check node port. */
	healthCheckAt(port: number): string | undefined {
		return this.#healthChecks.get(port);
	}

	route(asked: Asked, client: Client): Route {
		const found = this.#index.get(keyOf(asked))?.[0];
		if (found === undefined) return this.#unknown(asked);
		if (isFiltered(found, asked, client, this.#node.addresses)) {
			return { kind: "drop", ...found, why: "the client is outside loadBalancerSourceRanges" };
		}
		const { port, destination } = found;
		const verdict = verdictFor(port, destination, client.place);
		if (verdict.kind === "forward") {
			return { ...verdict, ...found, isMasqueraded: isMasqueraded(found, client, this.#node.clusterCIDRs) };
		}
		return { kind: verdict.kind, ...found, why: whyNone(port, verdict.kind) };
	}

	#unknown({ ip, port, protocol }: Asked): Route {
		if (this.#clusterIPs.has(ip)) return { kind: "reject", why: `no Service has port ${port}/${protocol} at ${ip}` };
		const parsed = parseIP(ip);
		const isServiceIP = parsed !== undefined && this.#node.serviceCIDRs.some((range) => contains(range, parsed));
		if (isServiceIP) return { kind: "drop", why: `no Service has the cluster IP ${ip}` };
		return { kind: "absent", why: `${ip}:${port}/${protocol} is no address of a Service` };
	}

	#indexAll(table: ServiceTable): void {
		const healthCheckPort = healthCheckPortOf(table);
		if (healthCheckPort !== 0) this.#healthChecks.set(healthCheckPort, table.key);
		for (const port of table.ports) {
			for (const [address, destination] of this.#addressesOf(port)) {
				const key = keyOf({ ...address, protocol: port.protocol });
				const list = this.#index.get(key) ?? [];
				list.push({ serviceKey: table.key, port, destination });
				this.#index.set(key, list.length === 1 ? list : list.sort((a, b) => this.#byAge(a, b)));
			}
			this.#clusterIPs.set(port.clusterIP, (this.#clusterIPs.get(port.clusterIP) ?? 0) + 1);
		}
	}

	/** Of two Services that were made in the same second, the first by name. */
	#byAge(a: RoutedPort, b: RoutedPort): number {
		const age = ({ serviceKey }: RoutedPort): string =>
			`${this.#tables.get(serviceKey)?.createdAt ?? ""} ${serviceKey}`;
		return compareStrings(age(a), age(b));
	}

	#unindex(table: ServiceTable | undefined): void {
		const healthCheckPort = table === undefined ? 0 : healthCheckPortOf(table);
		if (this.#healthChecks.get(healthCheckPort) === table?.key) this.#healthChecks.delete(healthCheckPort);
		for (const port of table?.ports ?? []) {
			for (const [address] of this.#addressesOf(port)) {
				const key = keyOf({ ...address, protocol: port.protocol });
				const left = (this.#index.get(key) ?? []).filter(({ serviceKey }) => serviceKey !== table?.key);
				if (left.length === 0) this.#index.delete(key);
				else this.#index.set(key, left);
			}
			const ports = (this.#clusterIPs.get(port.clusterIP) ?? 1) - 1;
			if (ports === 0) this.#clusterIPs.delete(port.clusterIP);
			else this.#clusterIPs.set(port.clusterIP, ports);
		}
	}

	#addressesOf(port: TablePort): readonly (readonly [Omit<Asked, "protocol">, Destination])[] {
		const at = (ip: string, number: number, destination: Destination) => [{ ip, port: number }, destination] as const;
		const own = this.#node.addresses.filter((ip) => familyOf(ip) === port.family);
		return [
			at(port.clusterIP, port.port, "cluster-ip"),
			...port.externalIPs.map((ip) => at(ip, port.port, "external")),
			...port.loadBalancerVIPs.map((ip) => at(ip, port.port, "external")),
			...(port.nodePort === 0 ? [] : own.map((ip) => at(ip, port.nodePort, "external"))),
		];
	}

	#count(before: ServiceTable | undefined, after: ServiceTable | undefined): void {
		for (const family of ["IPv4", "IPv6"] as const) {
			const has = [before, after].some((table) => table?.ports.some((port) => port.family === family));
			if (has && textOf(before, family) !== textOf(after, family)) this.#versions[family]++;
		}
	}
}

function textOf(table: ServiceTable | undefined, family: IPFamily): string {
	return JSON.stringify(table?.ports.filter((port) => port.family === family) ?? []);
}

function keyOf({ ip, port, protocol }: Asked): string {
	return `${protocol} ${ip} ${port}`;
}

/**
 * Source ranges hold for a load balancer's addresses only. The node itself may ask by any of its addresses when one
 * of them is in a range: what it sends to itself may carry the load balancer's address as its source.
 */
function isFiltered({ port }: RoutedPort, asked: Asked, client: Client, own: readonly string[]): boolean {
	if (!port.hasSourceRanges || !port.loadBalancerVIPs.includes(asked.ip)) return false;
	const ranges = port.loadBalancerSourceRanges.map((text) => parseLenientCIDR(text));
	const sources = [client.ip, ...(client.place === "node" ? own : [])].map((text) => parseIP(text));
	return !ranges.some((range) => range !== undefined && sources.some((ip) => ip !== undefined && contains(range, ip)));
}

/**
 * Cluster IPs: for clients that are no pods, since answers must come back this way. Outside addresses: always under
 * policy Cluster, since the target may be on another node; under Local for the node's own connections only.
 */
function isMasqueraded({ port, destination }: RoutedPort, client: Client, clusterCIDRs: readonly CIDR[]): boolean {
	if (destination === "external") return !port.isExternalLocal || client.place === "node";
	const ip = parseIP(client.ip);
	return ip === undefined || !clusterCIDRs.some((range) => contains(range, ip));
}

function whyNone(port: TablePort, kind: "reject" | "drop"): string {
	if (kind === "drop") return "the traffic policy is Local, and no endpoint is on this node";
	const [skipped] = port.skipped;
	return skipped === undefined
		? "the Service has no endpoints"
		: `no endpoint can take it: ${skipped.ip} is ${skipped.why}`;
}
