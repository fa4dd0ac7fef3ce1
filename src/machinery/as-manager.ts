/** A client whose writes have an owner: several parts may share one connection, and each owns what it writes. */
import type { ObjectKey, Resource } from "../api/resource.ts";
import type { Status } from "../api/status.ts";
import type { Draft, KubeObject } from "../api/types/meta.ts";
import type {
	ApiClient,
	DeleteOptions,
	ListOptions,
	ListResult,
	PatchType,
	WatchEvent,
	WatchOptions,
	WriteOptions,
} from "./api-client.ts";

/** @param fieldManager Owns what is written, unless a write names another. */
export function asManager(client: ApiClient, fieldManager: string): ApiClient {
	return new ManagedClient(client, fieldManager);
}

class ManagedClient implements ApiClient {
	readonly #client: ApiClient;
	readonly #owner: { readonly fieldManager: string };

	constructor(client: ApiClient, fieldManager: string) {
		this.#client = client;
		this.#owner = { fieldManager };
	}

	get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, signal?: AbortSignal): Promise<T> {
		return this.#client.get(resource, key, signal);
	}

	list<T extends KubeObject>(resource: Resource<T>, options: ListOptions): Promise<ListResult<T>> {
		return this.#client.list(resource, options);
	}

	watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions): AsyncIterable<readonly WatchEvent<T>[]> {
		return this.#client.watch(resource, options);
	}

	create<T extends KubeObject>(
		resource: Resource<T>,
		namespace: string,
		object: Draft<T>,
		options?: WriteOptions,
	): Promise<T> {
		return this.#client.create(resource, namespace, object, this.#owned(options));
	}

	update<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T> {
		return this.#client.update(resource, object, this.#owned(options));
	}

	patch<T extends KubeObject>(
		resource: Resource<T>,
		key: ObjectKey,
		patch: { readonly type: PatchType; readonly body: unknown },
		options?: WriteOptions,
	): Promise<T> {
		return this.#client.patch(resource, key, patch, this.#owned(options));
	}

	post(resource: Resource, key: ObjectKey, subresource: string, body: unknown, signal?: AbortSignal): Promise<Status> {
		return this.#client.post(resource, key, subresource, body, signal);
	}

	delete<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, options?: DeleteOptions): Promise<T | Status> {
		return this.#client.delete(resource, key, options);
	}

	deleteCollection<T extends KubeObject>(
		resource: Resource<T>,
		namespace: string,
		options?: DeleteOptions & { readonly labelSelector?: string },
	): Promise<void> {
		return this.#client.deleteCollection(resource, namespace, options);
	}

	#owned(options: WriteOptions | undefined): WriteOptions {
		return options === undefined ? this.#owner : { ...this.#owner, ...options };
	}
}
