/** Reads so many bytes of a stream, and leaves in it what comes after them. */
import type { Duplex } from "node:stream";

export class ByteReader {
	readonly #stream: Duplex;
	#wake: () => void = () => undefined;
	#isOver = false;
	readonly #onReadable = (): void => this.#wake();
	readonly #onOver = (): void => {
		this.#isOver = true;
		this.#wake();
	};

	constructor(stream: Duplex) {
		this.#stream = stream;
		stream.on("readable", this.#onReadable).once("end", this.#onOver).once("close", this.#onOver);
	}

	/** Rejects when the stream ends before so many have come. */
	async take(count: number): Promise<Uint8Array> {
		if (count === 0) return new Uint8Array(0);
		for (;;) {
			const bytes: Buffer | null = this.#stream.read(count);
			// At its end a stream gives what is left, though it was asked for more.
			if (bytes !== null && bytes.length === count) return bytes;
			if (bytes !== null || this.#isOver) throw new Error("the client broke off");
			await new Promise<void>((resolve) => (this.#wake = resolve));
		}
	}

	async byte(): Promise<number> {
		const [byte = 0] = await this.take(1);
		return byte;
	}

	async text(count: number): Promise<string> {
		return Buffer.from(await this.take(count)).toString("utf8");
	}

	/** Lets go of the stream. */
	release(): void {
		this.#stream.off("readable", this.#onReadable).off("end", this.#onOver).off("close", this.#onOver);
	}
}
