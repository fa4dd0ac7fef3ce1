/** Ways to call a Service by gRPC, on a connection of its own or on kept ones. */
import { once } from "node:events";
import { type ClientHttp2Session, connect as connectHttp2, constants } from "node:http2";
import { connect, type Socket } from "node:net";
import { grpcFrame } from "../../src/edge/grpc-frames.ts";
import { wordFor } from "./http-ways.ts";
import type { Send } from "./open-loop.ts";

const TIMEOUT_MS = 5_000;
/** Connections that are kept. */
const KEPT = 10;
const MESSAGE = grpcFrame(Buffer.from("ping"));
const HEADERS = { ":method": "POST", ":path": "/shop.Shop/Echo", "content-type": "application/grpc", te: "trailers" };

export async function dial({ host, port }: { readonly host: string; readonly port: number }): Promise<Socket> {
	const socket = connect({ host, port });
	await once(socket, "connect");
	return socket;
}

type Outcome = { readonly kind: "answered" | "refused" } | { readonly kind: "failed"; readonly why: string };

export class GrpcClient {
	readonly #name: string;
	readonly #dial: () => Promise<Socket>;
	readonly #kept: (Promise<ClientHttp2Session> | undefined)[] = [];
	#turn = 0;

	constructor(name: string, dialed: () => Promise<Socket>) {
		this.#name = name;
		this.#dial = dialed;
	}

	readonly fresh: Send = () =>
		this.#told("fresh", async () => {
			const session = await this.#session();
			const outcome = await call(session);
			session.close();
			return outcome;
		});

	readonly kept: Send = () => {
		const slot = this.#turn++ % KEPT;
		return this.#told("kept", async () => call(await this.#keptSession(slot)));
	};

	close(): void {
		for (const session of this.#kept) void session?.then((open) => open.destroy());
	}

	/** A call that the server has not looked at is made again on another connection, as gRPC clients do. */
	async #told(kind: string, attempt: () => Promise<Outcome>): Promise<string | undefined> {
		try {
			let outcome = await attempt();
			if (outcome.kind === "refused") outcome = await attempt();
			if (outcome.kind === "answered") return undefined;
			return `${this.#name}, ${kind}: ${outcome.kind === "failed" ? outcome.why : outcome.kind}`;
		} catch (error) {
			return `${this.#name}, ${kind}: connection: ${error instanceof Error ? wordFor(error) : String(error)}`;
		}
	}

	/** One that the server has told to go away takes no more calls. */
	async #keptSession(slot: number): Promise<ClientHttp2Session> {
		const known = await this.#kept[slot]?.catch(() => undefined);
		if (known !== undefined && !known.closed && !known.destroyed) return known;
		const made = this.#session();
		this.#kept[slot] = made;
		return made;
	}

	async #session(): Promise<ClientHttp2Session> {
		const socket = await this.#dial();
		const session = connectHttp2("http://shop", { createConnection: () => socket });
		session.on("error", () => undefined);
		return session;
	}
}

function call(session: ClientHttp2Session): Promise<Outcome> {
	return new Promise((resolve) => {
		const stream = session.request(HEADERS);
		let bytes = Buffer.alloc(0);
		let status: unknown;
		const failed = (why: string): void => resolve({ kind: "failed", why });
		stream.setTimeout(TIMEOUT_MS, () => failed("timeout"));
		stream.on("data", (chunk: Buffer) => {
			bytes = Buffer.concat([bytes, chunk]);
		});
		stream.once("trailers", (trailers) => {
			status = trailers["grpc-status"];
		});
		stream.once("error", (error) => {
			if (stream.rstCode !== constants.NGHTTP2_REFUSED_STREAM) failed(wordFor(error));
		});
		stream.once("close", () => {
			if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) resolve({ kind: "refused" });
			else if (bytes.equals(MESSAGE) && status === "0") resolve({ kind: "answered" });
			else failed(`rst ${stream.rstCode}, grpc-status ${String(status)}`);
		});
		stream.end(MESSAGE);
	});
}
