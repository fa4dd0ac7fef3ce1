/** An ApiClient that lets a test refuse writes, or see them, before they go to the real one. */
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
} from "../machinery/api-client.ts";

export interface ClientWrite {
	readonly verb: "create" | "update" | "patch" | "post" | "delete" | "deletecollection";
	readonly plural: string;
	readonly name: string;
	readonly subresource: string | undefined;
}

export class RefusingClient implements ApiClient {
	readonly #client: ApiClient;
	readonly #onWrite: (write: ClientWrite) => void;

	/** @param onWrite Throws to refuse. */
	constructor(client: ApiClient, onWrite: (write: ClientWrite) => void) {
		this.#client = client;
		this.#onWrite = onWrite;
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

	async create<T extends KubeObject>(
		resource: Resource<T>,
		namespace: string,
		object: Draft<T>,
		options?: WriteOptions,
	): Promise<T> {
		this.#tell("create", resource, object.metadata.name ?? "");
		return this.#client.create(resource, namespace, object, options);
	}

	async update<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T> {
		this.#tell("update", resource, object.metadata.name, options?.subresource);
		return this.#client.update(resource, object, options);
	}

	async patch<T extends KubeObject>(
		resource: Resource<T>,
		key: ObjectKey,
		patch: { readonly type: PatchType; readonly body: unknown },
		options?: WriteOptions,
	): Promise<T> {
		this.#tell("patch", resource, key.name, options?.subresource);
		return this.#client.patch(resource, key, patch, options);
	}

	async post(resource: Resource, key: ObjectKey, subresource: string, body: unknown): Promise<Status> {
		this.#tell("post", resource, key.name, subresource);
		return this.#client.post(resource, key, subresource, body);
	}

	async delete<T extends KubeObject>(
		resource: Resource<T>,
		key: ObjectKey,
		options?: DeleteOptions,
	): Promise<T | Status> {
		this.#tell("delete", resource, key.name);
		return this.#client.delete(resource, key, options);
	}

	async deleteCollection<T extends KubeObject>(
		resource: Resource<T>,
		namespace: string,
		options?: DeleteOptions & { readonly labelSelector?: string },
	): Promise<void> {
		this.#tell("deletecollection", resource, namespace);
		return this.#client.deleteCollection(resource, namespace, options);
	}

	#tell(verb: ClientWrite["verb"], { plural }: Resource, name: string, subresource?: string): void {
		this.#onWrite({ verb, plural, name, subresource });
	}
}
