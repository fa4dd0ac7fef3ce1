/**
 * The API server without sockets, for tests: a memory store, virtual time, seeded randomness, and requests that
 * are function calls. Nothing happens by itself, so every test gives the same result in every run.
 *
 *     const server = await TestServer.start();
 *     const { status, json } = await server.request("GET", "/api/v1/namespaces/default/services");
 */

import { parseCIDR } from "../api/ip.ts";
import { RESOURCE_TYPES } from "../api/resource-table.ts";
import type { StatusDetails } from "../api/status.ts";
import type { KubeObject, ObjectMeta } from "../api/types/meta.ts";
import { ApiServer } from "../apiserver/api-server.ts";
import type { HttpApi } from "../apiserver/http/http-api.ts";
import { type HttpRequest, type HttpResponse, isInPieces, isStream } from "../apiserver/http/message.ts";
import { InProcessClient } from "../apiserver/in-process-client.ts";
import type { NetworkRanges } from "../apiserver/service-claims.ts";
import { CelRules } from "../edge/cel-rules.ts";
import { assert, assertDefined } from "../kernel/assert.ts";
import { concatBytes } from "../kernel/bytes.ts";
import type { Logger } from "../kernel/logger.ts";
import type { ApiClient } from "../machinery/api-client.ts";
import { ContainerLogs } from "../machinery/container-logs.ts";
import { memoryStore, type Store } from "../store/store.ts";
import { bootstrap } from "../wiring/bootstrap.ts";
import { bootstrapAccess } from "../wiring/bootstrap-access.ts";
import { RecordingMetrics } from "./recording-metrics.ts";
import { CountingIds, SeededRandom } from "./seeded.ts";
import { silentLogger } from "./silent.ts";
import { ADMIN, httpRequest, testApi } from "./test-api.ts";
import { TestWatch } from "./test-watch.ts";
import { VirtualClock } from "./virtual-clock.ts";

export interface TestServerOptions {
	/** Default: one of its own. */
	readonly clock?: VirtualClock;
	/** Default: nobody listens. */
	readonly log?: Logger;
	/** Default: a memory store whose first commit is revision 101. */
	readonly store?: Store;
	/** Default: cluster IPs 10.96.0.0/16, node ports 30000 to 32767. */
	readonly ranges?: NetworkRanges;
	/** With the roles and bindings that a real start makes. Default: none, and only `admin` may do anything. */
	readonly roles?: boolean;
	/** Of generated names. Default 1. */
	readonly seed?: number;
	/** What `/readyz` says is not ready. Default: everything is. */
	readonly unready?: () => string | undefined;
}

export interface TestRequest {
	/** Text and bytes go as they are, anything else as JSON. */
	readonly body?: unknown;
	readonly contentType?: string;
	/** By lower-case name. */
	readonly headers?: Readonly<Record<string, string>>;
	/** `admin` (the default) may do everything, `nobody` only what every user may; "" sends no credentials. */
	readonly token?: string;
	/** Aborts when the client goes away. */
	readonly signal?: AbortSignal;
}

/** Members that answers have: of objects, lists, tables and Statuses alike. */
export interface AnswerJson {
	readonly kind?: string;
	readonly apiVersion?: string;
	readonly metadata: Partial<ObjectMeta> & { readonly continue?: string; readonly remainingItemCount?: number };
	readonly spec?: Readonly<Record<string, unknown>>;
	readonly status?: unknown;
	readonly items?: readonly KubeObject[];
	readonly message?: string;
	readonly reason?: string;
	readonly details?: StatusDetails;
	readonly code?: number;
	readonly [key: string]: unknown;
}

export interface TestResponse {
	readonly status: number;
	/** By lower-case name. */
	readonly headers: HttpResponse["headers"];
	readonly text: string;
	/** The body, when it is JSON; else an empty object. */
	readonly json: AnswerJson;
}

const DEFAULT_RANGES: NetworkRanges = {
	clusterIPs: [assertDefined(parseCIDR("10.96.0.0/16"), "range of cluster IPs")],
	nodePorts: { first: 30_000, last: 32_767 },
};

export class TestServer {
	readonly clock: VirtualClock;
	readonly random: SeededRandom;
	readonly metrics: RecordingMetrics = new RecordingMetrics();
	readonly store: Store;
	readonly server: ApiServer;
	readonly api: HttpApi;
	/** The same server in process, as the user `admin`. */
	readonly client: ApiClient;

	readonly logs: ContainerLogs = new ContainerLogs(new RecordingMetrics());

	private constructor({
		store = memoryStore(100),
		ranges = DEFAULT_RANGES,
		seed = 1,
		unready,
		...given
	}: TestServerOptions) {
		this.store = store;
		this.clock = given.clock ?? new VirtualClock();
		this.random = new SeededRandom(seed);
		const { clock, random, metrics } = this;
		const ids = new CountingIds();
		this.server = new ApiServer({
			store,
			types: RESOURCE_TYPES,
			clock,
			random,
			ids,
			log: given.log ?? silentLogger,
			metrics,
			ranges,
			rules: new CelRules(),
		});
		this.api = testApi({ server: this.server, logs: this.logs, unready });
		this.client = new InProcessClient(this.server, ADMIN);
	}

	/** With the namespaces that every cluster has. */
	static async start(options: TestServerOptions = {}): Promise<TestServer> {
		const server = new TestServer(options);
		await bootstrap(server.client);
		if (options.roles === true) await bootstrapAccess(server.client);
		return server;
	}

	/** @param path With its query. */
	async request(method: string, path: string, request: TestRequest = {}): Promise<TestResponse> {
		const answer = await this.exchange(method, path, request);
		assert(!(answer instanceof TestWatch), `${method} ${path} opens a watch: use watch()`);
		return answer;
	}

	/** Opens a watch. The path must have `watch=true` in its query, and the server must agree. */
	async watch(path: string, request: TestRequest = {}): Promise<TestWatch> {
		const answer = await this.exchange("GET", path, request);
		assert(answer instanceof TestWatch, `GET ${path} did not open a watch`);
		return answer;
	}

	/** Whatever the server makes of the request: an answer, or a watch that is open. */
	async exchange(method: string, path: string, request: TestRequest = {}): Promise<TestResponse | TestWatch> {
		const response = await this.api.handle(requestOf(method, path, request));
		const { status, headers, body } = response;
		if (isStream(body)) return new TestWatch(response, body);
		const text = new TextDecoder().decode(isInPieces(body) ? concatBytes([...body.pieces]) : body);
		const isJson = text !== "" && String(headers["content-type"]).startsWith("application/json");
		return { status, headers, text, json: isJson ? JSON.parse(text) : { metadata: {} } };
	}
}

function requestOf(method: string, path: string, { body, contentType, ...request }: TestRequest): HttpRequest {
	const { token = ADMIN.name } = request;
	const headers: Readonly<Record<string, string>> = {
		...(contentType === undefined ? {} : { "content-type": contentType }),
		...(token === "" ? {} : { authorization: `Bearer ${token}` }),
		...request.headers,
	};
	const signal = request.signal ?? new AbortController().signal;
	return httpRequest({ method, path, header: (name) => headers[name], body: bytesOf(body), signal });
}

function bytesOf(body: unknown): Uint8Array {
	if (body === undefined) return new Uint8Array(0);
	if (body instanceof Uint8Array) return body;
	return new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
}
