import type { IdSource, Random } from "../kernel/random.ts";

/**
 * mulberry32: small, fast, and the same numbers, from 0 to below 1, for the same seed on every machine.
 *
 * @example
 *     assert.equal(new SeededRandom(7).next(), new SeededRandom(7).next());
 */
export class SeededRandom implements Random {
	#state: number;

	constructor(seed: number) {
		this.#state = seed >>> 0;
	}

	next(): number {
		this.#state = (this.#state + 0x6d2b79f5) >>> 0;
		let t = this.#state;
		t = Math.imul(t ^ (t >>> 15), t | 1);
		t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
		return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
	}
}

/** uids that count: `00000000-0000-4000-8000-000000000001` and on. */
export class CountingIds implements IdSource {
	#issued = 0;

	uid(): string {
		this.#issued++;
		return `00000000-0000-4000-8000-${String(this.#issued).padStart(12, "0")}`;
	}
}
