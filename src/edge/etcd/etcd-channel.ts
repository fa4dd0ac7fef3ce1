/** Bytes to and from etcd by gRPC: whichever of its servers answers. */
import { checkServerIdentity } from "node:tls";
import type * as grpc from "@grpc/grpc-js";
import { familyOf } from "../../api/ip.ts";
import type { Clock } from "../../kernel/clock.ts";
import { EtcdError } from "./etcd-error.ts";
import { bareHost, type TlsAccess, whyUnreachable } from "./why-unreachable.ts";

export interface EtcdAccess {
	/** `http://127.0.0.1:2379`, at least one. */
	readonly servers: readonly string[];
	/** PEM, for servers of https. Absent: what the system trusts, and no certificate of ours. */
	readonly tls?: TlsAccess;
}

/** An open call in both directions. */
export interface EtcdStream {
	write(message: Uint8Array): void;
	cancel(): void;
}

export interface StreamEvents {
	message(bytes: Uint8Array): void;
	/** Once, and nothing after it. */
	end(error: EtcdError): void;
}

export interface CallOptions {
	readonly deadlineMs: number;
	/** Asked again of another server when one fails: nothing is changed by it. */
	readonly isRepeatable: boolean;
}

interface Endpoint {
	readonly url: string;
	readonly client: grpc.Client;
}

/** How long a call waits for any server that can be connected to. */
const CONNECT_MS = 3_000;
/** How long one server that says nothing holds up the next. */
const CONNECT_ONE_MS = 1_000;
const CONNECT_PAUSE_MS = 50;
/** What etcd's own client takes: lists are as large as what is stored. */
const MESSAGE_BYTES_MAX = 2 ** 31 - 1;
/** etcd takes a ping each 5 s at most. */
const PING_EVERY_MS = 30_000;
const PING_ANSWER_MS = 10_000;

export class EtcdChannel {
	readonly #grpc: typeof grpc;
	readonly #clock: Clock;
	readonly #tls: TlsAccess;
	readonly #endpoints: readonly Endpoint[];
	/** The one that answered last. */
	#at = 0;
	#connecting: Promise<Endpoint> | undefined;
	#isClosed = false;

	/** @param library gRPC: it is loaded only where there is an etcd. */
	constructor(library: typeof grpc, { servers, tls = {} }: EtcdAccess, clock: Clock) {
		this.#grpc = library;
		this.#clock = clock;
		this.#tls = tls;
		this.#endpoints = servers.map((url) => ({ url, client: clientOf(library, url, tls) }));
	}

	/** Rejects with an {@link EtcdError}, after `deadlineMs` for each server at most, and what it takes to connect. */
	async call(method: string, request: Uint8Array, options: CallOptions): Promise<Uint8Array> {
		for (let attempt = 1; ; attempt++) {
			const endpoint = this.#ready() ?? (await this.#connected());
			try {
				return await this.#callAt(endpoint, method, request, options.deadlineMs);
			} catch (error) {
				if (!(error instanceof EtcdError && error.isTransient)) throw error;
				this.#avoid(endpoint);
				// One that broke off may be back; one that was silent would be again.
				const attempts = this.#endpoints.length + (error.code === "Unavailable" ? 1 : 0);
				if (!options.isRepeatable || attempt >= attempts) throw error;
			}
		}
	}

	/** Rejects with an {@link EtcdError} when no server can be connected to. */
	async open(method: string, events: StreamEvents): Promise<EtcdStream> {
		const endpoint = this.#ready() ?? (await this.#connected());
		const metadata = new this.#grpc.Metadata();
		// A server that has lost the others ends the call, instead of being silent.
		metadata.set("hasleader", "true");
		const call = endpoint.client.makeBidiStreamRequest(method, asBuffer, asIs, metadata, {});
		let isOver = false;
		const end = (code: number, details: string): void => {
			if (isOver) return;
			isOver = true;
			if (code !== this.#grpc.status.CANCELLED) this.#avoid(endpoint);
			events.end(new EtcdError(code, details, true));
		};
		call.on("data", (bytes: Uint8Array) => {
			if (!isOver) events.message(bytes);
		});
		call.on("error", ({ code, details }: grpc.ServiceError) => end(code, details));
		call.on("end", () => end(this.#grpc.status.UNAVAILABLE, "the server ended the call"));
		return { write: (message) => void call.write(message), cancel: () => call.cancel() };
	}

	close(): void {
		this.#isClosed = true;
		for (const { client } of this.#endpoints) client.close();
	}

	#callAt({ client }: Endpoint, method: string, request: Uint8Array, deadlineMs: number): Promise<Uint8Array> {
		return new Promise((resolve, reject) => {
			const deadline = this.#clock.wallMs() + deadlineMs;
			client.makeUnaryRequest(method, asBuffer, asIs, request, { deadline }, (error, answer) => {
				if (error !== null) reject(new EtcdError(error.code, error.details, true));
				else if (answer === undefined) reject(new EtcdError("Internal", "an answer without a message", true));
				else resolve(answer);
			});
		});
	}

	/** Who answers now is asked next time, too. */
	#ready(): Endpoint | undefined {
		if (this.#isClosed) throw new EtcdError("Unavailable", "the connection to etcd is closed", false);
		const { READY } = this.#grpc.connectivityState;
		for (let step = 0; step < this.#endpoints.length; step++) {
			const at = (this.#at + step) % this.#endpoints.length;
			const endpoint = this.#endpoints[at];
			if (endpoint === undefined || stateOf(endpoint, true) !== READY) continue;
			this.#at = at;
			return endpoint;
		}
		return undefined;
	}

	#connected(): Promise<Endpoint> {
		this.#connecting ??= this.#connect().finally(() => {
			this.#connecting = undefined;
		});
		return this.#connecting;
	}

	async #connect(): Promise<Endpoint> {
		const endMs = this.#clock.monotonicMs() + CONNECT_MS;
		for (;;) {
			const ready = this.#ready();
			if (ready !== undefined) return ready;
			for (const endpoint of this.#endpoints) {
				await this.#settled(endpoint);
				const now = this.#ready();
				if (now !== undefined) return now;
			}
			if (this.#clock.monotonicMs() >= endMs) throw await this.#unreachable();
			await this.#clock.sleep(CONNECT_PAUSE_MS);
		}
	}

	/** Resolves when the endpoint is connected, or has failed, or takes too long. */
	async #settled(endpoint: Endpoint): Promise<void> {
		const { CONNECTING, IDLE } = this.#grpc.connectivityState;
		const deadline = this.#clock.wallMs() + CONNECT_ONE_MS;
		for (;;) {
			const state = stateOf(endpoint, true);
			if (state !== CONNECTING && state !== IDLE) return;
			const isLate = await new Promise<boolean>((resolve) => {
				endpoint.client.getChannel().watchConnectivityState(state, deadline, (error) => resolve(error !== undefined));
			});
			if (isLate) return;
		}
	}

	#avoid(endpoint: Endpoint): void {
		if (this.#endpoints[this.#at] === endpoint) this.#at = (this.#at + 1) % this.#endpoints.length;
	}

	async #unreachable(): Promise<EtcdError> {
		const looks = this.#endpoints.map(async ({ url }) => `${url}: ${await whyUnreachable(url, this.#tls)}`);
		const why = (await Promise.all(looks)).join("; ");
		return new EtcdError("Unavailable", `etcd cannot be reached, nothing was sent: ${why}`, false);
	}
}

/** Asked of a server by address, where TLS has no name to ask for: it has one certificate. */
const NO_NAME = "etcd";

function clientOf(library: typeof grpc, url: string, { ca, key, cert }: TlsAccess): grpc.Client {
	const { protocol, host, hostname } = new URL(url);
	if (protocol !== "https:") {
		return new library.Client(withPort(host, false), library.credentials.createInsecure(), OPTIONS);
	}
	const address = bareHost(hostname);
	const byAddress = familyOf(address) !== undefined;
	const by = library.credentials.createSsl(ca ?? null, key ?? null, cert ?? null, {
		checkServerIdentity: (name, certificate) => checkServerIdentity(byAddress ? address : name, certificate),
	});
	// The library would ask for the address as a name, which TLS forbids, and Node warns of.
	const options = byAddress ? { ...OPTIONS, "grpc.ssl_target_name_override": NO_NAME } : OPTIONS;
	return new library.Client(withPort(host, true), by, options);
}

const OPTIONS: grpc.ClientOptions = {
	"grpc.max_receive_message_length": MESSAGE_BYTES_MAX,
	"grpc.max_send_message_length": MESSAGE_BYTES_MAX,
	"grpc.keepalive_time_ms": PING_EVERY_MS,
	"grpc.keepalive_timeout_ms": PING_ANSWER_MS,
	"grpc.initial_reconnect_backoff_ms": 100,
	"grpc.max_reconnect_backoff_ms": 1_000,
	// A transaction that may have been done is never sent again.
	"grpc.enable_retries": 0,
	// As etcd's own client: what stores the cluster is not behind a proxy of the web.
	"grpc.enable_http_proxy": 0,
	"grpc.use_local_subchannel_pool": 1,
};

function stateOf({ client }: Endpoint, connects: boolean): grpc.connectivityState {
	return client.getChannel().getConnectivityState(connects);
}

function withPort(host: string, isSecure: boolean): string {
	if (/:\d+$/.test(host)) return host;
	return `${host}:${isSecure ? 443 : 80}`;
}

function asBuffer(bytes: Uint8Array): Buffer {
	return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function asIs(bytes: Buffer): Uint8Array {
	return bytes;
}
