/** The API of any server, real or ours, over HTTP: the other side of `apiserver/in-process-client.ts`. */
import type { IncomingMessage } from "node:http";
import { apiVersionOf, type ObjectKey, type Resource } from "../api/resource.ts";
import { ApiError, errorFromStatus, type Status, type StatusReason } from "../api/status.ts";
import type { Draft, KubeObject } from "../api/types/meta.ts";
import { deepFreeze, isObject } from "../kernel/json.ts";
import { type Random, randomBelow } from "../kernel/random.ts";
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
import {
	DEFAULT_HTTP_CLIENT_LIMITS,
	type ExchangeRequest,
	type HttpClientLimits,
	HttpExchange,
	type ServerAccess,
} from "./http-exchange.ts";
import { queryText, resourcePath } from "./resource-path.ts";
import { watchEvents } from "./watch-events.ts";

export interface HttpClientOptions extends ServerAccess {
	/** Spreads the ends of watches, so that not all are opened again at once. */
	readonly random: Random;
	/** Says who asks in the server's log. */
	readonly userAgent?: string;
	readonly limits?: Partial<HttpClientLimits>;
	/** Told how many bytes have come of the body of a watch; before the events that they make. */
	readonly received?: (resource: Resource, bytes: number) => void;
	/** Told what the server does not allow. */
	readonly refused?: (error: ApiError) => void;
}

/** The server is asked to end each watch after a random time in this range: client-go's numbers. */
const WATCH_SECONDS_MIN = 300;
const WATCH_SECONDS_SPREAD = 300;

const PATCH_CONTENT_TYPES: Readonly<Record<PatchType, string>> = {
	json: "application/json-patch+json",
	merge: "application/merge-patch+json",
	strategic: "application/strategic-merge-patch+json",
	// JSON is YAML.
	apply: "application/apply-patch+yaml",
};

type Call = Omit<ExchangeRequest, "headers" | "body" | "isWatch"> & {
	readonly body?: unknown;
	readonly contentType?: string;
};

export class HttpClient implements ApiClient {
	readonly #exchange: HttpExchange;
	readonly #limits: HttpClientLimits;
	readonly #random: Random;
	readonly #headers: Readonly<Record<string, string>>;
	readonly #received: (resource: Resource, bytes: number) => void;
	readonly #refused: (error: ApiError) => void;

	/** @throws {TypeError} When `server` is no URL of http or https. */
	constructor({ random, userAgent = "sliceplane", limits, received, refused, ...access }: HttpClientOptions) {
		this.#limits = { ...DEFAULT_HTTP_CLIENT_LIMITS, ...limits };
		this.#exchange = new HttpExchange(access, this.#limits);
		this.#random = random;
		this.#received = received ?? (() => undefined);
		this.#refused = refused ?? (() => undefined);
		this.#headers = { "user-agent": userAgent };
	}

	/** Closes every connection. Requests and watches that are under way fail. */
	close(): void {
		this.#exchange.close();
	}

	get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, signal?: AbortSignal): Promise<T> {
		return this.#object(resource, { method: "GET", path: resourcePath(resource, key), signal });
	}

	async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions): Promise<ListResult<T>> {
		const { namespace = "", labelSelector, fieldSelector, resourceVersion, signal } = options;
		const limit = options.limit === undefined ? undefined : String(options.limit);
		const query = queryText({ labelSelector, fieldSelector, resourceVersion, limit, continue: options.continue });
		const list = await this.#json({ method: "GET", path: resourcePath(resource, { namespace }) + query, signal });
		const metadata = isObject(list["metadata"]) ? list["metadata"] : {};
		const { resourceVersion: version, continue: more } = metadata;
		const items = list["items"] ?? [];
		if (typeof version !== "string" || !Array.isArray(items)) {
			throw new TransportError("malformed", `The answer to a list of ${resource.plural} is not a list`);
		}
		// Items of a typed list say neither kind nor apiVersion: the list does.
		const kind = { apiVersion: apiVersionOf(resource), kind: resource.kind };
		return {
			items: deepFreeze(items.map((item: T) => ({ ...kind, ...item }))),
			resourceVersion: version,
			...(typeof more === "string" && more !== "" ? { continue: more } : {}),
		};
	}

	async *watch<T extends KubeObject>(
		resource: Resource<T>,
		options: WatchOptions,
	): AsyncIterable<readonly WatchEvent<T>[]> {
		const { namespace = "", labelSelector, fieldSelector, resourceVersion, signal } = options;
		const query = queryText({
			allowWatchBookmarks: "true",
			fieldSelector,
			labelSelector,
			resourceVersion,
			timeoutSeconds: String(WATCH_SECONDS_MIN + randomBelow(this.#random, WATCH_SECONDS_SPREAD)),
			watch: "true",
		});
		const path = resourcePath(resource, { namespace }) + query;
		try {
			const headers = this.#headers;
			const message = await this.#exchange.headers({ method: "GET", path, headers, signal, isWatch: true });
			if (message.statusCode !== 200) throw await this.#refusal(message);
			yield* watchEvents<T>(message, this.#limits, (bytes) => this.#received(resource, bytes));
		} catch (error) {
			if (signal.aborted) return;
			throw error instanceof ApiError ? error : this.#exchange.failure(error);
		}
	}

	create<T extends KubeObject>(
		resource: Resource<T>,
		namespace: string,
		object: Draft<T>,
		options: WriteOptions = {},
	): Promise<T> {
		const path = resourcePath(resource, { namespace }) + queryText(managerOf(options));
		const body = { apiVersion: apiVersionOf(resource), kind: resource.kind, ...object };
		return this.#object(resource, { method: "POST", path, body, signal: options.signal });
	}

	update<T extends KubeObject>(resource: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
		const { namespace = "", name } = object.metadata;
		const path = resourcePath(resource, { namespace, name, ...subresourceOf(options) }) + queryText(managerOf(options));
		return this.#object(resource, { method: "PUT", path, body: object, signal: options.signal });
	}

	patch<T extends KubeObject>(
		resource: Resource<T>,
		key: ObjectKey,
		patch: { readonly type: PatchType; readonly body: unknown },
		options: WriteOptions = {},
	): Promise<T> {
		const path = resourcePath(resource, { ...key, ...subresourceOf(options) }) + queryText(managerOf(options));
		const contentType = PATCH_CONTENT_TYPES[patch.type];
		return this.#object(resource, { method: "PATCH", path, body: patch.body, contentType, signal: options.signal });
	}

	async post(
		resource: Resource,
		key: ObjectKey,
		subresource: string,
		body: unknown,
		signal?: AbortSignal,
	): Promise<Status> {
		const path = resourcePath(resource, { ...key, subresource });
		return (await this.#json({ method: "POST", path, body, signal })) as Record<string, unknown> & Status;
	}

	async delete<T extends KubeObject>(
		resource: Resource<T>,
		key: ObjectKey,
		options: DeleteOptions = {},
	): Promise<T | Status> {
		const path = resourcePath(resource, key);
		const answer = await this.#json({ method: "DELETE", path, body: deleteBody(options), signal: options.signal });
		return answer as Record<string, unknown> & (T | Status);
	}

	async deleteCollection<T extends KubeObject>(
		resource: Resource<T>,
		namespace: string,
		options: DeleteOptions & { readonly labelSelector?: string } = {},
	): Promise<void> {
		const { labelSelector, ...deletion } = options;
		const path = resourcePath(resource, { namespace }) + queryText({ labelSelector });
		await this.#json({ method: "DELETE", path, body: deleteBody(deletion), signal: options.signal });
	}

	/** What `/version` says. */
	version(signal?: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
		return this.#json({ method: "GET", path: "/version", signal });
	}

	async #object<T extends KubeObject>(resource: Resource<T>, call: Call): Promise<T> {
		const object = await this.#json(call);
		if (isObject(object["metadata"]) && typeof object["kind"] === "string")
			return object as Record<string, unknown> & T;
		throw new TransportError("malformed", `The answer to ${call.method} of ${resource.plural} is not an object`);
	}

	/** The body of a success, frozen. @throws {ApiError} As the server refused. @throws {TransportError} */
	async #json({ body, contentType = "application/json", ...call }: Call): Promise<Record<string, unknown>> {
		const message = await this.#exchange.headers({
			...call,
			headers: {
				...this.#headers,
				"accept-encoding": "gzip",
				...(body === undefined ? {} : { "content-type": contentType }),
			},
			...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
		});
		const { statusCode = 0 } = message;
		if (statusCode < 200 || statusCode > 299) throw await this.#refusal(message);
		const value = parsed(await this.#exchange.text(message));
		if (isObject(value)) return deepFreeze(value);
		throw new TransportError("malformed", `The answer to ${call.method} ${call.path} is not a JSON object`);
	}

	/** The error that an answer stands for; one that is no Status is named by its code. */
	async #refusal(message: IncomingMessage): Promise<ApiError> {
		const error = await this.#refusalOf(message);
		if (error.reason === "Forbidden") this.#refused(error);
		return error;
	}

	async #refusalOf(message: IncomingMessage): Promise<ApiError> {
		const { statusCode: code = 0 } = message;
		const error = await this.#statusOf(message, code);
		if (error.reason !== "Unauthorized") return error;
		// Its own words for that do not say who it is.
		return new ApiError(error.reason, `${this.#exchange.origin} answered: ${error.message}`, { code });
	}

	async #statusOf(message: IncomingMessage, code: number): Promise<ApiError> {
		const text = await this.#exchange.text(message);
		const value = parsed(text);
		if (isObject(value) && value["kind"] === "Status")
			return errorFromStatus(value as Record<string, unknown> & Status);
		const reason = REASON_BY_CODE.get(code) ?? "";
		return new ApiError(reason, `The server answered ${code}: ${text.slice(0, SHOWN_CHARACTERS_MAX).trim()}`, { code });
	}
}

/** For servers, and proxies before them, that do not answer with a Status. */
const REASON_BY_CODE: ReadonlyMap<number, StatusReason> = new Map([
	[400, "BadRequest"],
	[401, "Unauthorized"],
	[403, "Forbidden"],
	[404, "NotFound"],
	[405, "MethodNotAllowed"],
	[406, "NotAcceptable"],
	[409, "Conflict"],
	[410, "Expired"],
	[413, "RequestEntityTooLarge"],
	[415, "UnsupportedMediaType"],
	[422, "Invalid"],
	[429, "TooManyRequests"],
	[500, "InternalError"],
	[503, "ServiceUnavailable"],
	[504, "Timeout"],
]);
const SHOWN_CHARACTERS_MAX = 200;

function subresourceOf({ subresource }: WriteOptions): { subresource?: string } {
	return subresource === undefined ? {} : { subresource };
}

function managerOf({ fieldManager, force }: WriteOptions): Readonly<Record<string, string | undefined>> {
	return { fieldManager, force: force === undefined ? undefined : String(force) };
}

function deleteBody({ signal: _, ...options }: DeleteOptions): unknown {
	if (Object.keys(options).length === 0) return undefined;
	return { apiVersion: "v1", kind: "DeleteOptions", ...options };
}

/** undefined for what is not JSON. */
function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
