/** Sockets and TLS around a function from HttpRequest to HttpResponse. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { type Duplex, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { TLSSocket } from "node:tls";
import { promisify } from "node:util";
import { createGzip, gzip } from "node:zlib";
import { ApiError, badRequest, requestEntityTooLarge } from "../api/status.ts";
import { errorAnswer } from "../apiserver/http/answer.ts";
import {
	type HttpRequest,
	type HttpResponse,
	isInPieces,
	isStream,
	type PiecesBody,
	type StreamBody,
} from "../apiserver/http/message.ts";
import type { Metrics } from "../kernel/metrics.ts";
import type { Certificates } from "./certificates.ts";
import { clientCertificateOf } from "./peer-certificate.ts";
import { UnreadAnswers, type UnreadLimits } from "./unread-answers.ts";

export interface HttpsServerLimits extends UnreadLimits {
	/** Bytes of a request's body. A real server's number: 3 MiB. Of a longer one, four times as much is read. */
	readonly bodyBytesMax: number;
	/** Time for the handshake, and then for the headers, from the connection's first byte. */
	readonly headersMs: number;
	/** Time for a whole request, body included: half a request and silence ends here. */
	readonly requestMs: number;
	readonly connectionsMax: number;
	/** Unsent bytes of a watch at which its socket counts as slow. */
	readonly streamBufferBytesMax: number;
}

export const DEFAULT_HTTPS_LIMITS: HttpsServerLimits = {
	bodyBytesMax: 3 * 1024 * 1024,
	headersMs: 10_000,
	requestMs: 30_000,
	connectionsMax: 20_000,
	streamBufferBytesMax: 1024 * 1024,
	unreadBytesMax: 256 * 1024 * 1024,
	silentMs: 30_000,
};

/** Only bodies above this are compressed: below it costs more than it saves. A real server's number. */
const GZIP_BYTES_MIN = 131_072;
const compressed = promisify(gzip);
/** Answers that are longer are counted until they are read; what is shorter fits into the system's buffers. */
const HELD_BYTES_MIN = 4_096;
/** Answers that are longer go out in slices. */
const SLICED_BYTES_MIN = 262_144;
const SLICE_BYTES = 65_536;
/** What a list that goes out in pieces keeps in memory, about. */
const PIECE_BYTES = 1024 * 1024;
/** How often a busy server looks for connections whose time is over. */
const CHECK_MS_MAX = 1_000;

export type Handler = (request: HttpRequest) => Promise<HttpResponse>;

/** Takes over a connection whose client wants to stop speaking HTTP. */
export type UpgradeHandler = (
	request: HttpRequest,
	connection: { readonly message: IncomingMessage; readonly socket: Duplex; readonly head: Buffer },
) => Promise<void>;

export class HttpsServer {
	readonly #server: Server;
	readonly #limits: HttpsServerLimits;
	readonly #handler: Handler;
	/** Every connection, also those that have not shaken hands yet. */
	readonly #sockets = new Set<Socket>();
	readonly #streams = new Set<ServerResponse>();
	readonly #upgraded = new Set<Duplex>();
	readonly #unread: UnreadAnswers;
	#isClosing = false;

	constructor(
		certificates: Pick<Certificates, "ca" | "cert" | "key">,
		handler: Handler,
		limits: HttpsServerLimits = DEFAULT_HTTPS_LIMITS,
		metrics?: Metrics,
	) {
		this.#limits = limits;
		this.#unread = new UnreadAnswers(limits, metrics);
		this.#handler = handler;
		this.#server = createServer(
			{
				cert: certificates.cert,
				key: certificates.key,
				// Whoever has a certificate of ours may prove who they are by it; nobody must.
				ca: certificates.ca,
				requestCert: true,
				rejectUnauthorized: false,
				minVersion: "TLSv1.2",
				handshakeTimeout: limits.headersMs,
				headersTimeout: limits.headersMs,
				requestTimeout: limits.requestMs,
				connectionsCheckingInterval: Math.min(CHECK_MS_MAX, limits.headersMs / 2),
				keepAliveTimeout: 90_000,
				noDelay: true,
			},
			(message, response) => void this.#serve(message, response),
		);
		this.#server.maxConnections = limits.connectionsMax;
		// Node would drop those beyond: whoever they name would not be who is asked for. See `faultOf`.
		this.#server.maxHeadersCount = 0;
		this.#server.on("connect", (_message: IncomingMessage, socket: Duplex) => {
			socket.on("error", () => undefined);
			socket.end("HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
		});
		this.#server.on("connection", (socket: Socket) => {
			this.#sockets.add(socket);
			socket.once("close", () => this.#sockets.delete(socket));
		});
	}

	/** Connections that were upgraded are the handler's: `close` cuts them without waiting. */
	onUpgrade(handler: UpgradeHandler): void {
		this.#server.on("upgrade", (message: IncomingMessage, socket: Duplex, head: Buffer) => {
			const fault = faultOf(message);
			if (fault !== undefined) {
				socket.on("error", () => undefined);
				socket.end(`HTTP/1.1 ${fault.code} ${fault.message}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
				return;
			}
			const gone = new AbortController();
			this.#upgraded.add(socket);
			socket.once("close", () => this.#upgraded.delete(socket));
			socket.on("error", () => undefined);
			socket.once("close", () => gone.abort());
			const request = requestOf(message, this.#limits.bodyBytesMax, gone.signal);
			handler(request, { message, socket, head }).catch(() => socket.destroy());
		});
	}

	/** @returns The port that it listens on. Rejects with the system's error, such as EADDRINUSE. */
	listen(host: string, port: number): Promise<number> {
		return new Promise((resolve, reject) => {
			this.#server.once("error", reject);
			this.#server.listen({ host, port }, () => {
				this.#server.off("error", reject);
				resolve((this.#server.address() as AddressInfo).port);
			});
		});
	}

	/** Takes no more connections, ends watches, lets answers under way finish until `graceMs`, and cuts what is left. */
	async close(graceMs: number): Promise<void> {
		this.#isClosing = true;
		const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
		for (const response of this.#streams) response.end();
		for (const socket of this.#upgraded) socket.destroy();
		this.#server.closeIdleConnections();
		const cut = setTimeout(() => {
			for (const socket of this.#sockets) socket.destroy();
		}, graceMs);
		await closed;
		clearTimeout(cut);
	}

	async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
		const gone = new AbortController();
		response.once("close", () => gone.abort());
		const request = requestOf(message, this.#limits.bodyBytesMax, gone.signal);
		try {
			const fault = faultOf(message);
			const answer = fault === undefined ? await this.#handler(request) : errorAnswer(fault, false);
			if (isStream(answer.body)) this.#stream(message, response, answer, answer.body);
			else if (isInPieces(answer.body)) await this.#pieces(message, response, answer, answer.body);
			else await this.#finish(message, response, answer, answer.body);
		} catch {
			response.destroy(); // The socket broke while the answer was on its way: nobody is left to tell.
		}
	}

	async #finish(
		message: IncomingMessage,
		response: ServerResponse,
		answer: HttpResponse,
		body: Uint8Array,
	): Promise<void> {
		if (!message.complete) await discardRest(message, this.#limits.bodyBytesMax * DISCARDED_BODIES);
		const wantsGzip = body.length > GZIP_BYTES_MIN && ACCEPTS_GZIP.test(String(message.headers["accept-encoding"]));
		const bytes = wantsGzip ? await compressed(body, { level: 1 }) : body;
		const encoding = wantsGzip ? { "content-encoding": "gzip", vary: "Accept-Encoding" } : {};
		// A body that was refused half-read must not be taken for the next request.
		const ending = message.complete && !this.#isClosing ? {} : { connection: "close" };
		response.writeHead(answer.status, {
			...headersOf(answer),
			...encoding,
			...ending,
			"content-length": bytes.length,
		});
		if (message.method === "HEAD") response.end();
		else await this.#send(response, bytes);
	}

	/** A long answer goes out bit by bit, so that it shows whether its client reads. */
	async #send(response: ServerResponse, bytes: Uint8Array): Promise<void> {
		if (bytes.length > HELD_BYTES_MIN) this.#unread.hold(response, bytes.length);
		if (bytes.length <= SLICED_BYTES_MIN) response.end(bytes);
		else await pipeline(Readable.from(this.#watched(response, slicesOf(bytes)), { highWaterMark: 1 }), response);
	}

	/** Whoever asks for more has read what was before. */
	*#watched(response: ServerResponse, pieces: Iterable<Uint8Array>): Iterable<Uint8Array> {
		for (const piece of pieces) {
			this.#unread.isAlive(response);
			yield piece;
		}
	}

	/** Without its length: a client that keeps the connection reads chunks. */
	async #pieces(
		message: IncomingMessage,
		response: ServerResponse,
		answer: HttpResponse,
		{ pieces }: PiecesBody,
	): Promise<void> {
		const wantsGzip = ACCEPTS_GZIP.test(String(message.headers["accept-encoding"]));
		const encoding = wantsGzip ? { "content-encoding": "gzip", vary: "Accept-Encoding" } : {};
		const ending = this.#isClosing ? { connection: "close" } : {};
		response.writeHead(answer.status, { ...headersOf(answer), ...encoding, ...ending });
		if (message.method === "HEAD") {
			response.end();
			return;
		}
		this.#unread.hold(response, PIECE_BYTES);
		const readable = Readable.from(this.#watched(response, pieces), { highWaterMark: 1 });
		if (wantsGzip) await pipeline(readable, createGzip({ level: 1 }), response);
		else await pipeline(readable, response);
	}

	#stream(message: IncomingMessage, response: ServerResponse, answer: HttpResponse, body: StreamBody): void {
		response.writeHead(answer.status, headersOf(answer));
		response.flushHeaders();
		if (message.method === "HEAD" || response.destroyed) {
			response.end();
			return;
		}
		this.#streams.add(response);
		const { socket } = message;
		response.once("finish", () => {
			if (this.#isClosing) socket.destroySoon();
		});
		const bufferMax = this.#limits.streamBufferBytesMax;
		const stream = body.start({
			write: (frame) => {
				const isRoom = response.write(frame) || response.writableLength < bufferMax;
				if (!isRoom) this.#unread.hold(response, response.writableLength);
				return isRoom;
			},
			end: () => response.end(),
		});
		response.on("drain", () => {
			this.#unread.release(response);
			stream.drained();
		});
		response.once("close", () => {
			this.#streams.delete(response);
			stream.closed();
		});
	}
}

function* slicesOf(bytes: Uint8Array): Iterable<Uint8Array> {
	for (let start = 0; start < bytes.length; start += SLICE_BYTES) yield bytes.subarray(start, start + SLICE_BYTES);
}

const ACCEPTS_GZIP = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/;

function headersOf(answer: HttpResponse): Record<string, string | string[]> {
	return Object.fromEntries(
		Object.entries(answer.headers).map(([name, value]) => [
			name,
			typeof value === "string" ? headerText(value) : value.map(headerText),
		]),
	);
}

/** Node writes one byte for each character of a header: this makes them the bytes of UTF-8. */
function headerText(text: string): string {
	return Buffer.from(text, "utf8").toString("latin1");
}

/** A client that sends no more than so many times the limit gets to read why it was refused. */
const DISCARDED_BODIES = 4;

/**
 * Reads on and throws away. A connection that is closed with data unread is reset, and a reset makes the client
 * lose the answer that it has not read yet.
 */
async function discardRest(message: IncomingMessage, bytesMax: number): Promise<void> {
	// Of one that says that it will send more it is not worth the wait.
	if (Number(message.headers["content-length"] ?? 0) > bytesMax) return;
	let length = 0;
	try {
		for await (const chunk of message.iterator({ destroyOnReturn: false })) {
			length += chunk.length;
			if (length > bytesMax) return;
		}
	} catch {
		// The client has gone: the answer will not arrive either way.
	}
}

function requestOf(message: IncomingMessage, bodyBytesMax: number, signal: AbortSignal): HttpRequest {
	const { host, target: url } = targetOf(message);
	const mark = url.indexOf("?");
	let body: Promise<Uint8Array> | undefined;
	return {
		method: message.method ?? "GET",
		path: mark < 0 ? url : url.slice(0, mark),
		query: new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1)),
		header(name) {
			const value = name === "host" ? host : message.headers[name];
			return Array.isArray(value) ? value.join(", ") : value;
		},
		headerValues: (name) => message.headersDistinct[name] ?? [],
		get headers() {
			return Object.fromEntries(
				Object.entries(message.headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
			);
		},
		get clientCertificate() {
			return clientCertificateOf(message.socket as TLSSocket);
		},
		remoteAddress: message.socket.remoteAddress ?? "",
		body() {
			body ??= readBody(message, bodyBytesMax);
			return body;
		},
		signal,
	};
}

/** Headers of one request; the limit of their bytes is Node's, 16 KiB. */
const HEADERS_MAX = 1_000;

/** Why a request is answered before anybody looks at who sent it. */
function faultOf({ url = "/", rawHeaders }: IncomingMessage): ApiError | undefined {
	if (rawHeaders.length / 2 > HEADERS_MAX) {
		return new ApiError("", `too many headers: limit is ${HEADERS_MAX}`, { code: 431 });
	}
	if (url.startsWith("/") || url === "*" || WHOLE_URL.test(url)) return undefined;
	return badRequest("invalid request target: want a path, or a whole URL with https");
}

const WHOLE_URL = /^https?:\/\/([^/?#]*)(.*)$/i;

/** A whole URL names the host itself, whatever the header says. @see RFC 9112 section 3.2.2 */
function targetOf({ url = "/", headers }: IncomingMessage): {
	readonly host: string | undefined;
	readonly target: string;
} {
	const [, host, target = ""] = WHOLE_URL.exec(url) ?? [];
	if (host === undefined) return { host: headers.host, target: url };
	return { host, target: target.startsWith("/") ? target : `/${target}` };
}

async function readBody(message: IncomingMessage, bytesMax: number): Promise<Uint8Array> {
	if (Number(message.headers["content-length"] ?? 0) > bytesMax) throw requestEntityTooLarge(bytesMax);
	const chunks: Buffer[] = [];
	let length = 0;
	try {
		for await (const chunk of message.iterator({ destroyOnReturn: false })) {
			length += chunk.length;
			if (length > bytesMax) throw requestEntityTooLarge(bytesMax);
			chunks.push(chunk);
		}
	} catch (error) {
		throw error instanceof ApiError ? error : badRequest("the body of the request broke off");
	}
	return Buffer.concat(chunks);
}
