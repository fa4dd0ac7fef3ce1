/**
 * A local copy of one resource that follows the server, and tells handlers what changed.
 *
 * Handlers run synchronously, in the order of events, right after the cache has taken the event in.
 * A batch of events is applied in one go, so workers that handlers wake see all of it.
 */
import { keyOf, type Resource } from "../api/resource.ts";
import type { KubeObject } from "../api/types/meta.ts";
import { type IndexValues, ObjectCache } from "./object-cache.ts";
import type { Change, ReflectorEffect } from "./reflector.ts";
import { type ReflectorPorts, runReflector, type Selection } from "./run-reflector.ts";

/** The index that every informer of a namespaced resource has. */
export const BY_NAMESPACE = "byNamespace";

/** What to call when the cache changes. A handler that throws is logged; the informer goes on. */
export interface Handlers<T> {
	added?(object: T): void;
	updated?(old: T, object: T): void;
	/** The last state that the server told; for a delete that was missed, the last state seen. */
	deleted?(object: T): void;
	/** A list or a batch of events is in the cache completely, and its handlers have run. */
	applied?(asOf: string): void;
}

/** What readers of a cache need. The objects are frozen and shared. */
export interface Lister<T extends KubeObject> {
	/** `namespace/name`, or `name` for cluster-scoped objects. */
	get(key: string): T | undefined;
	list(): readonly T[];
	/** The objects with this value in the index; see {@link Informer.addIndex}. */
	index(name: string, value: string): readonly T[];
	/** How many objects `index` would give. */
	indexCount(name: string, value: string): number;
}

export class Informer<T extends KubeObject> implements Lister<T> {
	readonly resource: Resource<T>;
	readonly #ports: ReflectorPorts;
	readonly #selection: Selection;
	readonly #cache: ObjectCache<T> = new ObjectCache();
	readonly #handlers = new Set<Handlers<T>>();
	readonly #waiters = new Set<() => void>();
	#asOf: string | undefined;
	#isWaiting = false;

	constructor(ports: ReflectorPorts, resource: Resource<T>, selection: Selection = {}) {
		this.#ports = ports;
		this.resource = resource;
		this.#selection = selection;
		if (resource.namespaced) this.addIndex(BY_NAMESPACE, (object) => [object.metadata.namespace ?? ""]);
	}

	/** The resourceVersion up to which this cache has seen everything; undefined before the first list. */
	get asOf(): string | undefined {
		return this.#asOf;
	}

	get hasSynced(): boolean {
		return this.#asOf !== undefined;
	}

	/** Whether there is a first list, and no failure that a wait follows: the server's news are on their way. */
	get isFollowing(): boolean {
		return this.hasSynced && !this.#isWaiting;
	}

	get size(): number {
		return this.#cache.size;
	}

	get(key: string): T | undefined {
		return this.#cache.get(key);
	}

	list(): readonly T[] {
		return [...this.#cache.values()];
	}

	index(name: string, value: string): readonly T[] {
		const found = this.#cache.indexed(name, value);
		return found === undefined ? [] : [...found.values()];
	}

	indexCount(name: string, value: string): number {
		return this.#cache.indexed(name, value)?.size ?? 0;
	}

	/** `valuesOf` must be pure. Adding an index under a name that exists does nothing: informers are shared. */
	addIndex(name: string, valuesOf: IndexValues<T>): void {
		if (!this.#cache.hasIndex(name)) this.#cache.addIndex(name, valuesOf);
	}

	/** Handlers that come late are told of every object that is there, as added. Returns how to remove them. */
	addHandlers(handlers: Handlers<T>): () => void {
		this.#handlers.add(handlers);
		for (const object of this.#cache.values()) this.#guard(() => handlers.added?.(object));
		const asOf = this.#asOf;
		if (asOf !== undefined) this.#guard(() => handlers.applied?.(asOf));
		return () => this.#handlers.delete(handlers);
	}

	/** Resolves after the first list is in the cache and its handlers have run. Rejects when aborted. */
	whenSynced(signal: AbortSignal): Promise<void> {
		if (this.hasSynced) return Promise.resolve();
		return new Promise((resolve, reject) => {
			if (signal.aborted) return reject(signal.reason);
			const abort = (): void => {
				this.#waiters.delete(synced);
				reject(signal.reason);
			};
			const synced = (): void => {
				signal.removeEventListener("abort", abort);
				resolve();
			};
			this.#waiters.add(synced);
			signal.addEventListener("abort", abort, { once: true });
		});
	}

	/** Follows the server until `signal` aborts. Call it once. */
	run(signal: AbortSignal): Promise<void> {
		const source = { resource: this.resource, selection: this.#selection };
		const follower = {
			apply: (effect: ReflectorEffect<T>) => this.#apply(effect),
			waits: (isWaiting: boolean) => {
				this.#isWaiting = isWaiting;
			},
		};
		return runReflector(this.#ports, source, follower, signal);
	}

	#apply(effect: ReflectorEffect<T>): void {
		if (effect.kind === "replace") this.#replace(effect.items);
		else for (const change of effect.changes) this.#change(change);
		this.#asOf = effect.asOf;
		for (const handlers of this.#handlers) this.#guard(() => handlers.applied?.(effect.asOf));
		for (const synced of this.#waiters) synced();
		this.#waiters.clear();
	}

	/** What is gone from the list was deleted while nobody watched. What did not change is not told. */
	#replace(items: readonly T[]): void {
		const listed = new Set(items.map(keyOf));
		for (const key of [...this.#cache.keys()]) {
			if (!listed.has(key)) this.#remove(key, this.#cache.get(key) as T);
		}
		for (const object of items) {
			const known = this.#cache.get(keyOf(object));
			const isNews = known === undefined || known.metadata.resourceVersion !== object.metadata.resourceVersion;
			if (isNews) this.#put(object);
		}
	}

	#change({ type, object }: Change<T>): void {
		if (type === "DELETED") this.#remove(keyOf(object), object);
		else this.#put(object);
	}

	/** Another object under a known name means that a delete was missed: tell both. */
	#put(object: T): void {
		const key = keyOf(object);
		const known = this.#cache.get(key);
		if (known !== undefined && known.metadata.uid !== object.metadata.uid) this.#remove(key, known);
		const old = this.#cache.set(key, object);
		for (const handlers of this.#handlers) {
			this.#guard(() => (old === undefined ? handlers.added?.(object) : handlers.updated?.(old, object)));
		}
	}

	#remove(key: string, last: T): void {
		if (this.#cache.delete(key) === undefined) return;
		for (const handlers of this.#handlers) this.#guard(() => handlers.deleted?.(last));
	}

	#guard(handle: () => void): void {
		try {
			handle();
		} catch (error) {
			this.#ports.log.error("Handler of an informer failed", { resource: this.resource.plural, error });
		}
	}
}
