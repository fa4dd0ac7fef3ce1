/** Addresses of the Pods of one node: each is given to one Pod at a time, and used again as late as possible. */
import { addressAt, type CIDR, sizeOf } from "../api/ip.ts";

/** A real node's bridge has the first address of its range. */
const FIRST_OFFSET = 2;
/** Larger ranges are used only so far: no node runs more Pods. */
const OFFSETS_MAX = 65_536;

export class AddressPool {
	readonly #range: CIDR;
	readonly #end: number;
	readonly #used = new Set<string>();
	#next = FIRST_OFFSET;

	constructor(range: CIDR) {
		this.#range = range;
		// Not the last one, which is the broadcast address of an IPv4 range.
		const last = sizeOf(range) - 1n;
		this.#end = last < OFFSETS_MAX ? Number(last) : OFFSETS_MAX;
	}

	/** A free address, or undefined when every one is in use. */
	take(): string | undefined {
		const count = this.#end - FIRST_OFFSET;
		for (let tries = 0; tries < count; tries++) {
			const address = addressAt(this.#range, this.#next);
			this.#next = this.#next + 1 >= this.#end ? FIRST_OFFSET : this.#next + 1;
			if (this.#used.has(address)) continue;
			this.#used.add(address);
			return address;
		}
		return undefined;
	}

	/** Marks an address that a Pod had before this pool was made. */
	adopt(address: string): void {
		this.#used.add(address);
	}

	release(address: string): void {
		this.#used.delete(address);
	}
}
