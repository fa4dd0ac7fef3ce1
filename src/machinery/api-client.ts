/**
 * The door to the API, for everything but the API server itself. Two implementations: in process
 * (no HTTP, no JSON) and over HTTP. One suite of tests runs over both.
 */
import type { ObjectKey, Resource } from "../api/resource.ts";
import type { Status } from "../api/status.ts";
import type { Draft, KubeObject } from "../api/types/meta.ts";

export interface ListOptions {
	/** Absent: every namespace. */
	readonly namespace?: string;
	readonly labelSelector?: string;
	readonly fieldSelector?: string;
	/** Absent: most recent. "0": any state. Else: not older than this. */
	readonly resourceVersion?: string;
	/** At most so many at once; clients that pay nothing for more may give all. */
	readonly limit?: number;
	/** Of a {@link ListResult}: what comes after it. */
	readonly continue?: string;
	readonly signal?: AbortSignal;
}

export interface ListResult<T> {
	readonly items: readonly T[];
	readonly resourceVersion: string;
	/** There is more. */
	readonly continue?: string;
}

export interface WatchOptions {
	readonly namespace?: string;
	readonly labelSelector?: string;
	readonly fieldSelector?: string;
	/** Changes after this one. */
	readonly resourceVersion: string;
	/** Ends the watch, without an error for the reader. */
	readonly signal: AbortSignal;
}

export type WatchEvent<T> =
	| { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
	/** Everything up to this resourceVersion has been sent. */
	| { readonly type: "BOOKMARK"; readonly resourceVersion: string };

export interface WriteOptions {
	readonly subresource?: "status" | "scale" | "binding" | "finalize";
	/** Who is to own what is written; an apply needs it. Default: the client's own name. */
	readonly fieldManager?: string;
	/** Of an apply: takes over what others own. */
	readonly force?: boolean;
	readonly signal?: AbortSignal;
}

export interface DeleteOptions {
	readonly gracePeriodSeconds?: number;
	readonly propagationPolicy?: "Orphan" | "Background" | "Foreground";
	readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
	readonly signal?: AbortSignal;
}

/** `apply` is server-side apply: the body is an object with kind and apiVersion, and is made when it is not there. */
export type PatchType = "json" | "merge" | "strategic" | "apply";

/**
 * Objects that come out are frozen and may be shared: never change one, make a new one.
 *
 * Every method rejects with an ApiError whose `reason` says why the server refused, or with a
 * TransportError when the server could not be asked.
 */
export interface ApiClient {
	get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, signal?: AbortSignal): Promise<T>;
	list<T extends KubeObject>(resource: Resource<T>, options: ListOptions): Promise<ListResult<T>>;
	/**
	 * Batches of events, in order, none of them empty. Ends when the server closes the watch.
	 * @throws {ApiError} `Expired` when the history after `resourceVersion` is gone.
	 */
	watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions): AsyncIterable<readonly WatchEvent<T>[]>;
	create<T extends KubeObject>(
		resource: Resource<T>,
		namespace: string,
		object: Draft<T>,
		options?: WriteOptions,
	): Promise<T>;
	/** With a resourceVersion in the object, fails with `Conflict` unless it is the stored one. */
	update<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>;
	patch<T extends KubeObject>(
		resource: Resource<T>,
		key: ObjectKey,
		patch: { readonly type: PatchType; readonly body: unknown },
		options?: WriteOptions,
	): Promise<T>;
	/** POST to a subresource that answers with a Status: `pods/binding`. */
	post(resource: Resource, key: ObjectKey, subresource: string, body: unknown, signal?: AbortSignal): Promise<Status>;
	delete<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, options?: DeleteOptions): Promise<T | Status>;
	deleteCollection<T extends KubeObject>(
		resource: Resource<T>,
		namespace: string,
		options?: DeleteOptions & { readonly labelSelector?: string },
	): Promise<void>;
}

/** The server could not be asked, or its answer could not be read. Worth another try. */
export class TransportError extends Error {
	override readonly name = "TransportError";
	readonly kind: "unreachable" | "broken" | "malformed";

	constructor(kind: "unreachable" | "broken" | "malformed", message: string, cause?: unknown) {
		super(message, { cause });
		this.kind = kind;
	}
}
