/** An ApiClient whose process dies at one of its calls: from then on nothing gets out, and no answer comes back. */
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

export interface Death {
	/** The call at which it happens, counted from 1. */
	readonly atCall: number;
	readonly counts: "writes" | "calls";
	/** Whether the call itself still reaches the server, so that only its answer is lost. */
	readonly isSent: boolean;
}

export class MortalClient implements ApiClient {
	readonly #client: ApiClient;
	readonly #death: Death;
	#calls = 0;
	#isDead = false;
	#bury: (reason: Error) => void = () => undefined;
	readonly #silence: Promise<never>;

	constructor(client: ApiClient, death: Death) {
		this.#client = client;
		this.#death = death;
		this.#silence = new Promise((_, reject) => (this.#bury = reject));
		this.#silence.catch(() => undefined);
	}

	get isDead(): boolean {
		return this.#isDead;
	}

	/** Ends the calls that would wait for ever, once those who wait are told to stop. */
	bury(): void {
		this.#isDead = true;
		this.#bury(new Error("the process is dead"));
	}

	get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, signal?: AbortSignal): Promise<T> {
		return this.#call(false, () => this.#client.get(resource, key, signal));
	}

	list<T extends KubeObject>(resource: Resource<T>, options: ListOptions): Promise<ListResult<T>> {
		return this.#call(false, () => this.#client.list(resource, options));
	}

	async *watch<T extends KubeObject>(
		resource: Resource<T>,
		options: WatchOptions,
	): AsyncIterable<readonly WatchEvent<T>[]> {
		await this.#call(false, () => Promise.resolve());
		for await (const batch of this.#client.watch(resource, options)) {
			if (this.#isDead) return;
			yield batch;
		}
	}

	create<T extends KubeObject>(
		resource: Resource<T>,
		namespace: string,
		object: Draft<T>,
		options?: WriteOptions,
	): Promise<T> {
		return this.#call(true, () => this.#client.create(resource, namespace, object, options));
	}

	update<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T> {
		return this.#call(true, () => this.#client.update(resource, object, options));
	}

	patch<T extends KubeObject>(
		resource: Resource<T>,
		key: ObjectKey,
		patch: { readonly type: PatchType; readonly body: unknown },
		options?: WriteOptions,
	): Promise<T> {
		return this.#call(true, () => this.#client.patch(resource, key, patch, options));
	}

	post(resource: Resource, key: ObjectKey, subresource: string, body: unknown, signal?: AbortSignal): Promise<Status> {
		return this.#call(true, () => this.#client.post(resource, key, subresource, body, signal));
	}

	delete<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, options?: DeleteOptions): Promise<T | Status> {
		return this.#call(true, () => this.#client.delete(resource, key, options));
	}

	deleteCollection<T extends KubeObject>(
		resource: Resource<T>,
		namespace: string,
		options?: DeleteOptions & { readonly labelSelector?: string },
	): Promise<void> {
		return this.#call(true, () => this.#client.deleteCollection(resource, namespace, options));
	}

	async #call<R>(isWrite: boolean, send: () => Promise<R>): Promise<R> {
		if (this.#isDead) return this.#silence;
		if (isWrite || this.#death.counts === "calls") this.#calls++;
		if (this.#calls < this.#death.atCall) {
			const answer = await send();
			return this.#isDead ? this.#silence : answer;
		}
		this.#isDead = true;
		if (this.#death.isSent) await send().catch(() => undefined);
		return this.#silence;
	}
}
