/** SPDY's header blocks: names and values, compressed as one stream over the whole session. */
import { constants, createDeflate, createInflate, type Deflate, type Inflate } from "node:zlib";
import { lengthPrefixed, SPDY_DICTIONARY } from "./dictionary.ts";

export type SpdyHeaders = ReadonlyMap<string, string>;

/** Bytes that one block may unpack to: port-forwarding needs a hundred. */
const BLOCK_BYTES_MAX = 64 * 1024;

export class HeaderBlocks {
	readonly #inflate: Inflate = createInflate({ dictionary: SPDY_DICTIONARY, finishFlush: constants.Z_SYNC_FLUSH });
	readonly #deflate: Deflate = createDeflate({ dictionary: SPDY_DICTIONARY });

	/** Rejects when the block is broken, or unpacks to more than anyone needs. */
	async decode(block: Buffer): Promise<SpdyHeaders> {
		return parsed(await through(this.#inflate, block));
	}

	encode(headers: SpdyHeaders): Promise<Buffer> {
		const count = Buffer.alloc(4);
		count.writeUInt32BE(headers.size);
		const pairs = [...headers].flatMap(([name, value]) => [lengthPrefixed(name), lengthPrefixed(value)]);
		return through(this.#deflate, Buffer.concat([count, ...pairs]));
	}

	close(): void {
		this.#inflate.close();
		this.#deflate.close();
	}
}

/** What comes out for this input: blocks end at a flush, so the output is all there when the input is taken. */
function through(stream: Inflate | Deflate, input: Buffer): Promise<Buffer> {
	return new Promise((resolve, reject) => {
		const chunks: Buffer[] = [];
		let length = 0;
		const take = (chunk: Buffer): void => {
			chunks.push(chunk);
			length += chunk.length;
			if (length > BLOCK_BYTES_MAX) fail(new Error(`SPDY header block is larger than ${BLOCK_BYTES_MAX} bytes`));
		};
		const finish = (): void => {
			stream.off("data", take);
			stream.off("error", fail);
		};
		const fail = (error: Error): void => {
			finish();
			reject(error);
		};
		stream.on("data", take);
		stream.once("error", fail);
		stream.write(input, () =>
			stream.flush(constants.Z_SYNC_FLUSH, () => {
				finish();
				resolve(Buffer.concat(chunks));
			}),
		);
	});
}

function parsed(block: Buffer): SpdyHeaders {
	const headers = new Map<string, string>();
	let offset = 4;
	const next = (): string => {
		const end = offset + 4 + block.readUInt32BE(offset);
		if (end > block.length) throw new RangeError("SPDY header block is cut short");
		const text = block.toString("utf8", offset + 4, end);
		offset = end;
		return text;
	};
	for (let left = block.readUInt32BE(0); left > 0; left--) {
		const name = next().toLowerCase();
		headers.set(name, next());
	}
	return headers;
}
