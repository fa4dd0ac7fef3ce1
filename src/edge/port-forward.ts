/** Forwards the streams of a `kubectl port-forward` to a pod. */
import type { Duplex } from "node:stream";
import type { SpdyHeaders } from "./spdy/header-block.ts";
import { SpdySession, type SpdyStream } from "./spdy/session.ts";
import { splice } from "./splice.ts";

/** Connects to a port of the pod. Rejects with a message for people. */
export type DialPort = (port: number) => Promise<Duplex>;

/** Requests whose second stream has not come yet. */
const HALF_OPEN_MAX = 64;

/** Each connection has two streams of one request id: one for errors, and one for data. */
export async function forwardPorts(socket: Duplex, dial: DialPort): Promise<void> {
	const errorStreams = new Map<string, SpdyStream>();
	const session = new SpdySession(socket, (stream, headers) => {
		const id = headers.get("requestid") ?? headers.get("port") ?? "";
		if (headers.get("streamtype") === "error" && errorStreams.size < HALF_OPEN_MAX) {
			errorStreams.set(id, stream);
			stream.resume();
			return;
		}
		const errors = errorStreams.get(id);
		errorStreams.delete(id);
		if (headers.get("streamtype") !== "data" || errors === undefined) stream.destroy();
		else void forward(stream, errors, headers, dial);
	});
	await session.run();
}

async function forward(data: SpdyStream, errors: SpdyStream, headers: SpdyHeaders, dial: DialPort): Promise<void> {
	const port = Number(headers.get("port"));
	try {
		const upstream = await dial(port);
		splice(data, upstream, () => errors.end());
	} catch (error) {
		errors.end(`error forwarding port ${port} to pod: ${error instanceof Error ? error.message : String(error)}`);
		data.end();
	}
}
