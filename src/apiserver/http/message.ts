/** HTTP as plain data: the edge turns sockets into these and back. */
import type { FrameSink } from "../watch/watch-hub.ts";

/** Who a client is, as an authority has signed. */
export interface ClientCertificate {
	/** The user. */
	readonly commonName: string;
	/** The user's groups. */
	readonly organizations: readonly string[];
}

export interface HttpRequest {
	readonly method: string;
	/** Percent-encoded, without the query. */
	readonly path: string;
	readonly query: URLSearchParams;
	/** By lower-case name. */
	header(name: string): string | undefined;
	/** One for each header of that name, by lower-case name. Absent: no name comes twice. */
	headerValues?(name: string): readonly string[];
	/** All of them, by lower-case name; only for passing them on. */
	readonly headers?: Readonly<Record<string, string | readonly string[]>>;
	/** Of the connection. `untrusted`: by nobody that this server believes. Absent: the client has sent none. */
	readonly clientCertificate?: ClientCertificate | "untrusted" | undefined;
	/** The IP address of the client's end of the connection; "" once it is gone. */
	readonly remoteAddress: string;
	/** @throws {ApiError} `RequestEntityTooLarge`, or `BadRequest` when the client stops half way. */
	body(): Promise<Uint8Array>;
	/** Aborts when the client goes away. */
	readonly signal: AbortSignal;
}

/** A body that goes on: watches and log streams. */
export interface StreamBody {
	/** Called once, after the headers are on their way. Returns what to do when the socket can take more. */
	start(sink: FrameSink): { drained(): void; closed(): void };
}

/** A body that is too long to be made at once: the next piece is made when the socket can take it. */
export interface PiecesBody {
	readonly pieces: Iterable<Uint8Array>;
}

export interface HttpResponse {
	readonly status: number;
	readonly headers: Readonly<Record<string, string | readonly string[]>>;
	readonly body: Uint8Array | StreamBody | PiecesBody;
}

export function isStream(body: HttpResponse["body"]): body is StreamBody {
	return "start" in body;
}

export function isInPieces(body: HttpResponse["body"]): body is PiecesBody {
	return "pieces" in body;
}
