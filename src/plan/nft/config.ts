/** What the rules of a node have to know beside its Services. */
import type { IPFamily } from "../../api/types/meta.ts";
import type { NameHash } from "./names.ts";

export interface NftConfig {
	readonly family: IPFamily;
	/** Name of the table, by default `sliceplane`: kube-proxy's own may stand beside it. */
	readonly table: string;
	/** Addresses of this node that accept node ports, of the family. */
	readonly nodeAddresses: readonly string[];
	/** "": nothing is local. The node whose endpoints may be asked by themselves. */
	readonly nodeName: string;
	/** How a packet of a pod of this cluster is known; absent when nothing tells. */
	readonly localPods?: LocalPods;
	/** Ranges of cluster IPs of the family: what nobody has there is dropped. */
	readonly serviceCIDRs: readonly string[];
	/** Masquerade all that goes to a cluster IP. */
	readonly masqueradeAll: boolean;
	/** The bit of the packet's mark that asks for masquerading, 0 to 31. */
	readonly masqueradeBit: number;
	readonly hash: NameHash;
}

/** Two matches of a rule: it is from a pod, and it is not. */
export interface LocalPods {
	readonly match: string;
	readonly otherwise: string;
}

/** `ip` or `ip6`: tables, and what a rule matches on. */
export function nftFamily(family: IPFamily): "ip" | "ip6" {
	return family === "IPv4" ? "ip" : "ip6";
}

export function addressType(family: IPFamily): "ipv4_addr" | "ipv6_addr" {
	return family === "IPv4" ? "ipv4_addr" : "ipv6_addr";
}

/** Pods by their addresses. Undefined without ranges of the family. */
export function podsByRange(family: IPFamily, cidrs: readonly string[]): LocalPods | undefined {
	if (cidrs.length === 0) return undefined;
	const source = `${nftFamily(family)} saddr`;
	const ranges = cidrs.length === 1 ? cidrs[0] : `{ ${cidrs.join(", ")} }`;
	return { match: `${source} ${ranges}`, otherwise: `${source} != ${ranges}` };
}

/** Pods by the name of the interface that they come through, never by its number, which changes when it is made anew. */
export function podsByInterface(name: string): LocalPods {
	return { match: `iifname "${name}"`, otherwise: `iifname != "${name}"` };
}

export function masqueradeMark({ masqueradeBit }: Pick<NftConfig, "masqueradeBit">): string {
	return `0x${(2 ** masqueradeBit).toString(16)}`;
}
