/**
 * An ApiClient for tests of one controller: it lists what the test says, watches what the test
 * sends, and writes down every write. It is no API server: it stores nothing and checks nothing.
 */
import { apiVersionOf, type ObjectKey, type Resource } from "../api/resource.ts";
import { notFound, type Status } from "../api/status.ts";
import type { Draft, KubeObject } from "../api/types/meta.ts";
import { deepFreeze } from "../kernel/json.ts";
import type {
	ApiClient,
	DeleteOptions,
	ListOptions,
	ListResult,
	WatchEvent,
	WatchOptions,
} from "../machinery/api-client.ts";

export type RecordedWrite =
	| { readonly verb: "create" | "update"; readonly plural: string; readonly key: string; readonly object: KubeObject }
	| { readonly verb: "patch" | "post"; readonly plural: string; readonly key: string; readonly body: unknown }
	| { readonly verb: "delete"; readonly plural: string; readonly key: string; readonly options: DeleteOptions };

/** One open watch: what was sent and not yet read, and who waits for more. */
interface OpenWatch {
	readonly pending: (readonly WatchEvent<KubeObject>[] | Error | "end")[];
	wake: () => void;
}

export class RecordingClient implements ApiClient {
	readonly writes: RecordedWrite[] = [];
	/** `list pods`, `watch pods@7`: what was read, in order. */
	readonly reads: string[] = [];
	/** Throws to refuse a write; called before it is written down. */
	onWrite: (write: RecordedWrite) => void = () => undefined;
	readonly #lists = new Map<string, ListResult<KubeObject> | Error>();
	readonly #watches = new Map<string, Set<OpenWatch>>();
	#issued = 1000;

	/** What the next lists of the resource answer. */
	serve<T extends KubeObject>(resource: Resource<T>, items: readonly T[] | Error, resourceVersion = "1"): void {
		const answer = items instanceof Error ? items : { items: items.map(deepFreeze), resourceVersion };
		this.#lists.set(resource.plural, answer);
	}

	/** Sends one batch to every open watch of the resource. */
	send<T extends KubeObject>(resource: Resource<T>, ...events: readonly WatchEvent<T>[]): void {
		this.#feed(resource, deepFreeze(events));
	}

	/** Ends every open watch of the resource, with an error if one is given. */
	end(resource: Resource, error?: Error): void {
		this.#feed(resource, error ?? "end");
	}

	openWatches(resource: Resource): number {
		return this.#watches.get(resource.plural)?.size ?? 0;
	}

	/** Verb, resource and key of every write so far: `create endpointslices default/web-`. */
	log(): string[] {
		return this.writes.map(({ verb, plural, key }) => `${verb} ${plural} ${key}`);
	}

	get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey): Promise<T> {
		const found = this.#items(resource).find(
			({ metadata }) => metadata.name === key.name && (metadata.namespace ?? "") === key.namespace,
		);
		return found === undefined ? Promise.reject(notFound(resource, key.name)) : Promise.resolve(found);
	}

	list<T extends KubeObject>(resource: Resource<T>, options: ListOptions): Promise<ListResult<T>> {
		const at = options.resourceVersion === undefined ? "" : `@${options.resourceVersion}`;
		this.reads.push(`list ${resource.plural}${at}`);
		const answer = this.#lists.get(resource.plural);
		if (answer instanceof Error) return Promise.reject(answer);
		return Promise.resolve({ items: this.#items(resource), resourceVersion: answer?.resourceVersion ?? "1" });
	}

	async *watch<T extends KubeObject>(
		resource: Resource<T>,
		options: WatchOptions,
	): AsyncIterable<readonly WatchEvent<T>[]> {
		this.reads.push(`watch ${resource.plural}@${options.resourceVersion}`);
		const watch: OpenWatch = { pending: [], wake: () => undefined };
		const open = this.#watches.get(resource.plural) ?? new Set();
		this.#watches.set(resource.plural, open.add(watch));
		const stop = (): void => watch.wake();
		options.signal.addEventListener("abort", stop, { once: true });
		try {
			while (!options.signal.aborted) {
				const next = watch.pending.shift();
				if (next === "end") return;
				if (next instanceof Error) throw next;
				// What was sent under the resource's name has the type that the resource names.
				if (next !== undefined) yield next as readonly WatchEvent<T>[];
				else await new Promise<void>((resolve) => (watch.wake = resolve));
			}
		} finally {
			open.delete(watch);
			options.signal.removeEventListener("abort", stop);
		}
	}

	async create<T extends KubeObject>(resource: Resource<T>, namespace: string, object: Draft<T>): Promise<T> {
		const name = object.metadata.name ?? `${object.metadata.generateName ?? ""}${this.#issued + 1}`;
		const completed = {
			...object,
			apiVersion: apiVersionOf(resource),
			kind: resource.kind,
			metadata: {
				creationTimestamp: "2026-01-01T00:00:00Z",
				...object.metadata,
				name,
				...(resource.namespaced ? { namespace } : {}),
				uid: `uid-${name}`,
				resourceVersion: String(++this.#issued),
				generation: 1,
			},
		};
		this.#record({
			verb: "create",
			plural: resource.plural,
			key: joined(namespace, object.metadata.name ?? object.metadata.generateName ?? ""),
			object: completed,
		});
		// A draft holds everything of T but the metadata that was just completed.
		return deepFreeze(completed) as KubeObject as T;
	}

	async update<T extends KubeObject>(resource: Resource<T>, object: T): Promise<T> {
		const { namespace = "", name, generation = 1 } = object.metadata;
		this.#record({ verb: "update", plural: resource.plural, key: joined(namespace, name), object });
		return deepFreeze({
			...object,
			metadata: { ...object.metadata, resourceVersion: String(++this.#issued), generation: generation + 1 },
		});
	}

	async patch<T extends KubeObject>(
		resource: Resource<T>,
		key: ObjectKey,
		patch: { readonly body: unknown },
	): Promise<T> {
		this.#record({ verb: "patch", plural: resource.plural, key: joined(key.namespace, key.name), body: patch.body });
		return this.get(resource, key).catch(() => {
			const metadata = { name: key.name, uid: "", resourceVersion: "1", creationTimestamp: "" };
			return { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata } as KubeObject as T;
		});
	}

	async post(resource: Resource, key: ObjectKey, subresource: string, body: unknown): Promise<Status> {
		const plural = `${resource.plural}/${subresource}`;
		this.#record({ verb: "post", plural, key: joined(key.namespace, key.name), body });
		return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" };
	}

	async delete<T extends KubeObject>(
		resource: Resource<T>,
		key: ObjectKey,
		options: DeleteOptions = {},
	): Promise<Status> {
		const { signal: _, ...kept } = options;
		this.#record({ verb: "delete", plural: resource.plural, key: joined(key.namespace, key.name), options: kept });
		return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" };
	}

	async deleteCollection(resource: Resource, namespace: string, options: DeleteOptions = {}): Promise<void> {
		const { signal: _, ...kept } = options;
		this.#record({ verb: "delete", plural: resource.plural, key: joined(namespace, "*"), options: kept });
	}

	#record(write: RecordedWrite): void {
		this.onWrite(write);
		this.writes.push(write);
	}

	#items<T extends KubeObject>(resource: Resource<T>): readonly T[] {
		const answer = this.#lists.get(resource.plural);
		// What was served under the resource's name has the type that the resource names.
		return answer === undefined || answer instanceof Error ? [] : (answer.items as readonly T[]);
	}

	#feed(resource: Resource, what: readonly WatchEvent<KubeObject>[] | Error | "end"): void {
		for (const watch of this.#watches.get(resource.plural) ?? []) {
			watch.pending.push(what);
			watch.wake();
		}
	}
}

function joined(namespace: string, name: string): string {
	return namespace === "" ? name : `${namespace}/${name}`;
}
