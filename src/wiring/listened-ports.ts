/** Which ports a pod listens on, where a listener has to be opened for each. */
import { canonicalIP } from "../api/ip.ts";
import type { EchoPod, PodPort } from "../edge/echo-pod.ts";
import type { ServedService } from "../plan/service-map/served-service.ts";

/** Of a pod whose containers name none, and which no slice names. */
const FALLBACK_PORTS: readonly PodPort[] = [
	{ port: 80, protocol: "TCP" },
	{ port: 8080, protocol: "TCP" },
];

/** Those that containers declare, and those that slices name for a pod's address: an echo answers on every port. */
export class ListenedPorts {
	/** By address, then by `TCP/80`. */
	readonly #named = new Map<string, Map<string, PodPort>>();
	readonly #shared: ReadonlySet<string>;

	/** @param shared Addresses of nodes: pods on their network are told apart by what their containers declare. */
	constructor(shared: ReadonlySet<string>) {
		this.#shared = shared;
	}

	/** Returns the addresses that have more ports now. */
	name(services: readonly ServedService[]): ReadonlySet<string> {
		const changed = new Set<string>();
		for (const { endpoints, ports } of services.flatMap(({ slices }) => slices)) {
			for (const ip of (endpoints ?? []).flatMap(({ addresses }) =>
				addresses.map((text) => canonicalIP(text) ?? text),
			)) {
				for (const { port, protocol } of ports ?? []) {
					if (typeof port === "number" && this.#add(ip, { port, protocol: protocol ?? "TCP" })) changed.add(ip);
				}
			}
		}
		return changed;
	}

	forget(ips: readonly string[]): void {
		for (const ip of ips) this.#named.delete(ip);
	}

	of({ ports, ips }: Pick<EchoPod, "ports" | "ips">): readonly PodPort[] {
		if (ips.some((ip) => this.#shared.has(ip))) return ports;
		const all = new Map((ports.length === 0 ? FALLBACK_PORTS : ports).map((port) => [keyOf(port), port]));
		for (const ip of ips) for (const [key, port] of this.#named.get(ip) ?? []) all.set(key, port);
		return [...all.values()].filter(({ protocol }) => protocol !== "SCTP");
	}

	/** Whether it is new. */
	#add(ip: string, port: PodPort): boolean {
		const known = this.#named.get(ip) ?? new Map<string, PodPort>();
		this.#named.set(ip, known);
		if (known.has(keyOf(port))) return false;
		known.set(keyOf(port), port);
		return true;
	}
}

function keyOf({ port, protocol }: PodPort): string {
	return `${protocol}/${port}`;
}
