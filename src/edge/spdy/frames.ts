/** SPDY/3.1 frames as bytes. @see https://www.chromium.org/spdy/spdy-protocol/spdy-protocol-draft3-1/ */

export type SpdyFrame =
	| { readonly kind: "data"; readonly streamId: number; readonly isLast: boolean; readonly data: Buffer }
	| { readonly kind: "open"; readonly streamId: number; readonly isLast: boolean; readonly headers: Buffer }
	| { readonly kind: "reset"; readonly streamId: number }
	| { readonly kind: "ping"; readonly id: number }
	| { readonly kind: "goaway" }
	/** Settings, windows and the like: this side has no use for them. */
	| { readonly kind: "other" };

const VERSION = 3;
const HEAD_BYTES = 8;
const FIN = 0x01;
const TYPE = { synStream: 1, synReply: 2, rstStream: 3, ping: 6, goaway: 7 } as const;
const ID_MASK = 0x7fffffff;
const PROTOCOL_ERROR = 1;

/** Takes bytes as they come, and gives whole frames. */
export class FrameReader {
	readonly #frameBytesMax: number;
	#buffer: Buffer = Buffer.alloc(0);

	/** @param frameBytesMax A peer that sends a longer frame is broken. */
	constructor(frameBytesMax: number) {
		this.#frameBytesMax = frameBytesMax;
	}

	/** @throws {RangeError} For a frame that is too long, or of another version. */
	read(chunk: Buffer): SpdyFrame[] {
		this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
		const frames: SpdyFrame[] = [];
		while (this.#buffer.length >= HEAD_BYTES) {
			const length = this.#buffer.readUIntBE(5, 3);
			if (length > this.#frameBytesMax)
				throw new RangeError(`SPDY frame of ${length} bytes: at most ${this.#frameBytesMax}`);
			if (this.#buffer.length < HEAD_BYTES + length) break;
			frames.push(frameOf(this.#buffer.subarray(0, HEAD_BYTES + length)));
			this.#buffer = this.#buffer.subarray(HEAD_BYTES + length);
		}
		return frames;
	}
}

function frameOf(frame: Buffer): SpdyFrame {
	const first = frame.readUInt32BE(0);
	const isLast = (frame.readUInt8(4) & FIN) !== 0;
	const body = frame.subarray(HEAD_BYTES);
	if (first >>> 31 === 0) return { kind: "data", streamId: first & ID_MASK, isLast, data: body };
	if (((first >>> 16) & 0x7fff) !== VERSION) throw new RangeError("SPDY frame of another version than 3");
	const type = first & 0xffff;
	if (type === TYPE.goaway) return { kind: "goaway" };
	if (type === TYPE.ping && body.length >= 4) return { kind: "ping", id: body.readUInt32BE(0) };
	if (type === TYPE.rstStream && body.length >= 4) return { kind: "reset", streamId: body.readUInt32BE(0) & ID_MASK };
	if (type === TYPE.synStream && body.length >= 10) {
		return { kind: "open", streamId: body.readUInt32BE(0) & ID_MASK, isLast, headers: body.subarray(10) };
	}
	return { kind: "other" };
}

export function dataFrame(streamId: number, data: Buffer, isLast: boolean): Buffer {
	const head = Buffer.alloc(HEAD_BYTES);
	head.writeUInt32BE(streamId & ID_MASK, 0);
	head.writeUInt8(isLast ? FIN : 0, 4);
	head.writeUIntBE(data.length, 5, 3);
	return Buffer.concat([head, data]);
}

export function replyFrame(streamId: number, headers: Buffer): Buffer {
	return controlFrame(TYPE.synReply, Buffer.concat([uint32(streamId), headers]));
}

export function resetFrame(streamId: number): Buffer {
	return controlFrame(TYPE.rstStream, Buffer.concat([uint32(streamId), uint32(PROTOCOL_ERROR)]));
}

export function pingFrame(id: number): Buffer {
	return controlFrame(TYPE.ping, uint32(id));
}

function controlFrame(type: number, body: Buffer): Buffer {
	const head = Buffer.alloc(HEAD_BYTES);
	head.writeUInt16BE(0x8000 | VERSION, 0);
	head.writeUInt16BE(type, 2);
	head.writeUIntBE(body.length, 5, 3);
	return Buffer.concat([head, body]);
}

function uint32(value: number): Buffer {
	const bytes = Buffer.alloc(4);
	bytes.writeUInt32BE(value >>> 0);
	return bytes;
}
