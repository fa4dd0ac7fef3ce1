/**
 * Objects by key, with indexes that are kept up to date as objects change.
 *
 * An index maps a value to the objects that have it; an object may have several values, or none.
 */
import type { KubeObject } from "../api/types/meta.ts";
import { assert, assertDefined } from "../kernel/assert.ts";

export type IndexValues<T> = (object: T) => readonly string[];

interface Index<T> {
	readonly valuesOf: IndexValues<T>;
	readonly byValue: Map<string, Map<string, T>>;
}

export class ObjectCache<T extends KubeObject> {
	readonly #objects = new Map<string, T>();
	readonly #indexes = new Map<string, Index<T>>();

	get size(): number {
		return this.#objects.size;
	}

	get(key: string): T | undefined {
		return this.#objects.get(key);
	}

	keys(): IterableIterator<string> {
		return this.#objects.keys();
	}

	values(): IterableIterator<T> {
		return this.#objects.values();
	}

	addIndex(name: string, valuesOf: IndexValues<T>): void {
		assert(!this.#indexes.has(name), `Index "${name}" exists already`);
		const index: Index<T> = { valuesOf, byValue: new Map() };
		this.#indexes.set(name, index);
		for (const [key, object] of this.#objects) enter(index, key, object);
	}

	hasIndex(name: string): boolean {
		return this.#indexes.has(name);
	}

	/** The objects with this value, by key; undefined if there are none. The map is the cache's own: don't keep it. */
	indexed(name: string, value: string): ReadonlyMap<string, T> | undefined {
		return assertDefined(this.#indexes.get(name), `index "${name}"`).byValue.get(value);
	}

	/** Returns what was there under `key`. */
	set(key: string, object: T): T | undefined {
		const previous = this.#objects.get(key);
		this.#objects.set(key, object);
		for (const index of this.#indexes.values()) {
			if (previous !== undefined) leave(index, key, previous);
			enter(index, key, object);
		}
		return previous;
	}

	delete(key: string): T | undefined {
		const previous = this.#objects.get(key);
		if (previous === undefined) return undefined;
		this.#objects.delete(key);
		for (const index of this.#indexes.values()) leave(index, key, previous);
		return previous;
	}
}

function enter<T>(index: Index<T>, key: string, object: T): void {
	for (const value of index.valuesOf(object)) {
		const there = index.byValue.get(value);
		if (there === undefined) index.byValue.set(value, new Map([[key, object]]));
		else there.set(key, object);
	}
}

function leave<T>(index: Index<T>, key: string, object: T): void {
	for (const value of index.valuesOf(object)) {
		const there = index.byValue.get(value);
		there?.delete(key);
		if (there?.size === 0) index.byValue.delete(value);
	}
}
