/** The body of a watch as batches of events. */
import type { IncomingMessage } from "node:http";
import { errorFromStatus, type Status } from "../api/status.ts";
import type { KubeObject } from "../api/types/meta.ts";
import { deepFreeze, isObject } from "../kernel/json.ts";
import { TransportError, type WatchEvent } from "../machinery/api-client.ts";
import type { HttpClientLimits } from "./http-exchange.ts";
import { LineSplitter } from "./line-splitter.ts";

type Limits = Pick<HttpClientLimits, "eventBytesMax" | "watchSilenceMs">;

/**
 * What came in one piece makes one batch. Ends when the server closes the watch in good order.
 *
 * @throws {ApiError} What an ERROR event says.
 * @throws {TransportError} `malformed`, or `broken` when nothing came for too long.
 */
export async function* watchEvents<T extends KubeObject>(
	message: IncomingMessage,
	limits: Limits,
	counted: (bytes: number) => void = () => undefined,
): AsyncGenerator<readonly WatchEvent<T>[]> {
	const splitter = new LineSplitter(limits.eventBytesMax);
	for await (const chunk of withinSilence(message, limits.watchSilenceMs)) {
		counted(chunk.length);
		yield* batchOf<T>(linesOf(splitter, chunk));
	}
	if (splitter.pendingBytes > 0) throw new TransportError("broken", "The watch ended in the middle of an event");
}

/** The chunks of the body. The time that the reader takes over a chunk does not count as silence. */
async function* withinSilence(message: IncomingMessage, silenceMs: number): AsyncGenerator<Uint8Array> {
	const silent = (): void => {
		message.destroy(new TransportError("broken", `The watch brought nothing for ${silenceMs} ms`));
	};
	let timer = setTimeout(silent, silenceMs);
	try {
		for await (const chunk of message) {
			clearTimeout(timer);
			yield chunk;
			timer = setTimeout(silent, silenceMs);
		}
	} finally {
		clearTimeout(timer);
	}
}

/** One batch, or none. What came before an event that ends the watch is handed out before the error is thrown. */
function* batchOf<T extends KubeObject>(lines: readonly string[]): Generator<readonly WatchEvent<T>[]> {
	const events: WatchEvent<T>[] = [];
	let failure: unknown;
	for (const line of lines) {
		try {
			events.push(eventOf<T>(line));
		} catch (error) {
			failure = error;
			break;
		}
	}
	if (events.length > 0) yield events;
	if (failure !== undefined) throw failure;
}

function linesOf(splitter: LineSplitter, chunk: Uint8Array): readonly string[] {
	try {
		return splitter.push(chunk);
	} catch (error) {
		throw new TransportError("malformed", `Cannot read the watch: ${String(error)}`, error);
	}
}

/** @throws {ApiError} For an ERROR event. */
function eventOf<T extends KubeObject>(line: string): WatchEvent<T> {
	const event = parsedEvent(line);
	const { type, object } = event;
	switch (type) {
		case "ADDED":
		case "MODIFIED":
		case "DELETED":
			// The server sends objects of the kind that was asked for.
			return { type, object: deepFreeze(object) as Record<string, unknown> & T };
		case "BOOKMARK":
			return { type, resourceVersion: versionOf(object, line) };
		case "ERROR":
			throw errorFromStatus(object as Record<string, unknown> & Status);
		default:
			throw unreadable(line);
	}
}

function parsedEvent(line: string): { readonly type: unknown; readonly object: Record<string, unknown> } {
	try {
		const event: unknown = JSON.parse(line);
		if (isObject(event) && isObject(event["object"]) && isObject(event["object"]["metadata"])) {
			return { type: event["type"], object: event["object"] };
		}
	} catch {
		// Told like every other line that cannot be read.
	}
	throw unreadable(line);
}

function versionOf({ metadata }: Record<string, unknown>, line: string): string {
	const version = isObject(metadata) ? metadata["resourceVersion"] : undefined;
	if (typeof version === "string") return version;
	throw unreadable(line);
}

const SHOWN_CHARACTERS_MAX = 200;

function unreadable(line: string): TransportError {
	return new TransportError("malformed", `Not an event of a watch: ${line.slice(0, SHOWN_CHARACTERS_MAX)}`);
}
