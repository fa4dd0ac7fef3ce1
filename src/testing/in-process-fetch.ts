/** `fetch` without a network: requests are function calls into the API. */
import type { UnderlyingSource } from "node:stream/web";
import { type HttpResponse, isInPieces, isStream, type StreamBody } from "../apiserver/http/message.ts";
import type { Handler } from "../edge/https-server.ts";
import { ADMIN, httpRequest } from "./test-api.ts";

/** What a path is relative to; the host of a URL says nothing. */
const BASE = "https://sliceplane.invalid";
/** Unread bytes of a watch at which its reader counts as slow: as much as the socket of a real plane takes. */
const STREAM_BUFFER_BYTES_MAX = 1024 * 1024;

/** A `fetch` that asks `handler`, as the admin unless there is an Authorization header. */
export function inProcessFetch(handler: Handler): typeof globalThis.fetch {
	return async (input, init) => {
		const request = new Request(input instanceof Request ? input : new URL(input, BASE), init);
		const signal = init?.signal ?? request.signal;
		signal.throwIfAborted();
		const { pathname, search } = new URL(request.url);
		const answer = await unlessAborted(
			handler(
				httpRequest({
					method: request.method,
					path: pathname + search,
					header: (name) =>
						request.headers.get(name) ?? (name === "authorization" ? `Bearer ${ADMIN.name}` : undefined),
					body: new Uint8Array(await request.arrayBuffer()),
					signal,
				}),
			),
			signal,
		);
		return responseOf(answer, signal);
	};
}

function responseOf({ status, headers, body }: HttpResponse, signal: AbortSignal): Response {
	const init = { status, headers: headersOf(headers) };
	if (isStream(body)) return new Response(streamOf(body, signal), init);
	if (isInPieces(body)) return new Response(Buffer.concat([...body.pieces]), init);
	return new Response(body.length === 0 ? null : Buffer.from(body), init);
}

/** Characters above U+00FF go as the bytes of their UTF-8, as over a socket. */
function headersOf(headers: HttpResponse["headers"]): [string, string][] {
	return Object.entries(headers).flatMap(([name, value]) =>
		[value].flat().map((text): [string, string] => [name, Buffer.from(text, "utf8").toString("latin1")]),
	);
}

function streamOf(body: StreamBody, signal: AbortSignal): ReadableStream<Uint8Array> {
	let isOver = false;
	let isFull = false;
	let stream: ReturnType<StreamBody["start"]> | undefined;
	const leave = (): void => {
		isOver = true;
		stream?.closed();
	};
	const source: UnderlyingSource<Uint8Array> = {
		start(controller) {
			stream = body.start({
				write(frame) {
					if (!isOver) controller.enqueue(frame);
					isFull = (controller.desiredSize ?? 0) <= 0;
					return !isFull;
				},
				end() {
					if (!isOver) controller.close();
					isOver = true;
				},
			});
			signal.addEventListener("abort", () => {
				if (isOver) return;
				leave();
				controller.error(signal.reason);
			});
		},
		pull() {
			if (!isFull) return;
			isFull = false;
			stream?.drained();
		},
		cancel: leave,
	};
	return new ReadableStream(source, new ByteLengthQueuingStrategy({ highWaterMark: STREAM_BUFFER_BYTES_MAX }));
}

function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
	return new Promise((resolve, reject) => {
		const abort = (): void => reject(signal.reason);
		signal.addEventListener("abort", abort, { once: true });
		answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
	});
}
