/** A stream over a MessagePort: how a connection reaches into another thread. */
import { Duplex } from "node:stream";
import type { MessagePort } from "node:worker_threads";

type Message =
	| { readonly kind: "data"; readonly bytes: Uint8Array }
	| { readonly kind: "end" }
	/** What the peer stands for is connected, too. */
	| { readonly kind: "connected" }
	/** So many bytes were taken: the writer may go on. */
	| { readonly kind: "taken"; readonly bytes: number }
	| { readonly kind: "broken"; readonly message: string };

type Done = (error?: Error | null) => void;

/** Bytes under way before the writer waits. */
const WINDOW_BYTES = 256 * 1024;

export class MessagePortStream extends Duplex {
	readonly #port: MessagePort;
	#underWay = 0;
	#waiting: Done | undefined;
	/** Received and not yet asked for. */
	#untold = 0;
	#hasEnd = false;

	constructor(port: MessagePort) {
		super({ allowHalfOpen: true });
		this.#port = port;
		port.on("message", (message: Message) => this.#receive(message));
		// After the peer's end this closes in good order, and what was received is still to be read.
		port.on("close", () => {
			if (!this.#hasEnd) this.destroy();
			else if (this.#waiting !== undefined) this.#release();
		});
	}

	/** Lets the peer's stream emit `connect`. */
	tellConnected(): void {
		this.#post({ kind: "connected" });
	}

	override _read(): void {
		if (this.#untold === 0) return;
		this.#post({ kind: "taken", bytes: this.#untold });
		this.#untold = 0;
	}

	override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
		this.#underWay += chunk.length;
		this.#post({ kind: "data", bytes: Uint8Array.from(chunk) });
		if (this.#underWay < WINDOW_BYTES) done();
		else this.#waiting = done;
	}

	override _final(done: Done): void {
		this.#post({ kind: "end" });
		done();
	}

	override _destroy(error: Error | null, done: Done): void {
		if (error !== null) this.#post({ kind: "broken", message: error.message });
		this.#waiting?.(error);
		this.#waiting = undefined;
		this.#port.close();
		done(error);
	}

	#receive(message: Message): void {
		switch (message.kind) {
			case "data":
				this.#untold += message.bytes.length;
				if (this.push(Buffer.from(message.bytes))) this._read();
				return;
			case "connected":
				this.emit("connect");
				return;
			case "end":
				this.#hasEnd = true;
				this.push(null);
				return;
			case "taken":
				this.#underWay -= message.bytes;
				if (this.#underWay < WINDOW_BYTES) this.#release();
				return;
			case "broken":
				this.destroy(new Error(message.message));
				return;
		}
	}

	#release(): void {
		const waiting = this.#waiting;
		this.#waiting = undefined;
		waiting?.();
	}

	#post(message: Message): void {
		this.#port.postMessage(message, message.kind === "data" ? [message.bytes.buffer as ArrayBuffer] : []);
	}
}
