/** A way of TCP to a port of loopback that a test can cut, and mend. */
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

export class CutWay {
	readonly #to: number;
	readonly #server: Server;
	readonly #sockets = new Set<Socket>();
	#isCut = false;
	port = 0;

	private constructor(to: number) {
		this.#to = to;
		this.#server = createServer((socket) => this.#join(socket));
	}

	/** @param url Of what it leads to. */
	static async to(url: string): Promise<CutWay> {
		const way = new CutWay(Number(new URL(url).port));
		way.#server.listen(0, "127.0.0.1");
		await once(way.#server, "listening");
		const address = way.#server.address();
		if (typeof address === "object" && address !== null) way.port = address.port;
		return way;
	}

	get url(): string {
		return `http://127.0.0.1:${this.port}`;
	}

	/** Ends every connection, and every one that is tried. */
	cut(): void {
		this.#isCut = true;
		for (const socket of this.#sockets) socket.destroy();
	}

	mend(): void {
		this.#isCut = false;
	}

	close(): void {
		this.cut();
		this.#server.close();
	}

	#join(socket: Socket): void {
		if (this.#isCut) {
			socket.destroy();
			return;
		}
		const other = connect(this.#to, "127.0.0.1");
		for (const [from, to] of [
			[socket, other],
			[other, socket],
		] as const) {
			this.#sockets.add(from);
			from.on("error", () => to.destroy());
			from.on("close", () => {
				this.#sockets.delete(from);
				to.destroy();
			});
			from.pipe(to);
		}
	}
}
