import type { Random } from "../../kernel/random.ts";

/** Chance in the words of a run: the same seed throws the same. */
export class Dice {
	readonly #random: Random;

	constructor(random: Random) {
		this.#random = random;
	}

	/** A whole number from 0 to `count - 1`. */
	below(count: number): number {
		return Math.floor(this.#random.next() * count);
	}

	chance(probability: number): boolean {
		return this.#random.next() < probability;
	}

	/** One of the choices; they must not be empty. */
	of<T>(choices: readonly T[]): T {
		return choices[this.below(choices.length)] as T;
	}

	/** One of what there is; undefined of nothing. */
	any<T>(choices: Iterable<T>): T | undefined {
		const list = [...choices];
		return list.length === 0 ? undefined : this.of(list);
	}

	/** A key, as often as its weight says. */
	weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
		const entries = Object.entries<number>(weights) as [K, number][];
		let left = this.#random.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
		for (const [key, weight] of entries) {
			left -= weight;
			if (left < 0) return key;
		}
		return (entries.at(-1) as [K, number])[0];
	}
}
