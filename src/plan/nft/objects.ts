/** What stands in the kernel for Services, as data: chains with their rules, elements of sets and maps, affinity sets. */

/** Sets and maps that all Services share. Those of the second line hold a verdict for each key. */
export type Container =
	| ("cluster-ips" | "nodeport-ips" | "hairpin-connections")
	| ("service-ips" | "service-nodeports" | "firewall-ips" | "no-endpoint-services" | "no-endpoint-nodeports");

export interface NftElement {
	readonly container: Container;
	/** `10.96.0.10 . tcp . 80` */
	readonly key: string;
	/** `goto service-ULMVA6XW-ns1/svc1/tcp/p80`, `drop`; absent in sets. */
	readonly verdict?: string;
}

export interface NftChain {
	readonly name: string;
	/** As in `nft add rule`, behind the chain's name. */
	readonly rules: readonly string[];
}

/** Clients that stay with one endpoint; the kernel forgets them by itself. */
export interface AffinitySet {
	readonly name: string;
	readonly timeoutSeconds: number;
}

/** All that one Service needs in one family. */
export interface NftObjects {
	/** When the Service was made, RFC 3339: of two that want the same address the older has it. */
	readonly createdAt: string;
	readonly chains: readonly NftChain[];
	readonly elements: readonly NftElement[];
	readonly affinitySets: readonly AffinitySet[];
}

export const NO_OBJECTS: NftObjects = { createdAt: "", chains: [], elements: [], affinitySets: [] };

/** Chains of Services have a slash in their name, and the fixed ones have none. */
export function isServiceChain(name: string): boolean {
	return name.includes("/");
}

export function isAffinitySet(name: string): boolean {
	return name.startsWith("affinity-");
}
