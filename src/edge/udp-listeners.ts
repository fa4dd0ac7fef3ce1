/** Datagram sockets for the proxy: those that clients send to, and those that endpoints answer to. */
import { createSocket, type Socket } from "node:dgram";
import { type CIDR, contains, parseIP } from "../api/ip.ts";
import type { Target } from "../plan/service-map/service-table.ts";
import type { DatagramDialer, DatagramFlow, DatagramListener, DatagramListeners, Peer } from "../proxy/datagrams.ts";
import type { ListenAddress, OpenResult } from "../proxy/ports.ts";
import { problemOf } from "./listen-problem.ts";

/** Answers datagrams to pods that exist in memory only. Undefined when no pod has the address. */
export type AnswerDatagram = (ip: string, port: number, bytes: Uint8Array) => Uint8Array | undefined;

export class UdpListeners implements DatagramListeners, DatagramDialer {
	readonly #answer: AnswerDatagram;
	readonly #clusterRanges: readonly CIDR[];

	/** @param clusterRanges Addresses there exist in memory only, and are never looked for on a real network. */
	constructor(answer: AnswerDatagram, clusterRanges: readonly CIDR[]) {
		this.#answer = answer;
		this.#clusterRanges = clusterRanges;
	}

	openDatagrams(
		{ host, port }: ListenAddress,
		received: (from: Peer, bytes: Uint8Array, listener: DatagramListener) => void,
	): Promise<OpenResult> {
		const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
		const listener: DatagramListener = { send: (to, bytes) => send(socket, to, bytes) };
		socket.on("message", (bytes, { address, port: from }) => received({ ip: address, port: from }, bytes, listener));
		return new Promise((resolve) => {
			const failed = (error: NodeJS.ErrnoException): void =>
				resolve({ kind: "failed", problem: problemOf(error), message: error.message });
			socket.once("error", failed);
			socket.bind({ address: host, port, exclusive: true }, () => {
				socket.off("error", failed);
				// Later errors are of one datagram that could not be sent.
				socket.on("error", () => undefined);
				resolve({ kind: "open", listener: { port: socket.address().port, close: () => socket.close() } });
			});
		});
	}

	openFlow(target: Target, told: { answered(bytes: Uint8Array): void; refused(): void }): DatagramFlow {
		return this.#isInMemory(target.ip) ? this.#memoryFlow(target, told) : socketFlow(target, told);
	}

	/** In a later turn, as a network would: who sends does not expect the answer before it is done. */
	#memoryFlow({ ip, port }: Target, { answered, refused }: Parameters<DatagramDialer["openFlow"]>[1]): DatagramFlow {
		let isOpen = true;
		return {
			send: (bytes) => {
				const answer = this.#answer(ip, port, bytes);
				setImmediate(() => {
					if (!isOpen) return;
					if (answer === undefined) refused();
					else answered(answer);
				});
			},
			close: () => {
				isOpen = false;
			},
		};
	}

	#isInMemory(text: string): boolean {
		const ip = parseIP(text);
		return ip !== undefined && this.#clusterRanges.some((range) => contains(range, ip));
	}
}

/** A connected socket: only such a one learns that nobody listens there. */
function socketFlow(
	{ ip, port }: Target,
	{ answered, refused }: Parameters<DatagramDialer["openFlow"]>[1],
): DatagramFlow {
	const socket = createSocket(ip.includes(":") ? "udp6" : "udp4");
	let isOpen = true;
	const waiting: Uint8Array[] = [];
	let isConnected = false;
	socket.on("message", (bytes) => answered(bytes));
	socket.on("error", () => {
		if (isOpen) refused();
	});
	socket.connect(port, ip, () => {
		isConnected = true;
		for (const bytes of waiting.splice(0)) if (isOpen) socket.send(bytes);
	});
	return {
		send: (bytes) => {
			if (isConnected) socket.send(bytes);
			else waiting.push(bytes);
		},
		close: () => {
			isOpen = false;
			socket.close();
		},
	};
}

function send(socket: Socket, { ip, port }: Peer, bytes: Uint8Array): void {
	socket.send(bytes, port, ip, () => undefined);
}
