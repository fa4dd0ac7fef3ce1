/**
 * The proxy of one node, without its sockets: decides for each connection where it may go, and which endpoint
 * it gets. What carries the bytes asks here.
 */
import type { Clock } from "../kernel/clock.ts";
import type { Random } from "../kernel/random.ts";
import {
	type Asked,
	type Client,
	NodeRules,
	type Route,
	type RoutedPort,
	type RulesNode,
} from "../plan/service-map/node-rules.ts";
import type { ServiceTable, TablePort, Target } from "../plan/service-map/service-table.ts";
import { endpointText } from "../plan/service-map/slice-endpoints.ts";
import { Affinity } from "./affinity.ts";
import { RoundRobin } from "./round-robin.ts";

export interface NodeProxyPorts {
	readonly clock: Clock;
	readonly random: Random;
}

/** One connection on its way to an endpoint. */
export interface Attempt {
	readonly route: Route;
	/** The next endpoint that is not in `tried`, and puts it there. Undefined when there is none to go to. */
	take(tried: Set<string>): Target | undefined;
	/** The endpoint answered: the client stays with it, if the Service wants that. */
	connected(target: Target): void;
	/** The endpoint did not answer: the client is free to go to another one. */
	failed(): void;
}

export class NodeProxy {
	readonly rules: NodeRules;
	readonly affinity: Affinity;
	readonly #random: Random;
	/** By port and policy. */
	readonly #balancers = new Map<string, RoundRobin>();
	#asOf: string | undefined;

	constructor(node: RulesNode, { clock, random }: NodeProxyPorts) {
		this.rules = new NodeRules(node);
		this.affinity = new Affinity(clock);
		this.#random = random;
	}

	/** resourceVersion of the EndpointSlices that the newest table was made from. */
	get asOf(): string | undefined {
		return this.#asOf;
	}

	/** Takes the place of the table that the Service had. */
	put(table: ServiceTable): void {
		const before = this.rules.tables.get(table.key)?.ports ?? [];
		this.rules.put(table);
		this.#asOf = table.asOf ?? this.#asOf;
		const now = new Set(table.ports.map((port) => portKey(table.key, port)));
		for (const port of before) if (!now.has(portKey(table.key, port))) this.#forget(portKey(table.key, port));
		for (const port of table.ports) this.#update(portKey(table.key, port), port);
	}

	/** `key` is `namespace/name` of a Service. */
	remove(key: string): void {
		for (const port of this.rules.tables.get(key)?.ports ?? []) this.#forget(portKey(key, port));
		this.rules.remove(key);
	}

	/** Where the connection may go; a client that has an endpoint already goes there. */
	route(asked: Asked, client: Client): Route {
		const route = this.rules.route(asked, client);
		if (route.kind !== "forward") return route;
		const sticky = this.#stickyTarget(route, route.targets, client);
		return sticky === undefined ? route : { ...route, targets: [sticky] };
	}

	attempt(asked: Asked, client: Client): Attempt {
		const route = this.rules.route(asked, client);
		const nothing = { route, take: () => undefined, connected: () => undefined, failed: () => undefined };
		if (route.kind !== "forward") return nothing;
		const key = portKey(route.serviceKey, route.port);
		const { affinitySeconds } = route.port;
		return {
			route,
			take: (tried) => {
				const sticky = this.#stickyTarget(route, route.targets, client);
				if (sticky === undefined || tried.has(endpointText(sticky))) return this.#balancer(key, route).take(tried);
				tried.add(endpointText(sticky));
				return sticky;
			},
			connected: (target) => {
				if (affinitySeconds !== undefined) this.affinity.remember(key, client.ip, endpointText(target));
			},
			failed: () => this.affinity.forget(key, client.ip),
		};
	}

	/** As if the client had just reached the endpoint, `10.244.1.7:8080`, by every port that has it. */
	remember(client: string, endpoint: string): void {
		for (const [key, { ports }] of this.rules.tables) {
			for (const port of ports) {
				if (port.affinitySeconds === undefined || !endpointsOf(port).has(endpoint)) continue;
				this.affinity.remember(portKey(key, port), client, endpoint);
			}
		}
	}

	#stickyTarget({ serviceKey, port }: RoutedPort, targets: readonly Target[], { ip }: Client): Target | undefined {
		if (port.affinitySeconds === undefined) return undefined;
		const endpoint = this.affinity.endpointOf(portKey(serviceKey, port), ip, port.affinitySeconds);
		return targets.find((target) => endpointText(target) === endpoint);
	}

	#update(key: string, port: TablePort): void {
		this.#balancers.get(`${key} cluster`)?.replace(port.cluster);
		this.#balancers.get(`${key} local`)?.replace(port.local);
		this.affinity.retain(key, port.affinitySeconds === undefined ? new Set() : endpointsOf(port));
	}

	#forget(key: string): void {
		this.#balancers.delete(`${key} cluster`);
		this.#balancers.delete(`${key} local`);
		this.affinity.retain(key, new Set());
	}

	#balancer(
		key: string,
		{ targets, port }: { readonly targets: readonly Target[]; readonly port: TablePort },
	): RoundRobin {
		const id = `${key} ${targets === port.local ? "local" : "cluster"}`;
		const known = this.#balancers.get(id);
		if (known !== undefined) return known;
		const made = new RoundRobin(this.#random);
		made.replace(targets);
		this.#balancers.set(id, made);
		return made;
	}
}

function portKey(serviceKey: string, { family, protocol, name }: TablePort): string {
	return `${serviceKey} ${family} ${protocol} ${name}`;
}

function endpointsOf({ cluster, local }: TablePort): ReadonlySet<string> {
	return new Set([...cluster, ...local].map(endpointText));
}
