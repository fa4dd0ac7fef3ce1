/**
 * The proxy of one node, without its sockets: decides for each connection where it may go, and which endpoint
 * it gets. What carries the bytes asks here.
 */
import type { Clock } from "../kernel/clock.ts";
import type { Random } from "../kernel/random.ts";
import type { ChosenBy } from "../plan/service-map/decision.ts";
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

export interface Chosen {
	readonly target: Target;
	readonly by: ChosenBy;
}

type ForwardRoute = Extract<Route, { kind: "forward" }>;

/** One connection on its way to an endpoint. */
export interface Attempt {
	readonly route: Route;
	/** Why it was the endpoint that was taken last. */
	readonly chosenBy: ChosenBy;
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

	get tables(): ReadonlyMap<string, ServiceTable> {
		return this.rules.tables;
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
		return route.kind === "forward" ? new ForwardAttempt(this, route, client) : new HopelessAttempt(route);
	}

	/** The next endpoint of the route that is not in `tried`, and puts it there. */
	take(route: ForwardRoute, client: Client, tried: Set<string>): Chosen | undefined {
		const sticky = this.#stickyTarget(route, route.targets, client);
		if (sticky !== undefined && !tried.has(endpointText(sticky))) {
			tried.add(endpointText(sticky));
			return { target: sticky, by: "ClientIP" };
		}
		const target = this.#balancer(portKey(route.serviceKey, route.port), route).take(tried);
		if (target === undefined) return undefined;
		return { target, by: route.targets.length === 1 ? "the only one" : "round robin" };
	}

	/** The client has reached the endpoint, and stays with it if the Service wants that. */
	keep({ serviceKey, port }: RoutedPort, client: Client, target: Target): void {
		if (port.affinitySeconds === undefined) return;
		this.affinity.remember(portKey(serviceKey, port), client.ip, endpointText(target));
	}

	/** The endpoint did not answer. */
	letGo({ serviceKey, port }: RoutedPort, client: Client): void {
		if (port.affinitySeconds !== undefined) this.affinity.forget(portKey(serviceKey, port), client.ip);
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

class ForwardAttempt implements Attempt {
	readonly route: ForwardRoute;
	chosenBy: ChosenBy = "round robin";
	readonly #node: NodeProxy;
	readonly #client: Client;

	constructor(node: NodeProxy, route: ForwardRoute, client: Client) {
		this.#node = node;
		this.route = route;
		this.#client = client;
	}

	take(tried: Set<string>): Target | undefined {
		const chosen = this.#node.take(this.route, this.#client, tried);
		this.chosenBy = chosen?.by ?? this.chosenBy;
		return chosen?.target;
	}

	connected(target: Target): void {
		this.#node.keep(this.route, this.#client, target);
	}

	failed(): void {
		this.#node.letGo(this.route, this.#client);
	}
}

/** There is nowhere to go. */
class HopelessAttempt implements Attempt {
	readonly route: Route;
	readonly chosenBy = "round robin";

	constructor(route: Route) {
		this.route = route;
	}

	take(): undefined {
		return undefined;
	}

	connected(): void {
		// Nothing was taken.
	}

	failed(): void {
		// Nothing was taken.
	}
}

function portKey(serviceKey: string, { family, protocol, name }: TablePort): string {
	return `${serviceKey} ${family} ${protocol} ${name}`;
}

function endpointsOf({ cluster, local }: TablePort): ReadonlySet<string> {
	return new Set([...cluster, ...local].map(endpointText));
}
