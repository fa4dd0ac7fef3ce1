/**
 * Remembers what was asked for lately: two generations, of which the older one is forgotten when the younger is
 * full. Cheaper per use than an order of last use, and as bounded.
 */
export class RecentMap<V> {
	#young = new Map<string, V>();
	#old = new Map<string, V>();
	readonly #generationMax: number;

	/** @param sizeMax Entries of both generations together. */
	constructor(sizeMax: number) {
		this.#generationMax = Math.ceil(sizeMax / 2);
	}

	get(key: string): V | undefined {
		const value = this.#young.get(key);
		if (value !== undefined) return value;
		const older = this.#old.get(key);
		if (older !== undefined) this.set(key, older);
		return older;
	}

	set(key: string, value: V): void {
		if (this.#young.size >= this.#generationMax) {
			this.#old = this.#young;
			this.#young = new Map();
		}
		this.#young.set(key, value);
	}
}
