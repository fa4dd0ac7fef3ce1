/**
 * The way into the cluster from this machine: reaches Services, Pods and nodes by address or by name, as a Pod
 * would, and everything else as this machine does.
 */
import { canonicalIP } from "../api/ip.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/logger.ts";
import { type Random, randomBelow } from "../kernel/random.ts";
import { meaningOf, type NameScope } from "../plan/dns-records/cluster-names.ts";
import type { Asked, Client } from "../plan/service-map/node-rules.ts";
import { connect } from "./connect.ts";
import type { NodeProxies } from "./node-proxies.ts";
import type { Attempt } from "./node-proxy.ts";
import type { Dialer } from "./ports.ts";

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
		const attempt = proxies.at(node?.name ?? asNode).attempt(asked, client);
		const { route } = attempt;
		if (route.kind === "drop") return { kind: "silent", why: route.why };
		if (route.kind === "reject") return { kind: "refused", why: route.why };
		return this.#dial(route.kind === "forward" ? attempt : directly(asked, attempt));
	}

	async #dial(attempt: Attempt): Promise<GatewayResult<S>> {
		const { dialer, clock, log } = this.#ports;
		let why = "no endpoint answered";
		const stream = await connect<S>({
			dialer,
			clock,
			take: (tried) => attempt.take(tried),
			connected: (target) => attempt.connected(target),
			failed: (target, message) => {
				attempt.failed();
				why = message;
				log.debug("Endpoint did not answer", { ip: target.ip, port: target.port, message });
			},
		});
		return stream === undefined ? { kind: "refused", why } : { kind: "connected", stream };
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
		return result.kind === "connected" ? result : { kind: "refused", why: result.message };
	}
}

/** An address that no Service has is the endpoint itself: tried once, for there is no other. */
function directly({ ip, port }: Asked, attempt: Attempt): Attempt {
	let isTaken = false;
	return {
		...attempt,
		take: () => {
			if (isTaken) return undefined;
			isTaken = true;
			return { ip, port };
		},
	};
}
