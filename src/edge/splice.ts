/** Joins two streams so that neither peer can tell that there are two connections. */
import { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** Silence after which the system asks whether the peer is still there. */
export const KEEP_ALIVE_MS = 60_000;

/**
 * The end of one side ends the other; a failure of one side resets the other, since a plain close would make a
 * truncated answer look complete. `ended` is called once, when both are closed.
 */
export function splice(client: Duplex, upstream: Duplex, ended: () => void): void {
	let open = 2;
	const join = (side: Duplex, other: Duplex): void => {
		side.on("error", () => undefined);
		const closed = (): void => {
			if (!endedCleanly(side)) reset(other);
			open--;
			if (open === 0) ended();
		};
		if (side.closed) closed();
		else side.once("close", closed);
	};
	join(client, upstream);
	join(upstream, client);
	if (client.destroyed || upstream.destroyed) return;
	client.pipe(upstream);
	upstream.pipe(client);
}

/** Breaks the connection: the peer of a TCP connection gets an RST. */
export function reset(stream: Duplex): void {
	if (stream.destroyed) return;
	if (!(stream instanceof Socket)) stream.destroy(new Error("Connection reset"));
	// The system refuses to reset a socket that is just shutting down, and Node then never closes it.
	else if (isShuttingDown(stream)) stream.once("finish", () => stream.resetAndDestroy());
	else stream.resetAndDestroy();
}

/** All is written, and the end is on its way: a turn of the loop at most. */
function isShuttingDown({ writableEnded, writableFinished, writableLength }: Socket): boolean {
	return writableEnded && !writableFinished && writableLength === 0;
}

function endedCleanly(stream: Duplex): boolean {
	return stream.errored === null && stream.readableEnded && stream.writableFinished;
}
