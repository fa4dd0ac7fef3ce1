/** What the proxy of a node needs of its kernel. */
import type { IPFamily } from "../api/types/meta.ts";
import type { Listing } from "../plan/nft/nft-state.ts";
import type { NftElement } from "../plan/nft/objects.ts";
import type { Flow } from "../plan/service-map/stale-flows.ts";

export type LoadResult = { readonly kind: "loaded" } | { readonly kind: "failed"; readonly message: string };

/** The rules of one family. */
export interface KernelRules {
	/** All of it, or nothing. Never rejects. */
	load(text: string): Promise<LoadResult>;
	/** Names of the table's chains; empty when it is not there. Costs little. Never rejects. */
	chains(): Promise<readonly string[]>;
	/** All elements of the sets and maps of the table. Costs more. Never rejects: what cannot be read is not there. */
	elements(): Promise<readonly NftElement[]>;
	/** How many rules each chain has; undefined when it cannot be read. Costs most. Never rejects. */
	ruleCounts(): Promise<ReadonlyMap<string, number> | undefined>;
	/** What is there; undefined when the table is not. Never rejects: what cannot be read is not there. */
	list(): Promise<Listing | undefined>;
}

/** The table of connections. */
export interface Flows<F extends Flow = Flow> {
	/** Flows of datagrams. Empty when the machine does not tell. */
	list(family: IPFamily): Promise<readonly F[]>;
	/** Returns how many were there to be cut. */
	cut(family: IPFamily, flows: readonly F[]): Promise<number>;
}
