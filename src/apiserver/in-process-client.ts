/**
 * The API without HTTP and JSON, for the parts that run in the server's own process.
 *
 * The semantics are the same: identity, authorization, admission, validation, conflicts, watches. Objects
 * are the stored ones, frozen and shared, so reading costs nothing.
 */

import { required } from "../api/field-error.ts";
import { selectedName } from "../api/field-selector.ts";
import { apiVersionOf, type ObjectKey, type Resource, type ResourceType } from "../api/resource.ts";
import { ApiError, expiredWatch, invalidObject, noSuchPath, type Status } from "../api/status.ts";
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
import type { ApiServer } from "./api-server.ts";
import { PLAIN_WRITE, type RequestContext, type Target, type User, type WriteFlags } from "./ports.ts";
import { upToDate } from "./required-revision.ts";
import { type Selection, selectionOf } from "./selection.ts";
import { bindPod } from "./subresources/binding.ts";
import { evictPod } from "./subresources/eviction.ts";
import { updateScale } from "./subresources/scale.ts";
import { createObject } from "./verbs/create.ts";
import { deleteCollection, deleteObject } from "./verbs/delete.ts";
import { listObjects, parseResourceVersion } from "./verbs/list.ts";
import { patchObject } from "./verbs/patch.ts";
import { getObject } from "./verbs/read.ts";
import { updateObject } from "./verbs/update.ts";
import { transition } from "./watch/transition.ts";

/** Events handed to a reader in one batch. */
const EVENTS_PER_BATCH_MAX = 1_000;
/** A bookmark goes to a reader whose resource was silent while the store moved on by so many revisions. */
const SILENT_REVISIONS_MAX = 1_000;

export class InProcessClient implements ApiClient {
	readonly #server: ApiServer;
	readonly #user: User;
	readonly #manager: string;
	readonly #mayWrite: () => boolean;

	/**
	 * @param manager Owns what is written through this client.
	 * @param mayWrite Asked before each write.
	 */
	constructor(server: ApiServer, user: User, manager = "sliceplane", mayWrite: () => boolean = () => true) {
		this.#server = server;
		this.#user = user;
		this.#manager = manager;
		this.#mayWrite = mayWrite;
	}

	get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey): Promise<T> {
		return this.#ask(async () => {
			return getObject(this.#server.ports, this.#target("get", resource, key.namespace, key.name)) as T;
		});
	}

	list<T extends KubeObject>(resource: Resource<T>, options: ListOptions): Promise<ListResult<T>> {
		const list = async (): Promise<ListResult<T>> => {
			const target = this.#collection("list", resource, options);
			const answer = await listObjects(this.#server.ports, target, options, this.#context(options.signal));
			return { items: answer.items as readonly T[], resourceVersion: String(answer.revision) };
		};
		return (options.resourceVersion ?? "") === "" ? this.#ask(list) : list();
	}

	async *watch<T extends KubeObject>(
		resource: Resource<T>,
		options: WatchOptions,
	): AsyncIterable<readonly WatchEvent<T>[]> {
		const target = this.#collection("watch", resource, options);
		const selection = selectionOf(target.type, { namespace: target.namespace, ...options });
		let cursor = parseResourceVersion(options.resourceVersion);
		const { compacted } = this.#server.ports.store.view;
		if (cursor < compacted) throw expiredWatch(cursor, compacted);
		let told = cursor;
		const { customTypes } = this.#server;
		const changes = customTypes.changesOf(target.type.storagePrefix);
		while (!options.signal.aborted) {
			const { events, through } = this.#readAfter<T>(target.type, selection, cursor);
			cursor = through;
			if (events.length > 0) yield events;
			else if (cursor - told >= SILENT_REVISIONS_MAX) yield [{ type: "BOOKMARK", resourceVersion: String(cursor) }];
			// A custom resource may go, or come back as another: then its readers start again.
			else if (customTypes.changesOf(target.type.storagePrefix) !== changes) return;
			else {
				await this.#server.bell.news(target.type.storagePrefix, cursor, options.signal);
				// The writer's answer goes out first, and what others write in the same turn comes in one batch.
				await this.#server.ports.clock.yield();
				continue;
			}
			told = cursor;
		}
	}

	create<T extends KubeObject>(
		resource: Resource<T>,
		namespace: string,
		object: Draft<T>,
		options: WriteOptions = {},
	): Promise<T> {
		return this.#write(async () => {
			const target = this.#target("create", resource, namespace, "");
			const context = this.#context(options.signal);
			const { custom, kind } = target.type;
			// Drafts need not say what they are; bodies of custom objects must.
			const body = custom === undefined ? object : { apiVersion: apiVersionOf(target.type), kind, ...object };
			return this.#seen(createObject(this.#server.ports, target, body, flagsOf(options), context) as Promise<T>);
		});
	}

	update<T extends KubeObject>(resource: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
		const { namespace = "", name } = object.metadata;
		return this.#write(async () => {
			const { ports } = this.#server;
			const target = this.#target("update", resource, namespace, name, options.subresource);
			const context = this.#context(options.signal);
			if (options.subresource === "scale") {
				const scale: Promise<KubeObject> = updateScale(ports, target, { body: object }, flagsOf(options), context);
				return this.#seen(scale as Promise<T>);
			}
			const flags = { ...flagsOf(options), ...subresourceOf(options) };
			return (await this.#seen(updateObject(ports, target, object, flags, context))).object as T;
		});
	}

	patch<T extends KubeObject>(
		resource: Resource<T>,
		key: ObjectKey,
		patch: { readonly type: PatchType; readonly body: unknown },
		options: WriteOptions = {},
	): Promise<T> {
		return this.#write(async () => {
			const { ports } = this.#server;
			const target = this.#target("patch", resource, key.namespace, key.name, options.subresource);
			const context = this.#context(options.signal);
			const flags = { ...flagsOf(options), ...(patch.type === "apply" ? requireManager(options) : {}) };
			if (options.subresource === "scale") {
				const scaled: Promise<KubeObject> = updateScale(ports, target, { patch }, flags, context);
				return this.#seen(scaled as Promise<T>);
			}
			const change = { ...flags, ...subresourceOf(options) };
			return (await this.#seen(patchObject(ports, target, patch, change, context))).object as T;
		});
	}

	post(resource: Resource, key: ObjectKey, subresource: string, body: unknown): Promise<Status> {
		return this.#write(async () => {
			const target = this.#target("create", resource, key.namespace, key.name, subresource);
			if (subresource === "binding") return bindPod(this.#server.ports, target, body, false);
			if (subresource !== "eviction") throw noSuchPath();
			return evictPod(this.#server.ports, target, body, () => ({ dryRun: false }));
		});
	}

	delete<T extends KubeObject>(
		resource: Resource<T>,
		key: ObjectKey,
		options: DeleteOptions = {},
	): Promise<T | Status> {
		return this.#write(async () => {
			const target = this.#target("delete", resource, key.namespace, key.name);
			const deleted = deleteObject(this.#server.ports, target, { ...options, dryRun: false });
			const { answer } = await this.#seen(deleted);
			return answer as T | Status;
		});
	}

	deleteCollection<T extends KubeObject>(
		resource: Resource<T>,
		namespace: string,
		options: DeleteOptions & { readonly labelSelector?: string } = {},
	): Promise<void> {
		return this.#write(async () => {
			const target = this.#target("deletecollection", resource, namespace, "");
			const { labelSelector, ...deletion } = options;
			const query = labelSelector === undefined ? {} : { labelSelector };
			const context = this.#context(options.signal);
			await deleteCollection(this.#server.ports, target, query, { ...deletion, dryRun: false }, context);
		});
	}

	/** Whoever leads no more writes no more, whether or not it knows: it may have been stopped, and gone on. */
	#write<T>(work: () => Promise<T>): Promise<T> {
		if (this.#mayWrite()) return this.#ask(work);
		return Promise.reject(new ApiError("ServiceUnavailable", "nothing is written: this process leads no more"));
	}

	/** In the newest state: what is asked here never says that an older one would do. */
	#ask<T>(work: () => Promise<T>): Promise<T> {
		return upToDate(this.#server.ports, work);
	}

	/**
	 * A write resolves when caches of this process have had their turn to see it: so a controller that
	 * goes on to its next key does not find its own cache out of date, and requests get their share of time.
	 */
	async #seen<T>(write: Promise<T>): Promise<T> {
		const answer = await write;
		const { clock } = this.#server.ports;
		await clock.yield();
		await clock.yield();
		return answer;
	}

	#readAfter<T extends KubeObject>(
		type: ResourceType,
		selection: Selection,
		cursor: number,
	): { readonly events: readonly WatchEvent<T>[]; readonly through: number } {
		const { store } = this.#server.ports;
		const batch = store.space(type.storagePrefix).readAfter(cursor, EVENTS_PER_BATCH_MAX, store.revision);
		if (batch.kind === "compacted") throw expiredWatch(cursor, batch.oldest);
		const events: WatchEvent<T>[] = [];
		for (const storeEvent of batch.events) {
			const event = transition(storeEvent, selection);
			if (event !== undefined) events.push({ type: event.type, object: event.object as T });
		}
		return { events, through: batch.through };
	}

	#collection(verb: "list" | "watch", resource: Resource, { namespace = "", fieldSelector = "" }: Selected): Target {
		return { ...this.#target(verb, resource, namespace, selectedName(fieldSelector)), name: "" };
	}

	/** @throws {ApiError} `Forbidden`, or `NotFound` for a resource that is not served. */
	#target(verb: string, resource: Resource, namespace: string, name: string, subresource?: string): Target {
		const type = this.#server.typeOf(resource);
		this.#server.ports.authorizer.authorize(this.#user, { verb, type, namespace, name, subresource });
		return { type, namespace, name };
	}

	#context(signal: AbortSignal | undefined): RequestContext {
		return {
			user: this.#user,
			manager: this.#manager,
			warn: () => undefined,
			...(signal === undefined ? {} : { signal }),
		};
	}
}

type Selected = Pick<ListOptions, "namespace" | "fieldSelector">;

function flagsOf({ fieldManager = "", force }: WriteOptions): WriteFlags {
	return {
		...PLAIN_WRITE,
		...(fieldManager === "" ? {} : { fieldManager }),
		...(force === undefined ? {} : { force }),
	};
}

/** An apply must say who applies, in process too. @throws {ApiError} `Invalid` */
function requireManager({ fieldManager = "" }: WriteOptions): { readonly fieldManager: string } {
	if (fieldManager !== "") return { fieldManager };
	const error = required("fieldManager", "is required for apply patch");
	throw invalidObject({ group: "meta.k8s.io", kind: "PatchOptions" }, "", [error]);
}

function subresourceOf({ subresource }: WriteOptions): { subresource?: "status" | "finalize" } {
	return subresource === "status" || subresource === "finalize" ? { subresource } : {};
}
