/**
 * Names of chains and affinity sets: a hash that keeps them apart, and text that people know the Service by.
 *
 *     service-ULMVA6XW-ns1/svc1/tcp/p80
 *     endpoint-3BNHQWZA-ns1/svc1/tcp/p80__10.244.1.7/8080
 */
import type { ProxiedPort } from "../service-map/service-ports.ts";

/** The first 8 characters of the text's SHA-256 in base32 (RFC 4648). */
export type NameHash = (text: string) => string;

/** Kernels allow 255 bytes; the hash keeps names apart that are cut. */
const NAME_CHARACTERS_MAX = 240;

export type PortChain = "service" | "local" | "external" | "firewall";

export class NftNames {
	readonly #hash: NameHash;

	constructor(hash: NameHash) {
		this.#hash = hash;
	}

	/** @param serviceKey `namespace/name` */
	ofPort(chain: PortChain, serviceKey: string, port: Pick<ProxiedPort, "name" | "protocol">): string {
		return this.#name(chain, portText(serviceKey, port));
	}

	ofEndpoint(
		kind: "endpoint" | "affinity",
		serviceKey: string,
		port: Pick<ProxiedPort, "name" | "protocol">,
		endpoint: { readonly ip: string; readonly port: number },
	): string {
		const text = `${portText(serviceKey, port)}__${endpoint.ip.replaceAll(":", ".")}/${endpoint.port}`;
		return this.#name(kind, text);
	}

	#name(kind: string, text: string): string {
		const name = `${kind}-${this.#hash(text)}-${text}`;
		return name.length <= NAME_CHARACTERS_MAX ? name : `${name.slice(0, NAME_CHARACTERS_MAX - 3)}...`;
	}
}

function portText(serviceKey: string, { name, protocol }: Pick<ProxiedPort, "name" | "protocol">): string {
	return `${serviceKey}/${protocol.toLowerCase()}/${name}`;
}
