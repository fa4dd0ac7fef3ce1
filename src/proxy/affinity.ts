/** Which endpoint each client of a Service with `sessionAffinity: ClientIP` has, for as long as it keeps coming. */
import type { Clock } from "../kernel/clock.ts";

/** Clients remembered of one port; more forget the one that came longest ago. The size of kube-proxy's nft sets. */
const CLIENTS_MAX = 65_535;

interface Remembered {
	/** `10.244.1.7:8080` */
	readonly endpoint: string;
	readonly usedMs: number;
}

export class Affinity {
	readonly #clock: Clock;
	/** By port of a Service, then by client; the one that came longest ago first. */
	readonly #ports = new Map<string, Map<string, Remembered>>();

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	/** The client's endpoint; undefined when it has none, or made no new connection for `seconds`. */
	endpointOf(port: string, client: string, seconds: number): string | undefined {
		const known = this.#ports.get(port)?.get(client);
		if (known === undefined) return undefined;
		if (this.#clock.monotonicMs() - known.usedMs < seconds * 1000) return known.endpoint;
		this.forget(port, client);
		return undefined;
	}

	/** The client has made a new connection. */
	remember(port: string, client: string, endpoint: string): void {
		const clients = this.#ports.get(port) ?? new Map<string, Remembered>();
		this.#ports.set(port, clients);
		clients.delete(client);
		clients.set(client, { endpoint, usedMs: this.#clock.monotonicMs() });
		const [oldest] = clients.keys();
		if (clients.size > CLIENTS_MAX && oldest !== undefined) clients.delete(oldest);
	}

	/** The endpoint did not answer the client. */
	forget(port: string, client: string): void {
		this.#ports.get(port)?.delete(client);
	}

	/** Forgets the clients of endpoints that the port has no more; of all, when it is gone. */
	retain(port: string, endpoints: ReadonlySet<string>): void {
		const clients = this.#ports.get(port);
		for (const [client, { endpoint }] of clients ?? []) if (!endpoints.has(endpoint)) clients?.delete(client);
		if (clients?.size === 0) this.#ports.delete(port);
	}
}
