/** A binary heap of things that are due: the earliest is always at hand. */

interface Due<T> {
	readonly atMs: number;
	/** Ties go to what was added first. */
	readonly order: number;
	readonly item: T;
}

export class DueHeap<T> {
	readonly #due: Due<T>[] = [];
	#added = 0;

	get size(): number {
		return this.#due.length;
	}

	/** When the earliest is due; undefined when there is none. */
	get nextMs(): number | undefined {
		return this.#due[0]?.atMs;
	}

	add(atMs: number, item: T): void {
		this.#due.push({ atMs, order: this.#added++, item });
		let index = this.#due.length - 1;
		while (index > 0) {
			const parent = (index - 1) >> 1;
			if (!this.#isBefore(index, parent)) return;
			this.#swap(index, parent);
			index = parent;
		}
	}

	/** Takes out the earliest if it is due at `nowMs`. */
	takeDue(nowMs: number): T | undefined {
		const first = this.#due[0];
		if (first === undefined || first.atMs > nowMs) return undefined;
		const last = this.#due.pop();
		if (last !== undefined && this.#due.length > 0) {
			this.#due[0] = last;
			this.#sink();
		}
		return first.item;
	}

	#sink(): void {
		let index = 0;
		for (;;) {
			const left = 2 * index + 1;
			if (left >= this.#due.length) return;
			const right = left + 1;
			const child = right < this.#due.length && this.#isBefore(right, left) ? right : left;
			if (!this.#isBefore(child, index)) return;
			this.#swap(index, child);
			index = child;
		}
	}

	#isBefore(a: number, b: number): boolean {
		const [first, second] = [this.#due[a], this.#due[b]];
		if (first === undefined || second === undefined) return false;
		return first.atMs < second.atMs || (first.atMs === second.atMs && first.order < second.order);
	}

	#swap(a: number, b: number): void {
		const [first, second] = [this.#due[a], this.#due[b]];
		if (first === undefined || second === undefined) return;
		this.#due[a] = second;
		this.#due[b] = first;
	}
}
