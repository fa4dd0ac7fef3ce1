/** What the proxy needs of the machine to carry datagrams. */
import type { Target } from "../plan/service-map/service-table.ts";
import type { ListenAddress, OpenResult } from "./ports.ts";

/** Who sent a datagram, and is answered there. */
export interface Peer {
	readonly ip: string;
	readonly port: number;
}

/** The socket that clients send to. */
export interface DatagramListener {
	send(to: Peer, bytes: Uint8Array): void;
}

export interface DatagramListeners {
	/** `received` is called with every datagram, and with what answers it. */
	openDatagrams(
		address: ListenAddress,
		received: (from: Peer, bytes: Uint8Array, listener: DatagramListener) => void,
	): Promise<OpenResult>;
}

/** One client's way to one endpoint. */
export interface DatagramFlow {
	send(bytes: Uint8Array): void;
	close(): void;
}

export interface DatagramDialer {
	/** `refused`: the endpoint's machine says that nobody listens there. Nothing is called after `close`. */
	openFlow(target: Target, told: { answered(bytes: Uint8Array): void; refused(): void }): DatagramFlow;
}
