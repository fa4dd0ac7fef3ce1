/** Reads so many bytes of a stream, and gives back what comes after them. */
import type { Duplex } from "node:stream";

export class ByteReader {
	readonly #stream: Duplex;
	#bytes: Buffer = Buffer.alloc(0);
	#wake: (() => void) | undefined;
	#ended: Error | undefined;
	readonly #onData = (chunk: Buffer): void => {
		this.#bytes = Buffer.concat([this.#bytes, chunk]);
		this.#wake?.();
	};
	readonly #onEnd = (): void => {
		this.#ended = new Error("the client broke off");
		this.#wake?.();
	};

	constructor(stream: Duplex) {
		this.#stream = stream;
		stream.on("data", this.#onData).once("end", this.#onEnd).once("close", this.#onEnd);
		// Listeners give sockets paused.
		stream.resume();
	}

	/** Rejects when the stream ends before so many have come. */
	async take(count: number): Promise<Uint8Array> {
		while (this.#bytes.length < count) {
			if (this.#ended !== undefined) throw this.#ended;
			await new Promise<void>((resolve) => (this.#wake = resolve));
		}
		const taken = this.#bytes.subarray(0, count);
		this.#bytes = this.#bytes.subarray(count);
		return taken;
	}

	async byte(): Promise<number> {
		const [byte = 0] = await this.take(1);
		return byte;
	}

	async text(count: number): Promise<string> {
		return Buffer.from(await this.take(count)).toString("utf8");
	}

	/** Lets go of the stream, paused, with everything in it that was not taken. */
	release(): void {
		this.#stream.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onEnd).pause();
		if (this.#bytes.length > 0) this.#stream.unshift(this.#bytes);
	}
}
