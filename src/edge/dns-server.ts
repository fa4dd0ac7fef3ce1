/** DNS on sockets: UDP and TCP on one address. */
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { createServer, type Server, type Socket as TcpSocket } from "node:net";
import type { Transport } from "../dns/answer.ts";
import { type DnsMetrics, dnsMetrics } from "../dns/dns-metrics.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Metrics } from "../kernel/metrics.ts";

export interface DnsServerPorts {
	/** The bytes of the answer; undefined when none is to be sent. Never rejects. */
	answer(packet: Uint8Array, transport: Transport): Promise<Uint8Array | undefined>;
	readonly clock: Clock;
	readonly metrics: Metrics;
}

export interface DnsServerLimits {
	/** TCP connections at once; more are closed as they come. */
	readonly connectionsMax: number;
	/** Queries under way at once over UDP; more are dropped, and clients ask again. */
	readonly queriesMax: number;
	/** Silence after which a TCP connection is closed. */
	readonly idleMs: number;
}

export const DEFAULT_DNS_SERVER_LIMITS: DnsServerLimits = { connectionsMax: 256, queriesMax: 10_000, idleMs: 10_000 };

/** Datagrams come in bursts: what the default of most systems holds is gone in a moment. Bytes. */
const RECEIVE_BUFFER = 4 * 1024 * 1024;
/** Ports that are free for TCP need not be for UDP: so many are tried. */
const TRIES = 10;

export class DnsServer {
	readonly #ports: DnsServerPorts;
	readonly #limits: DnsServerLimits;
	readonly #metrics: DnsMetrics;
	readonly #connections = new Set<TcpSocket>();
	#udp: Socket | undefined;
	#tcp: Server | undefined;
	#underWay = 0;

	constructor(ports: DnsServerPorts, limits: DnsServerLimits = DEFAULT_DNS_SERVER_LIMITS) {
		this.#ports = ports;
		this.#limits = limits;
		this.#metrics = dnsMetrics(ports.metrics);
	}

	/** The port of both. @param port 0 takes any one that is free for both. Rejects with the system's error. */
	async listen(host: string, port: number): Promise<number> {
		for (let tries = 1; ; tries++) {
			const taken = await this.#listenTcp(host, port);
			try {
				await this.#listenUdp(host, taken);
				return taken;
			} catch (error) {
				this.#tcp?.close();
				if (port !== 0 || tries >= TRIES) throw error;
			}
		}
	}

	close(): void {
		this.#udp?.close();
		this.#udp = undefined;
		this.#tcp?.close();
		for (const connection of this.#connections) connection.destroy();
	}

	#listenTcp(host: string, port: number): Promise<number> {
		const server = createServer({ noDelay: true, allowHalfOpen: true }, (socket) => this.#accept(socket));
		this.#tcp = server;
		return new Promise((resolve, reject) => {
			server.once("error", reject);
			server.listen({ host, port, exclusive: true }, () => {
				server.off("error", reject).on("error", () => undefined);
				const address = server.address();
				resolve(typeof address === "object" && address !== null ? address.port : port);
			});
		});
	}

	#listenUdp(host: string, port: number): Promise<void> {
		const socket = createSocket({ type: host.includes(":") ? "udp6" : "udp4", recvBufferSize: RECEIVE_BUFFER });
		socket.on("message", (packet, { address, port: from }) => void this.#received(socket, packet, { address, from }));
		return new Promise((resolve, reject) => {
			socket.once("error", reject);
			socket.bind({ address: host, port, exclusive: true }, () => {
				// Later errors are of one answer that could not be sent.
				socket.off("error", reject).on("error", () => undefined);
				this.#udp = socket;
				resolve();
			});
		});
	}

	async #received(
		socket: Socket,
		packet: Uint8Array,
		to: { readonly address: string; readonly from: number },
	): Promise<void> {
		if (this.#underWay >= this.#limits.queriesMax) return this.#metrics.dropped("rate");
		this.#underWay++;
		const answer = await this.#answer(packet, "udp");
		this.#underWay--;
		if (answer !== undefined && this.#udp === socket) socket.send(answer, to.from, to.address);
	}

	#accept(socket: TcpSocket): void {
		socket.on("error", () => undefined);
		if (this.#connections.size >= this.#limits.connectionsMax) {
			socket.destroy();
			return;
		}
		this.#connections.add(socket);
		socket.once("close", () => this.#connections.delete(socket));
		socket.setTimeout(this.#limits.idleMs, () => socket.destroy());
		void this.#serve(socket).catch(() => socket.destroy());
	}

	/** One query after the other, and each only when the client has taken what came before. */
	async #serve(socket: TcpSocket): Promise<void> {
		let read: Buffer = Buffer.alloc(0);
		for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
			read = Buffer.concat([read, chunk]);
			// Each query has its length in front; several may come at once, and one in parts.
			while (read.length >= 2 && read.length >= 2 + read.readUInt16BE(0)) {
				const end = 2 + read.readUInt16BE(0);
				const answer = await this.#answer(read.subarray(2, end), "tcp");
				read = read.subarray(end);
				if (answer !== undefined) await written(socket, answer);
			}
		}
		socket.end();
	}

	async #answer(packet: Uint8Array, transport: Transport): Promise<Uint8Array | undefined> {
		const startedMs = this.#ports.clock.monotonicMs();
		this.#metrics.asked(transport);
		const answer = await this.#ports.answer(packet, transport);
		if (answer === undefined) this.#metrics.dropped("malformed");
		else this.#metrics.answered((answer[3] ?? 0) & 0x0f, (this.#ports.clock.monotonicMs() - startedMs) / 1000);
		return answer;
	}
}

/** Settles when the client can take more. Rejects when it is gone. */
async function written(socket: TcpSocket, answer: Uint8Array): Promise<void> {
	const length = Buffer.alloc(2);
	length.writeUInt16BE(answer.length);
	if (socket.destroyed) throw new Error("the client is gone");
	if (socket.write(Buffer.concat([length, answer]))) return;
	const waiting = new AbortController();
	try {
		await Promise.race([once(socket, "drain", waiting), once(socket, "close", waiting)]);
	} finally {
		waiting.abort();
	}
}
