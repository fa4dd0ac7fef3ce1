/** A binary heap: the first item in the order of `isBefore` is on top. Ties come out in any order. */
export class MinHeap<T> {
	readonly #items: T[] = [];
	readonly #isBefore: (a: T, b: T) => boolean;

	constructor(isBefore: (a: T, b: T) => boolean) {
		this.#isBefore = isBefore;
	}

	get size(): number {
		return this.#items.length;
	}

	peek(): T | undefined {
		return this.#items[0];
	}

	push(item: T): void {
		const items = this.#items;
		let hole = items.length;
		items.push(item);
		while (hole > 0) {
			const parent = (hole - 1) >>> 1;
			const above = items[parent] as T;
			if (!this.#isBefore(item, above)) break;
			items[hole] = above;
			hole = parent;
		}
		items[hole] = item;
	}

	pop(): T | undefined {
		const top = this.#items[0];
		const last = this.#items.pop();
		if (last !== undefined && this.#items.length > 0) this.#sink(last);
		return top;
	}

	clear(): void {
		this.#items.length = 0;
	}

	/** Puts `item` where it belongs, starting from the empty place at the top. */
	#sink(item: T): void {
		const items = this.#items;
		let hole = 0;
		for (;;) {
			const left = 2 * hole + 1;
			if (left >= items.length) break;
			const right = left + 1;
			const child = right < items.length && this.#isBefore(items[right] as T, items[left] as T) ? right : left;
			if (!this.#isBefore(items[child] as T, item)) break;
			items[hole] = items[child] as T;
			hole = child;
		}
		items[hole] = item;
	}
}
