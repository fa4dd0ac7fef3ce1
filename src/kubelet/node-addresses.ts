/** The addresses of the Pods of one node: each Pod has one of every family, or none at all. */
import type { CIDR } from "../api/ip.ts";
import { AddressPool } from "./address-pool.ts";

export class NodeAddresses {
	readonly #pools: readonly AddressPool[];

	/** @param ranges The node's parts of the cluster ranges, the primary family first. */
	constructor(ranges: readonly CIDR[]) {
		this.#pools = ranges.map((range) => new AddressPool(range));
	}

	/** One free address of each family, the primary one first; undefined when one of them has none. */
	take(): readonly string[] | undefined {
		const taken = this.#pools.map((pool) => pool.take()).filter((address) => address !== undefined);
		if (taken.length === this.#pools.length) return taken;
		this.release(taken);
		return undefined;
	}

	/** Marks addresses that a Pod had before these pools were made. */
	adopt(addresses: readonly string[]): void {
		for (const pool of this.#pools) for (const address of addresses) pool.adopt(address);
	}

	release(addresses: readonly string[]): void {
		for (const pool of this.#pools) for (const address of addresses) pool.release(address);
	}
}
