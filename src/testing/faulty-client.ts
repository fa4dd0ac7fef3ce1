/**
 * An ApiClient with a fault in it: everything that passes goes through {@link Faults}, which may hold it back,
 * lose it, refuse it, or only look at it.
 *
 *     const client = new FaultyClient(plane.client, {
 *       call: (about, send) => (about.verb === "update" ? Promise.reject(conflict) : send()),
 *     });
 */
import type { ObjectKey, Resource } from "../api/resource.ts";
import type { Status } from "../api/status.ts";
import type { Draft, KubeObject } from "../api/types/meta.ts";
import {
	type ApiClient,
	type DeleteOptions,
	type ListOptions,
	type ListResult,
	type PatchType,
	TransportError,
	type WatchEvent,
	type WatchOptions,
	type WriteOptions,
} from "../machinery/api-client.ts";

/** What is asked of the API. */
export interface ClientCall {
	readonly verb: "get" | "list" | "watch" | "create" | "update" | "patch" | "post" | "delete" | "deletecollection";
	readonly resource: Resource;
	/** "" for cluster-scoped objects, and for lists over all namespaces. */
	readonly namespace: string;
	/** "" for lists, watches, and objects whose name the server makes. */
	readonly name: string;
	/** Undefined: the object itself. */
	readonly subresource?: string | undefined;
	/** Of lists and watches. */
	readonly resourceVersion?: string;
	/** What a write sends. */
	readonly body?: unknown;
	/** Ends what waits on behalf of this call. */
	readonly signal?: AbortSignal;
}

export interface Faults {
	/** Called for every request; `send` passes it on. Of a watch, `send` only opens it. */
	call<R>(about: ClientCall, send: () => Promise<R>): Promise<R>;
	/** Called before a batch of a watch's events is handed on, which waits for it. False ends the watch. */
	deliver?(about: ClientCall, batch: readonly WatchEvent<KubeObject>[]): Promise<boolean> | boolean;
}

/**
 * A faulty transport: an ApiClient whose requests and watches pass through {@link Faults}.
 *
 * @example
 *     const plane = await startTestPlane({ nodes: 0, controllers: [] });
 *     const client = new FaultyClient(plane.client, {
 *       // Every write lands, and its reply is lost.
 *       async call({ verb }, send) {
 *         const answer = await send();
 *         if (verb !== "create") return answer;
 *         throw new TransportError("broken", "the connection was cut");
 *       },
 *     });
 *     await assert.rejects(client.create(CONFIG_MAPS, "default", { metadata: { name: "a" } }), /cut/);
 *     await plane.client.get(CONFIG_MAPS, { namespace: "default", name: "a" });
 *     await plane.stop();
 */
export class FaultyClient implements ApiClient {
	readonly #client: ApiClient;
	readonly #faults: Faults;
	readonly #watches = new Set<AbortController>();

	constructor(client: ApiClient, faults: Faults) {
		this.#client = client;
		this.#faults = faults;
	}

	/** Every open watch breaks, as when its connection is cut. */
	breakWatches(): void {
		for (const watch of this.#watches) watch.abort();
	}

	get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, signal?: AbortSignal): Promise<T> {
		return this.#call({ verb: "get", resource, ...key }, signal, () => this.#client.get(resource, key, signal));
	}

	list<T extends KubeObject>(resource: Resource<T>, options: ListOptions): Promise<ListResult<T>> {
		const { namespace = "", resourceVersion = "", signal } = options;
		const about = { verb: "list", resource, namespace, name: "", resourceVersion } as const;
		return this.#call(about, signal, () => this.#client.list(resource, options));
	}

	async *watch<T extends KubeObject>(
		resource: Resource<T>,
		options: WatchOptions,
	): AsyncIterable<readonly WatchEvent<T>[]> {
		const { namespace = "", resourceVersion, signal } = options;
		const broken = new AbortController();
		const either = AbortSignal.any([signal, broken.signal]);
		const about = { verb: "watch", resource, namespace, name: "", resourceVersion, signal: either } as const;
		await this.#faults.call(about, () => Promise.resolve());
		this.#watches.add(broken);
		try {
			for await (const batch of this.#client.watch(resource, { ...options, signal: either })) {
				if (!((await this.#faults.deliver?.(about, batch)) ?? true)) return;
				if (broken.signal.aborted) break;
				yield batch;
			}
		} finally {
			this.#watches.delete(broken);
		}
		if (broken.signal.aborted && !signal.aborted) throw new TransportError("broken", "the connection was cut");
	}

	create<T extends KubeObject>(
		resource: Resource<T>,
		namespace: string,
		object: Draft<T>,
		options?: WriteOptions,
	): Promise<T> {
		const about = {
			verb: "create",
			resource,
			namespace,
			name: object.metadata.name ?? "",
			body: object,
			subresource: options?.subresource,
		} as const;
		return this.#call(about, options?.signal, () => this.#client.create(resource, namespace, object, options));
	}

	update<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T> {
		const { namespace = "", name } = object.metadata;
		const about = {
			verb: "update",
			resource,
			namespace,
			name,
			body: object,
			subresource: options?.subresource,
		} as const;
		return this.#call(about, options?.signal, () => this.#client.update(resource, object, options));
	}

	patch<T extends KubeObject>(
		resource: Resource<T>,
		key: ObjectKey,
		patch: { readonly type: PatchType; readonly body: unknown },
		options?: WriteOptions,
	): Promise<T> {
		const about = { verb: "patch", resource, ...key, body: patch.body, subresource: options?.subresource } as const;
		return this.#call(about, options?.signal, () => this.#client.patch(resource, key, patch, options));
	}

	post(resource: Resource, key: ObjectKey, subresource: string, body: unknown, signal?: AbortSignal): Promise<Status> {
		const about = { verb: "post", resource, ...key, subresource, body } as const;
		return this.#call(about, signal, () => this.#client.post(resource, key, subresource, body, signal));
	}

	delete<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, options?: DeleteOptions): Promise<T | Status> {
		const about = { verb: "delete", resource, ...key } as const;
		return this.#call(about, options?.signal, () => this.#client.delete(resource, key, options));
	}

	deleteCollection<T extends KubeObject>(
		resource: Resource<T>,
		namespace: string,
		options?: DeleteOptions & { readonly labelSelector?: string },
	): Promise<void> {
		const about = { verb: "deletecollection", resource, namespace, name: "" } as const;
		return this.#call(about, options?.signal, () => this.#client.deleteCollection(resource, namespace, options));
	}

	#call<R>(about: ClientCall, signal: AbortSignal | undefined, send: () => Promise<R>): Promise<R> {
		return this.#faults.call(signal === undefined ? about : { ...about, signal }, send);
	}
}
