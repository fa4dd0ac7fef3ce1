/** A map that forgets the entry that was used least recently once it holds more than `sizeMax`. */
export class BoundedMap<K, V> {
	readonly #entries = new Map<K, V>();
	readonly #sizeMax: number;

	constructor(sizeMax: number) {
		this.#sizeMax = sizeMax;
	}

	/** Counts as a use. */
	get(key: K): V | undefined {
		const value = this.#entries.get(key);
		if (value === undefined) return undefined;
		this.#entries.delete(key);
		this.#entries.set(key, value);
		return value;
	}

	set(key: K, value: V): void {
		this.#entries.delete(key);
		this.#entries.set(key, value);
		if (this.#entries.size <= this.#sizeMax) return;
		const [oldest] = this.#entries.keys();
		if (oldest !== undefined) this.#entries.delete(oldest);
	}

	delete(key: K): void {
		this.#entries.delete(key);
	}
}
