/** One port for both ways to ask: SOCKS5 and HTTP are told apart by the first byte. */
import { timingSafeEqual } from "node:crypto";
import type { Server } from "node:http";
import type { Duplex } from "node:stream";
import type { Counter, Metrics } from "../../kernel/metrics.ts";
import type { Gateway, GatewayResult } from "../../proxy/gateway.ts";
import type { Accepted, Listeners, OpenResult } from "../../proxy/ports.ts";
import { reset, splice } from "../splice.ts";
import { ByteReader } from "./byte-reader.ts";
import { httpProxy } from "./http-proxy.ts";
import { type Credentials, REPLY, socksGreeting, socksReply } from "./socks5.ts";

export interface GatewayServerPorts {
	readonly listeners: Pick<Listeners<Duplex>, "open">;
	readonly gateway: Pick<Gateway<Duplex>, "connect">;
	readonly credentials: Credentials;
	readonly metrics: Metrics;
	/** A client that has not said what it wants by then is sent away, and one that has said nothing more since. */
	readonly silenceMsMax?: number;
}

const SOCKS_VERSION = 5;
const SILENCE_MS_MAX = 10_000;

export class GatewayServer {
	readonly #ports: GatewayServerPorts;
	readonly #http: Server;
	readonly #asked: Counter;
	/** Of those that are yet to say what they want. */
	readonly #late = new WeakMap<Duplex, NodeJS.Timeout>();

	constructor(ports: GatewayServerPorts) {
		this.#ports = ports;
		this.#asked = ports.metrics.counter({
			name: "sliceplane_gateway_connections_total",
			help: "Connections that clients of the gateway asked for, by what became of them.",
			labelNames: ["result"],
		});
		this.#http = httpProxy({
			isKnown: (credentials) => this.#isKnown(credentials),
			connect: (host, port) => this.#connect(host, port, "127.0.0.1"),
		});
		// A server without a listener does not look after the time that its clients take.
		this.#http.on("request", ({ socket }, response) => {
			this.#hasSpoken(socket);
			response.once("close", () => this.#waitFor(socket));
		});
		this.#http.on("connect", (_request, client) => this.#hasSpoken(client));
	}

	/** @param port 0 takes any free one. */
	open(host: string, port: number): Promise<OpenResult> {
		return this.#ports.listeners.open({ host, port, protocol: "TCP" }, (client) => void this.#serve(client));
	}

	async #serve({ stream, ip = "" }: Accepted<Duplex>): Promise<void> {
		const reader = new ByteReader(stream);
		this.#waitFor(stream);
		try {
			const first = await reader.byte();
			if (first === SOCKS_VERSION) {
				await this.#socks(stream, reader, ip);
				this.#hasSpoken(stream);
			} else {
				reader.release();
				stream.unshift(Uint8Array.of(first));
				this.#http.emit("connection", stream);
				process.nextTick(() => stream.resume());
			}
		} catch {
			stream.destroy();
		}
	}

	#waitFor(client: Duplex): void {
		if (client.destroyed) return;
		const late = setTimeout(() => client.destroy(), this.#ports.silenceMsMax ?? SILENCE_MS_MAX);
		this.#late.set(client, late);
		client.once("close", () => clearTimeout(late));
	}

	#hasSpoken(client: Duplex): void {
		clearTimeout(this.#late.get(client));
	}

	async #socks(stream: Duplex, reader: ByteReader, ip: string): Promise<void> {
		const send = (bytes: Uint8Array): unknown => stream.write(bytes);
		const greeting = await socksGreeting(reader, send, (credentials) => this.#isKnown(credentials));
		if (greeting.kind === "refused") {
			stream.end();
			return;
		}
		const result = await this.#connect(greeting.asked.host, greeting.asked.port, ip);
		reader.release();
		if (result.kind !== "connected") {
			stream.end(socksReply(result.kind === "refused" ? REPLY.refused : REPLY.hostUnreachable));
			return;
		}
		if (stream.destroyed) return reset(result.stream);
		send(socksReply(REPLY.succeeded));
		splice(stream, result.stream, () => undefined);
	}

	async #connect(host: string, port: number, ip: string): Promise<GatewayResult<Duplex>> {
		const result = await this.#ports.gateway.connect(host, port, ip);
		this.#asked.add(1, { result: result.kind });
		return result;
	}

	#isKnown({ user, password }: Credentials): boolean {
		const { credentials } = this.#ports;
		const [given, wanted] = [password, credentials.password].map((text) => Buffer.from(text));
		const isSame = given !== undefined && wanted !== undefined && given.length === wanted.length;
		return user === credentials.user && isSame && timingSafeEqual(given, wanted);
	}
}
