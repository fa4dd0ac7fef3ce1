/**
 * Takes targets in turn, in an order that was shuffled once.
 *
 * A change of the targets keeps the order and the position of those that stay, so that a rolling update
 * does not send every client to the first target again and again.
 */
import { type Random, randomBelow } from "../kernel/random.ts";
import type { Target } from "../plan/service-map/service-table.ts";
import { endpointText } from "../plan/service-map/slice-endpoints.ts";

export class RoundRobin {
	readonly #random: Random;
	#order: readonly Target[] = [];
	/** Index of the next target; below the length, or 0. */
	#next = 0;

	constructor(random: Random) {
		this.#random = random;
	}

	get size(): number {
		return this.#order.length;
	}

	replace(targets: readonly Target[]): void {
		const fresh = new Map(targets.map((target) => [endpointText(target), target]));
		const order: Target[] = [];
		let next = 0;
		for (const [index, target] of this.#order.entries()) {
			if (index === this.#next) next = order.length;
			const text = endpointText(target);
			const current = fresh.get(text);
			if (current === undefined) continue;
			order.push(current);
			fresh.delete(text);
		}
		for (const target of fresh.values()) {
			const at = randomBelow(this.#random, order.length + 1);
			order.splice(at, 0, target);
			if (at < next) next++;
		}
		this.#order = order;
		this.#next = next < order.length ? next : 0;
	}

	/**
	 * The next target that is not in `tried`, and puts it there. When all were tried, it starts over.
	 * Undefined when there are no targets.
	 */
	take(tried: Set<string>): Target | undefined {
		if (this.#order.every((target) => tried.has(endpointText(target)))) tried.clear();
		for (const _ of this.#order) {
			const target = this.#order[this.#next];
			this.#next = (this.#next + 1) % this.#order.length;
			if (target === undefined || tried.has(endpointText(target))) continue;
			tried.add(endpointText(target));
			return target;
		}
		return undefined;
	}
}
