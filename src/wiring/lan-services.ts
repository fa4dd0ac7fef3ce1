/** What serves all nodes from the network that joins them: the cluster's DNS, and the way to the API. */
import { connect, createServer } from "node:net";
import { parseCIDR } from "../api/ip.ts";
import type { Transport, Upstreams } from "../dns/answer.ts";
import { upstreamsBy } from "../edge/dns-forwarder.ts";
import { DnsServer } from "../edge/dns-server.ts";
import { splice } from "../edge/splice.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Metrics } from "../kernel/metrics.ts";
import type { Random } from "../kernel/random.ts";
import { Zone } from "../plan/dns-records/zone.ts";
import type { ServedService } from "../plan/service-map/served-service.ts";
import type { Changes } from "./data-plane-messages.ts";
import { dnsAnswers } from "./dns-answers.ts";
import type { FromNodeAgent, NodeAgentConfig } from "./node-agent-messages.ts";

export interface LanServicesPorts {
	readonly clock: Clock;
	readonly random: Random;
	readonly metrics: Metrics;
	send(message: FromNodeAgent): void;
}

type LanConfig = NodeAgentConfig & { readonly kind: "lan" };

/** Seconds. */
const DNS_TTL = 5;
const DNS_PORT = 53;

export class LanServices {
	readonly #ports: LanServicesPorts;
	readonly #zone: Zone;
	#isSynced = false;
	readonly #relayed = new Map<number, (answer: Uint8Array | undefined) => void>();
	#nextRelay = 1;

	/** Rejects when an address cannot be had. */
	static async start(config: LanConfig, ports: LanServicesPorts): Promise<LanServices> {
		const services = new LanServices(config, ports);
		for (const host of config.addresses) {
			await services.#serveDns(host, config);
			await relayTo(config.api.socket, host, config.api.port);
		}
		return services;
	}

	private constructor({ clusterDomain, ranges }: LanConfig, ports: LanServicesPorts) {
		this.#ports = ports;
		const parsed = ranges.map((text) => parseCIDR(text)).filter((range) => range !== undefined);
		this.#zone = new Zone({ name: `${clusterDomain}.`, ttl: DNS_TTL, ranges: parsed });
	}

	update({ services, namespaces }: { services: Changes<ServedService>; namespaces: Changes<string> }): void {
		const serial = Math.floor(this.#ports.clock.wallMs() / 1000);
		for (const name of namespaces.put) this.#zone.putNamespace(name);
		for (const name of namespaces.remove) this.#zone.removeNamespace(name);
		for (const key of services.remove) this.#zone.removeService(key, serial);
		for (const service of services.put) this.#zone.putService(service, serial);
		this.#isSynced = true;
	}

	relayed(relay: number, answer: Uint8Array | undefined): void {
		this.#relayed.get(relay)?.(answer);
		this.#relayed.delete(relay);
	}

	async #serveDns(host: string, { hasUpstreams }: LanConfig): Promise<void> {
		const { clock, random, metrics } = this.#ports;
		const answer = dnsAnswers({
			zone: this.#zone,
			random,
			isSynced: () => this.#isSynced,
			...(hasUpstreams ? { upstreams: this.#upstreams() } : {}),
		});
		await new DnsServer({ answer, clock, metrics }).listen(host, DNS_PORT);
	}

	/** From here no way leads out: the plane asks. */
	#upstreams(): Upstreams {
		return upstreamsBy((packet: Uint8Array, transport: Transport) => {
			const relay = this.#nextRelay++;
			return new Promise((resolve) => {
				this.#relayed.set(relay, resolve);
				this.#ports.send({ kind: "relay", relay, packet, transport });
			});
		});
	}
}

function relayTo(path: string, host: string, port: number): Promise<void> {
	const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
		splice(client, connect({ path, allowHalfOpen: true }), () => undefined);
	});
	return new Promise((resolve, reject) => {
		server.once("error", reject);
		server.listen({ host, port }, () => resolve());
	});
}
