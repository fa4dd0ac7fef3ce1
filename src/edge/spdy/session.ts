/**
 * The server's side of a SPDY/3.1 connection, as far as kubectl's port-forward speaks it: streams that the client
 * opens, data both ways, half-close, reset and ping. Neither side uses SPDY's windows: TCP holds back.
 */
import { Duplex } from "node:stream";
import { dataFrame, FrameReader, pingFrame, replyFrame, resetFrame, type SpdyFrame } from "./frames.ts";
import { HeaderBlocks, type SpdyHeaders } from "./header-block.ts";

/** Bytes of one frame. Clients cut data into pieces of 32 KiB. */
const FRAME_BYTES_MAX = 1024 * 1024;
/** Streams open at once: two for each forwarded connection. */
const STREAMS_MAX = 1024;

type Done = (error?: Error | null) => void;

/** One stream of a session. */
export class SpdyStream extends Duplex {
	readonly #send: (data: Buffer, isLast: boolean, done: Done) => void;
	readonly #reset: () => void;
	#drained: (() => void) | undefined;

	constructor(send: (data: Buffer, isLast: boolean, done: Done) => void, reset: () => void) {
		super({ allowHalfOpen: true });
		this.#send = send;
		this.#reset = reset;
	}

	/** Resolves when the reader wants more. */
	receive(data: Buffer): Promise<void> {
		if (this.destroyed || this.readableEnded || this.push(data)) return Promise.resolve();
		return new Promise((resolve) => {
			this.#drained = resolve;
		});
	}

	override _read(): void {
		const drained = this.#drained;
		this.#drained = undefined;
		drained?.();
	}

	override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
		this.#send(chunk, false, done);
	}

	override _final(done: Done): void {
		this.#send(Buffer.alloc(0), true, done);
	}

	override _destroy(error: Error | null, done: Done): void {
		this._read();
		if (!this.writableFinished || !this.readableEnded) this.#reset();
		done(error);
	}
}

export class SpdySession {
	readonly #socket: Duplex;
	readonly #headers = new HeaderBlocks();
	readonly #streams = new Map<number, SpdyStream>();
	readonly #opened: (stream: SpdyStream, headers: SpdyHeaders) => void;

	constructor(socket: Duplex, opened: (stream: SpdyStream, headers: SpdyHeaders) => void) {
		this.#socket = socket;
		this.#opened = opened;
	}

	/** Serves the connection to its end. Never rejects: a peer that breaks the rules is cut off. */
	async run(): Promise<void> {
		const reader = new FrameReader(FRAME_BYTES_MAX);
		this.#socket.on("error", () => undefined);
		try {
			for await (const chunk of this.#socket) {
				for (const frame of reader.read(chunk)) {
					if (frame.kind === "goaway") return;
					await this.#receive(frame);
				}
			}
		} catch {
			// Broken bytes, or a broken connection: the streams below learn of it.
		} finally {
			this.#headers.close();
			for (const stream of this.#streams.values()) stream.destroy();
			this.#socket.destroy();
		}
	}

	async #receive(frame: Exclude<SpdyFrame, { kind: "goaway" }>): Promise<void> {
		switch (frame.kind) {
			case "open":
				return this.#open(frame.streamId, frame.headers, frame.isLast);
			case "data":
				return this.#data(frame.streamId, frame.data, frame.isLast);
			case "reset":
				this.#streams.get(frame.streamId)?.destroy();
				return;
			case "ping":
				this.#socket.write(pingFrame(frame.id));
				return;
			case "other":
				return;
		}
	}

	async #open(streamId: number, block: Buffer, isLast: boolean): Promise<void> {
		const headers = await this.#headers.decode(block);
		if (this.#streams.size >= STREAMS_MAX) {
			this.#socket.write(resetFrame(streamId));
			return;
		}
		const stream = new SpdyStream(
			(data, last, done) => this.#write(dataFrame(streamId, data, last), done),
			() => this.#write(resetFrame(streamId), () => undefined),
		);
		stream.on("error", () => undefined);
		stream.once("close", () => this.#streams.delete(streamId));
		this.#streams.set(streamId, stream);
		this.#socket.write(replyFrame(streamId, await this.#headers.encode(new Map())));
		if (isLast) stream.push(null);
		this.#opened(stream, headers);
	}

	async #data(streamId: number, data: Buffer, isLast: boolean): Promise<void> {
		const stream = this.#streams.get(streamId);
		if (stream === undefined) return;
		if (data.length > 0) await stream.receive(data);
		if (isLast && !stream.destroyed) stream.push(null);
	}

	#write(frame: Buffer, done: Done): void {
		if (this.#socket.destroyed) done();
		else this.#socket.write(frame, (error) => done(error));
	}
}
