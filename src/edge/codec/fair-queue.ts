/** What waits for one worker: everybody who has something in it has their turn after one of each other's. */
export class FairQueue<Item> {
	/** By who asked, whose turn is next first; none is empty. */
	readonly #waiting = new Map<string, Item[]>();
	readonly #eachMax: number;

	/** @param eachMax What one may have waiting. */
	constructor(eachMax: number) {
		this.#eachMax = eachMax;
	}

	/** False when whoever asks has too much waiting already. */
	add(who: string, item: Item): boolean {
		const own = this.#waiting.get(who);
		if (own === undefined) this.#waiting.set(who, [item]);
		else if (own.length >= this.#eachMax) return false;
		else own.push(item);
		return true;
	}

	next(): Item | undefined {
		const [first] = this.#waiting;
		if (first === undefined) return undefined;
		const [who, items] = first;
		const item = items.shift();
		this.#waiting.delete(who);
		if (items.length > 0) this.#waiting.set(who, items);
		return item;
	}
}
