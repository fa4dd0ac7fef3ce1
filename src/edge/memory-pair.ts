/** Two streams that are each other's peer, as a socket pair is, without the system's help. */
import { Duplex } from "node:stream";

type WriteDone = (error?: Error | null) => void;

/** Bytes that wait in each direction before the writer has to. The size of a socket's usual buffer. */
const BUFFER_BYTES = 65_536;

class MemoryEnd extends Duplex {
	#peer: MemoryEnd | undefined;
	/** Called when this side wants more: what its peer wrote filled its buffer. */
	#drained: WriteDone | undefined;
	#isFinished = false;

	constructor() {
		super({ allowHalfOpen: true, highWaterMark: BUFFER_BYTES });
	}

	join(peer: MemoryEnd): void {
		this.#peer = peer;
	}

	override _read(): void {
		const drained = this.#drained;
		this.#drained = undefined;
		drained?.();
	}

	override _write(chunk: Buffer, _encoding: BufferEncoding, done: WriteDone): void {
		const peer = this.#peer;
		if (peer === undefined || peer.destroyed) done(connectionReset());
		else peer.#take(chunk, done);
	}

	override _final(done: WriteDone): void {
		this.#isFinished = true;
		if (this.#peer?.destroyed === false) this.#peer.push(null);
		done();
	}

	override _destroy(error: Error | null, done: WriteDone): void {
		const peer = this.#peer;
		this.#drained?.(connectionReset());
		this.#drained = undefined;
		const wasFinished = this.#isFinished;
		// In a turn of its own: the peer's handlers must not run inside of whoever destroys this side.
		if (peer !== undefined) process.nextTick(() => peer.#lose(error, wasFinished));
		done(error);
	}

	#take(chunk: Buffer, done: WriteDone): void {
		if (this.push(chunk)) done();
		else this.#drained = done;
	}

	/** The peer is gone: after an error this side breaks too, without one it sees the end of what was sent. */
	#lose(error: Error | null, wasFinished: boolean): void {
		if (this.destroyed) return;
		if (error !== null) this.destroy(connectionReset());
		else if (!wasFinished) this.push(null);
	}
}

export function memoryPair(): readonly [Duplex, Duplex] {
	const [a, b] = [new MemoryEnd(), new MemoryEnd()];
	a.join(b);
	b.join(a);
	return [a, b];
}

function connectionReset(): Error {
	return Object.assign(new Error("Connection reset by peer"), { code: "ECONNRESET" });
}
