/**
 * The way into the cluster from this machine: reaches Services, Pods and nodes by address or by name, as a Pod
 * would, and everything else as this machine does.
 */
import { canonicalIP } from "../api/ip.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/logger.ts";
import { type Random, randomBelow } from "../kernel/random.ts";
import { meaningOf, type NameScope } from "../plan/dns-records/cluster-names.ts";
import type { Decision } from "../plan/service-map/decision.ts";
import { healthAnswer } from "../plan/service-map/health-check.ts";
import type { Asked, Client, Route } from "../plan/service-map/node-rules.ts";
import type { Target } from "../plan/service-map/service-table.ts";
import type { NodeProxies } from "./node-proxies.ts";
import type { Attempt } from "./node-proxy.ts";
import type { Dialer, HealthChecks } from "./ports.ts";
import { type Asking, reach } from "./reach.ts";

export interface GatewayPorts<S> {
	readonly proxies: NodeProxies;
	/** Whose view of the Services is used; "" for that of no node. */
	readonly asNode: string;
	readonly names: NameScope;
	/** Reaches Pods in memory, and other addresses over the machine's network. */
	readonly dialer: Dialer<S>;
	/** Reaches a host of the outside world by name. */
	dialName(host: string, port: number, signal: AbortSignal): ReturnType<Dialer<S>["dial"]>;
	readonly clock: Clock;
	readonly random: Random;
	readonly log: Logger;
	readonly healthChecks: Pick<HealthChecks<S>, "connectTo">;
	/** Told of every connection to an address, when somebody wants to know. */
	readonly decided?: (decision: Decision) => void;
}

export type GatewayResult<S> =
	| { readonly kind: "connected"; readonly stream: S }
	/** Nobody is there, and the client would learn it at once. */
	| { readonly kind: "refused"; readonly why: string }
	/** The client would wait for an answer in vain. */
	| { readonly kind: "silent"; readonly why: string }
	| { readonly kind: "unknown-host"; readonly why: string };

/** An ExternalName may stand for another; more than so many in a row run in circles. */
const ALIASES_MAX = 8;
const OUTSIDE_MS_MAX = 10_000;

export class Gateway<S> {
	readonly #ports: GatewayPorts<S>;

	constructor(ports: GatewayPorts<S>) {
		this.#ports = ports;
	}

	/** @param host Address or name. @param clientIP Of whoever asks: Services with affinity know clients by it. */
	async connect(host: string, port: number, clientIP: string): Promise<GatewayResult<S>> {
		const address = canonicalIP(host.replaceAll(/[[\]]/g, ""));
		return address === undefined
			? this.#connectName(host, port, { clientIP, aliases: 0 })
			: this.#connectAddress(address, port, clientIP);
	}

	async #connectName(
		name: string,
		port: number,
		how: { readonly clientIP: string; readonly aliases: number },
	): Promise<GatewayResult<S>> {
		const meaning = meaningOf(name, this.#ports.names);
		switch (meaning.kind) {
			case "addresses":
				return this.#connectAny(meaning.ips, port, how.clientIP);
			case "alias":
				if (how.aliases >= ALIASES_MAX)
					return { kind: "unknown-host", why: `${name}: ExternalNames point at each other` };
				return this.#connectName(meaning.name, port, { ...how, aliases: how.aliases + 1 });
			case "none":
				return { kind: "unknown-host", why: meaning.why };
			case "foreign":
				return this.#connectOutside(name, port);
		}
	}

	/** Each address at most once, beginning anywhere: that is how clients of a headless Service spread. */
	async #connectAny(ips: readonly string[], port: number, clientIP: string): Promise<GatewayResult<S>> {
		let result: GatewayResult<S> = { kind: "refused", why: "no address" };
		const start = randomBelow(this.#ports.random, ips.length);
		for (const ip of [...ips.slice(start), ...ips.slice(0, start)]) {
			result = await this.#connectAddress(ip, port, clientIP);
			if (result.kind === "connected") return result;
		}
		return result;
	}

	async #connectAddress(ip: string, port: number, clientIP: string): Promise<GatewayResult<S>> {
		const { proxies, asNode } = this.#ports;
		const asked: Asked = { ip, port, protocol: "TCP" };
		const node = proxies.nodeAt(ip);
		// Who reaches a node's address comes from outside; who asks for anything else is taken for a Pod.
		const client: Client = { ip: clientIP, place: node === undefined ? "pod" : "other" };
		const view = node?.name ?? asNode;
		const healthCheck = node === undefined ? undefined : this.#healthCheck(node.name, port);
		if (healthCheck !== undefined) return { kind: "connected", stream: healthCheck };
		const attempt = proxies.at(view).attempt(asked, client);
		const { route } = attempt;
		const asking = { node: view, asked, client };
		if (route.kind === "forward") return this.#reach(attempt, asking);
		if (route.kind === "absent") return this.#reach(new DirectAttempt(asked, attempt), asking);
		this.#ports.decided?.({ ...asking, route, failed: [] });
		return { kind: route.kind === "drop" ? "silent" : "refused", why: route.why };
	}

	/** A connection to a health check node port of the node; undefined when it is none. */
	#healthCheck(node: string, port: number): S | undefined {
		const { proxies, healthChecks } = this.#ports;
		const key = proxies.at(node).rules.healthCheckAt(port);
		if (key === undefined) return undefined;
		return healthChecks.connectTo(() => healthAnswer(key, proxies.at(node).rules.tables.get(key)));
	}

	async #reach(attempt: Attempt, asking: Asking): Promise<GatewayResult<S>> {
		const reached = await reach(this.#ports, attempt, asking, () => undefined);
		return reached.kind === "reached"
			? { kind: "connected", stream: reached.stream }
			: { kind: "refused", why: reached.why };
	}

	async #connectOutside(name: string, port: number): Promise<GatewayResult<S>> {
		const { clock } = this.#ports;
		const late = new AbortController();
		const done = new AbortController();
		void clock.sleep(OUTSIDE_MS_MAX, done.signal).then(
			() => late.abort(new Error(`no answer within ${OUTSIDE_MS_MAX} ms`)),
			() => undefined,
		);
		const result = await this.#ports.dialName(name, port, late.signal);
		done.abort();
		if (result.kind === "connected") return result;
		return { kind: result.isUnknownHost === true ? "unknown-host" : "refused", why: result.message };
	}
}

/** An address that no Service has is the endpoint itself: tried once, for there is no other. */
class DirectAttempt implements Attempt {
	readonly route: Route;
	readonly chosenBy = "the only one";
	readonly #target: Target;
	#isTaken = false;

	constructor({ ip, port }: Asked, { route }: Attempt) {
		this.route = route;
		this.#target = { ip, port };
	}

	take(): Target | undefined {
		if (this.#isTaken) return undefined;
		this.#isTaken = true;
		return this.#target;
	}

	connected(): void {
		// No client stays with an address that is no Service's.
	}

	failed(): void {
		// Nor does it leave one.
	}
}
