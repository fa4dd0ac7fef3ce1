/**
 * Carries connections to Services by ending them and opening others: no rights and no kernel rules are
 * needed, but endpoints see the proxy's address instead of the client's.
 *
 * It executes tables and decides nothing about endpoints itself. A connection outlives the endpoint, the
 * port and the Service that it was made by, as it does with rules in a kernel.
 */
import type { IPFamily } from "../api/types/meta.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/logger.ts";
import type { Counter, Gauge, Metrics } from "../kernel/metrics.ts";
import type { Random } from "../kernel/random.ts";
import type { Decision } from "../plan/service-map/decision.ts";
import { healthAnswer, healthCheckPortOf } from "../plan/service-map/health-check.ts";
import type { Asked, Client } from "../plan/service-map/node-rules.ts";
import type { ServiceTable, TablePort, Target } from "../plan/service-map/service-table.ts";
import type { DatagramDialer, DatagramListeners, Peer } from "./datagrams.ts";
import { Front, type FrontOwner, type FrontUse, type ListenFailure } from "./front.ts";
import type { Attempt, NodeProxy } from "./node-proxy.ts";
import {
	type Accepted,
	addressText,
	type Dialer,
	type HealthChecks,
	type ListenAddress,
	type Listeners,
	type OpenResult,
	type Streams,
} from "./ports.ts";
import { reach } from "./reach.ts";
import { UdpSessions } from "./udp-sessions.ts";

export interface UserspaceProxyPorts<S> {
	readonly listeners: Listeners<S>;
	readonly dialer: Dialer<S>;
	readonly datagrams: DatagramListeners & DatagramDialer;
	readonly streams: Streams<S>;
	readonly healthChecks: Pick<HealthChecks<S>, "serve">;
	readonly clock: Clock;
	readonly random: Random;
	readonly log: Logger;
	readonly metrics: Metrics;
	listenFailed(failure: ListenFailure): void;
	/** Whose view the rules are; "" for that of no node. */
	readonly asNode: string;
	/** Told of every connection and every new flow of datagrams, when somebody wants to know. */
	readonly decided?: (decision: Decision) => void;
}

/** Where node ports listen: the machine's own loopback address of each family. */
export const LOOPBACK_HOSTS: Readonly<Record<IPFamily, string>> = { IPv4: "127.0.0.1", IPv6: "::1" };

interface Wanted {
	readonly address: ListenAddress;
	readonly owner: FrontOwner;
	readonly isServed: boolean;
	open(): Promise<OpenResult>;
}

export class UserspaceProxy<S> {
	readonly #ports: UserspaceProxyPorts<S>;
	readonly #hosts: Readonly<Record<IPFamily, string>>;
	readonly #node: () => NodeProxy;
	readonly #sessions = new Set<UdpSessions>();
	/** By text of the address. */
	readonly #fronts = new Map<string, Front>();
	/** By Service: the addresses that it has claimed. */
	readonly #claimed = new Map<string, readonly string[]>();
	readonly #accepted: Counter;
	readonly #dialFailures: Counter;
	readonly #open: Gauge;
	readonly #listening: Gauge;
	#openCount = 0;
	#listenerCount = 0;

	/**
	 * @param node Gives the rules; asked anew each time, for they may be made anew.
	 * @param hosts Addresses to listen on; the rules must know them as the node's own.
	 */
	constructor(
		ports: UserspaceProxyPorts<S>,
		node: () => NodeProxy,
		hosts: Readonly<Record<IPFamily, string>> = LOOPBACK_HOSTS,
	) {
		this.#ports = ports;
		this.#hosts = hosts;
		this.#node = node;
		const { metrics } = ports;
		this.#accepted = metrics.counter({
			name: "sliceplane_proxy_connections_total",
			help: "Connections that clients made to node ports: forwarded, or reset since no endpoint answered.",
			labelNames: ["result"],
		});
		this.#dialFailures = metrics.counter({
			name: "sliceplane_proxy_dial_failures_total",
			help: "Attempts to connect to an endpoint that failed.",
		});
		this.#open = metrics.gauge({ name: "sliceplane_proxy_connections_open", help: "Connections being forwarded." });
		this.#listening = metrics.gauge({ name: "sliceplane_proxy_listeners", help: "Addresses listened on." });
	}

	/** Listens as the rules of the Service want it now. `key` is `namespace/name`. */
	serve(key: string): void {
		const table = this.#node().rules.tables.get(key);
		const fronts = table === undefined ? [] : this.#wantedBy(table);
		const wanted = new Map(fronts.map((front) => [frontText(front), front]));
		for (const text of this.#claimed.get(key) ?? []) if (!wanted.has(text)) this.#release(key, text);
		if (wanted.size === 0) this.#claimed.delete(key);
		else this.#claimed.set(key, [...wanted.keys()]);
		for (const sessions of this.#sessions) sessions.review();
		for (const [text, each] of wanted) this.#front(text, each).claim(each.owner, each.isServed);
	}

	/** Closes every listener. Connections live on. */
	stop(): void {
		for (const [key, texts] of this.#claimed) for (const text of texts) this.#release(key, text);
		this.#claimed.clear();
	}

	/** Resolves when every listener is open or closed as the tables want it, or has failed and will try again. */
	async settled(): Promise<void> {
		await Promise.all([...this.#fronts.values()].map((front) => front.settled()));
	}

	#wantedBy(table: ServiceTable): readonly Wanted[] {
		const { key, ports } = table;
		const carried = ports.filter(({ protocol }) => protocol !== "SCTP");
		return [
			...carried.filter(({ nodePort }) => nodePort !== 0).map((port) => this.#nodePort(key, port)),
			...carried
				.filter(({ loadBalancerVIPs }) => loadBalancerVIPs.length > 0)
				.map((port) => this.#servicePort(key, port)),
			...this.#healthCheck(table),
		];
	}

	#nodePort(key: string, port: TablePort): Wanted {
		const address = { host: this.#hosts[port.family], port: port.nodePort, protocol: port.protocol };
		return this.#carried(key, port, { use: "node-port", address, ip: address.host });
	}

	/** What a load balancer in front of this machine would listen on. */
	#servicePort(key: string, port: TablePort): Wanted {
		const address = { host: this.#hosts[port.family], port: port.port, protocol: port.protocol };
		return this.#carried(key, port, { use: "service-port", address, ip: port.loadBalancerVIPs[0] ?? address.host });
	}

	/** @param way.ip The address that the rules know what comes here by. */
	#carried(
		key: string,
		{ name: portName }: TablePort,
		{ use, address, ip }: { readonly use: FrontUse; readonly address: ListenAddress; readonly ip: string },
	): Wanted {
		const asked = { ip, port: address.port, protocol: address.protocol };
		const isServed = this.#node().route(asked, clientAt(address.host)).kind === "forward";
		const open = (): Promise<OpenResult> =>
			address.protocol === "UDP" ? this.#openDatagrams(address, asked) : this.#openStream(address, asked);
		return { address, owner: { use, serviceKey: key, portName }, isServed, open };
	}

	#healthCheck(table: ServiceTable): readonly Wanted[] {
		const port = healthCheckPortOf(table);
		if (port === 0) return [];
		const { key } = table;
		const answer = () => healthAnswer(key, this.#node().rules.tables.get(key));
		const { healthChecks, listeners } = this.#ports;
		return [...new Set(table.ports.map(({ family }) => family))].map((family) => {
			const address = { host: this.#hosts[family], port, protocol: "TCP" } as const;
			const open = () => listeners.open(address, ({ stream }) => healthChecks.serve(stream, answer));
			return { address, owner: { use: "health-check", serviceKey: key, portName: "" }, isServed: true, open };
		});
	}

	#front(text: string, { address, open }: Wanted): Front {
		const known = this.#fronts.get(text);
		if (known !== undefined) return known;
		const front = new Front(address, {
			clock: this.#ports.clock,
			open,
			failed: (failure) => this.#ports.listenFailed(failure),
			counted: (by) => {
				this.#listenerCount += by;
				this.#listening.set(this.#listenerCount);
			},
		});
		this.#fronts.set(text, front);
		return front;
	}

	#openStream(address: ListenAddress, asked: Asked): Promise<OpenResult> {
		return this.#ports.listeners.open(address, (client) => void this.#forward(client, asked));
	}

	/** The flows end with the listener: there is nobody to bring the answers to. */
	async #openDatagrams(address: ListenAddress, asked: Asked): Promise<OpenResult> {
		const { datagrams, clock, metrics, asNode: node, decided } = this.#ports;
		const told = ({ ip }: Peer, { route, chosenBy }: Attempt, target: Target | undefined): void =>
			decided?.({
				node,
				asked,
				client: clientAt(ip),
				route,
				...(target === undefined ? {} : { chosen: { target, by: chosenBy } }),
				failed: [],
			});
		const sessions = new UdpSessions({
			dialer: datagrams,
			clock,
			metrics,
			attempt: ({ ip }) => this.#node().attempt(asked, clientAt(ip)),
			serves: (target) => this.#serves(asked, target),
			...(decided === undefined ? {} : { decided: told }),
		});
		const result = await datagrams.openDatagrams(address, (from, bytes, to) => sessions.receive(from, bytes, to));
		if (result.kind === "failed") return result;
		this.#sessions.add(sessions);
		const close = (): void => {
			result.listener.close();
			sessions.close();
			this.#sessions.delete(sessions);
		};
		return { kind: "open", listener: { port: result.listener.port, close } };
	}

	#serves(asked: Asked, { ip }: Target): boolean {
		const { port } = this.#node().route(asked, clientAt(asked.ip));
		return port?.servingIPs.includes(ip) ?? false;
	}

	/** A front that is just opening its listener is kept until it has closed it: the address is its own so long. */
	#release(key: string, text: string): void {
		const front = this.#fronts.get(text);
		if (front === undefined) return;
		front.release(key);
		void front.settled().then(() => {
			if (front.isUnclaimed) this.#fronts.delete(text);
		});
	}

	async #forward(accepted: Accepted<S>, asked: Asked): Promise<void> {
		const { streams, asNode } = this.#ports;
		const client = clientAt(accepted.ip ?? asked.ip);
		const attempt = this.#node().attempt(asked, client);
		const reached = await reach(this.#ports, attempt, { node: asNode, asked, client }, () => this.#dialFailures.add());
		this.#accepted.add(1, { result: reached.kind === "failed" ? "reset" : "forwarded" });
		if (reached.kind === "failed") return streams.reset(accepted.stream);
		this.#open.set(++this.#openCount);
		streams.splice(accepted.stream, reached.stream, () => this.#open.set(--this.#openCount));
	}
}

/** Clients on loopback stand on the proxy's own node. */
function clientAt(ip: string): Client {
	return { ip, place: "node" };
}

/** The address alone would not do: it may be one Service's node port, and another's health check a moment later. */
function frontText({ owner, address }: Wanted): string {
	return `${owner.use} ${addressText(address)}`;
}
