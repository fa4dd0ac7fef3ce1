/** One request and its response over HTTP or TLS, with connections that are kept for the next one. */
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { type AgentOptions, Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from "node:https";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { TransportError } from "../machinery/api-client.ts";

export interface ServerAccess {
	/** `https://10.0.0.1:6443`, with a path prefix when the server is behind one. */
	readonly server: string;
	/** PEM of the authority that signed the server's certificate. Absent: the system's authorities. */
	readonly ca?: string;
	/** PEM of the client's own certificate. */
	readonly certificate?: { readonly cert: string; readonly key: string };
	/** Asked before every request, since tokens in files are replaced while a program runs. */
	readonly token?: () => Promise<string>;
	/** Takes any certificate: for tests only. */
	readonly insecureSkipTlsVerify?: boolean;
	/** The name that the server's certificate is checked for, when it is not the host of `server`. */
	readonly tlsServerName?: string;
	/**
	 * Asked when a request that may change something has its connection, as late as can be: false, and it is not sent.
	 * Default: always.
	 */
	readonly mayWrite?: () => boolean;
}

export interface HttpClientLimits {
	/** From sending a request to the end of its answer; of a watch, to its headers. */
	readonly requestMs: number;
	/** Bytes of an answer, decompressed. */
	readonly answerBytesMax: number;
	/** Bytes of one event of a watch. */
	readonly eventBytesMax: number;
	/** A watch that brings nothing for so long, not even a bookmark, is taken for dead. */
	readonly watchSilenceMs: number;
	/** Ordinary requests at once; more wait for their turn. Watches are not counted. */
	readonly connectionsMax: number;
}

export const DEFAULT_HTTP_CLIENT_LIMITS: HttpClientLimits = {
	// The server itself gives up after 60 s, and says so.
	requestMs: 65_000,
	answerBytesMax: 256 * 1024 * 1024,
	eventBytesMax: 8 * 1024 * 1024,
	// Bookmarks come about once a minute.
	watchSilenceMs: 150_000,
	connectionsMax: 64,
};

export interface ExchangeRequest {
	readonly method: string;
	/** With its query. */
	readonly path: string;
	readonly headers?: Readonly<Record<string, string>>;
	readonly body?: Uint8Array;
	readonly signal?: AbortSignal | undefined;
	/** The connection is for this request alone, and is closed after it. */
	readonly isWatch?: boolean;
}

const KEEP_ALIVE_PROBE_MS = 15_000;
const decompressed = promisify(gunzip);

export class HttpExchange {
	readonly #base: URL;
	readonly #access: ServerAccess;
	readonly #limits: HttpClientLimits;
	readonly #shared: HttpAgent;
	readonly #watches: HttpAgent;
	/** Connections that have been made: what fails on one of them may have reached the server. */
	readonly #standing = new WeakSet<object>();

	/** @throws {TypeError} When `access.server` is no URL of http or https. */
	constructor(access: ServerAccess, limits: HttpClientLimits) {
		this.#base = new URL(access.server);
		this.#access = access;
		this.#limits = limits;
		const { ca, certificate, insecureSkipTlsVerify, tlsServerName } = access;
		if (this.#base.protocol !== "https:" && this.#base.protocol !== "http:") {
			throw new TypeError(`server ${access.server}: want a URL that starts with https:// or http://`);
		}
		const options: AgentOptions = {
			keepAlive: true,
			keepAliveMsecs: KEEP_ALIVE_PROBE_MS,
			...(ca === undefined ? {} : { ca }),
			...certificate,
			...(insecureSkipTlsVerify === true ? { rejectUnauthorized: false } : {}),
			...(tlsServerName === undefined ? {} : { servername: tlsServerName }),
		};
		const Agent = this.#base.protocol === "https:" ? HttpsAgent : HttpAgent;
		this.#shared = new Agent({ ...options, maxSockets: limits.connectionsMax });
		this.#watches = new Agent({ ...options, maxFreeSockets: 0 });
	}

	/** Of the server, for messages. */
	get origin(): string {
		return this.#base.origin;
	}

	/** Closes every connection; requests under way fail. */
	close(): void {
		this.#shared.destroy();
		this.#watches.destroy();
	}

	/**
	 * Resolves with the headers; the body is still to be read.
	 *
	 * A connection that the server closed while nobody used it is noticed only when the next request meets the
	 * close half way; a read is then sent once more, a write is not, for it may have been done.
	 * @throws {TransportError} `unreachable` or `broken`
	 */
	async headers(request: ExchangeRequest): Promise<IncomingMessage> {
		const token = await this.#access.token?.().catch((error: unknown) => {
			throw new TransportError(
				"unreachable",
				`Cannot read the token for ${this.#base.origin}: ${textOf(error)}`,
				error,
			);
		});
		const headers = {
			accept: "application/json",
			...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
			...request.headers,
		};
		try {
			return await this.#send(request, headers);
		} catch (error) {
			const isStale = error instanceof TransportError && error.cause instanceof StaleConnection;
			if (!isStale || request.method !== "GET") throw error;
			return this.#send(request, headers);
		}
	}

	/** The whole body as text. @throws {TransportError} `broken`, or `malformed` when it is too long. */
	async text(message: IncomingMessage): Promise<string> {
		const { answerBytesMax } = this.#limits;
		const chunks: Buffer[] = [];
		let length = 0;
		const timer = setTimeout(() => message.destroy(this.#late()), this.#limits.requestMs);
		try {
			for await (const chunk of message) {
				length += chunk.length;
				if (length > answerBytesMax) throw this.#tooLong();
				chunks.push(chunk);
			}
			const bytes = Buffer.concat(chunks);
			if (message.headers["content-encoding"] !== "gzip") return bytes.toString("utf8");
			return (await decompressed(bytes, { maxOutputLength: answerBytesMax })).toString("utf8");
		} catch (error) {
			throw this.failure(error);
		} finally {
			clearTimeout(timer);
		}
	}

	/** What went wrong with a connection that was there, in the words of this client. */
	failure(error: unknown): TransportError {
		if (error instanceof TransportError) return error;
		if (codeOf(error) === "ERR_BUFFER_TOO_LARGE") return this.#tooLong();
		return new TransportError("broken", `The connection to ${this.#base.origin} broke: ${textOf(error)}`, error);
	}

	#send(request: ExchangeRequest, headers: Record<string, string>): Promise<IncomingMessage> {
		const { method, path, body, signal, isWatch = false } = request;
		const isTls = this.#base.protocol === "https:";
		const options: RequestOptions = {
			agent: isWatch ? this.#watches : this.#shared,
			method,
			headers: { ...headers, ...(body === undefined ? {} : { "content-length": String(body.length) }) },
			...(signal === undefined ? {} : { signal }),
		};
		const url = this.#base.origin + this.#base.pathname.replace(/\/$/, "") + path;
		return new Promise((resolve, reject) => {
			const sent = isTls ? httpsRequest(url, options) : httpRequest(url, options);
			let isConnected = false;
			const timer = setTimeout(() => sent.destroy(this.#late()), this.#limits.requestMs);
			// Not a byte before there is a connection: whoever may write when it is asked for may not when it comes.
			const send = (): void => {
				isConnected = true;
				if (sent.destroyed) return;
				if (method === "GET" || this.#access.mayWrite?.() !== false) sent.end(body);
				else sent.destroy(new NoLongerAllowed(this.#base.origin));
			};
			sent.once("socket", (socket) => {
				// A request that waited for its turn gets a connection that stands, though it does not count as used again.
				if (sent.reusedSocket || this.#standing.has(socket)) return send();
				socket.once(isTls ? "secureConnect" : "connect", () => {
					this.#standing.add(socket);
					send();
				});
			});
			sent.once("response", (message) => {
				clearTimeout(timer);
				resolve(message);
			});
			sent.on("error", (error) => {
				clearTimeout(timer);
				reject(isConnected ? this.#broken(sent, error) : this.#unreachable(error));
			});
		});
	}

	#broken(sent: ClientRequest, error: Error): TransportError {
		const isStale = sent.reusedSocket && (codeOf(error) === "ECONNRESET" || codeOf(error) === "EPIPE");
		return this.failure(isStale ? new StaleConnection(error.message) : error);
	}

	#unreachable(error: Error): TransportError {
		if (error instanceof TransportError) return error;
		return new TransportError("unreachable", `Cannot reach ${this.#base.origin}: ${textOf(error)}`, error);
	}

	#late(): TransportError {
		const { requestMs } = this.#limits;
		return new TransportError("broken", `No answer from ${this.#base.origin} within ${requestMs} ms`);
	}

	#tooLong(): TransportError {
		const { answerBytesMax } = this.#limits;
		return new TransportError("malformed", `${this.#base.origin} answered more than ${answerBytesMax} bytes`);
	}
}

class NoLongerAllowed extends TransportError {
	constructor(origin: string) {
		super("broken", `Nothing may be written to ${origin} any more`);
	}
}

/** The server had closed the kept connection before the request came through. */
class StaleConnection extends Error {}

function codeOf(error: unknown): unknown {
	return error instanceof Error && "code" in error ? error.code : undefined;
}

/** Some errors of sockets say nothing but their code: a failed attempt at each of several addresses. */
function textOf(error: unknown): string {
	if (!(error instanceof Error)) return String(error);
	// OpenSSL's end with the end of a line.
	const message = error.message.trim();
	return message === "" ? String(codeOf(error) ?? error.name) : message;
}
