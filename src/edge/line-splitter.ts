/**
 * Cuts a stream of bytes into lines, wherever the network has cut it into chunks.
 *
 * Lines end with a newline byte, which no other character of UTF-8 contains, so a character that is
 * split over two chunks is whole again before it is decoded.
 */
export class LineSplitter {
	readonly #lineBytesMax: number;
	/** The beginning of the line that has not ended yet. */
	#pending: Uint8Array[] = [];
	#pendingBytes = 0;

	constructor(lineBytesMax: number) {
		this.#lineBytesMax = lineBytesMax;
	}

	/**
	 * The lines that end in `chunk`, without their line ends; empty ones are left out.
	 * @throws {RangeError} For a line that is longer than allowed.
	 */
	push(chunk: Uint8Array): string[] {
		const lines: string[] = [];
		let start = 0;
		for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
			this.#keep(chunk.subarray(start, end));
			const line = Buffer.concat(this.#pending).toString("utf8").trimEnd();
			if (line !== "") lines.push(line);
			this.#pending = [];
			this.#pendingBytes = 0;
			start = end + 1;
		}
		if (start < chunk.length) this.#keep(chunk.subarray(start));
		return lines;
	}

	/** Bytes of a line that has begun and not ended. */
	get pendingBytes(): number {
		return this.#pendingBytes;
	}

	#keep(part: Uint8Array): void {
		this.#pending.push(part);
		this.#pendingBytes += part.length;
		if (this.#pendingBytes > this.#lineBytesMax)
			throw new RangeError(`a line has more than ${this.#lineBytesMax} bytes`);
	}
}

const NEWLINE = 0x0a;
