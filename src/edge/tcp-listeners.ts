/** TCP listeners for the proxy. Nothing is read from a client before it is spliced to an endpoint. */
import { createServer, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Counter, Metrics } from "../kernel/metrics.ts";
import type { Accepted, ListenAddress, Listeners, OpenResult } from "../proxy/ports.ts";
import { problemOf } from "./listen-problem.ts";
import { KEEP_ALIVE_MS, reset } from "./splice.ts";

export interface TcpListenerLimits {
	/** Clients at once, over all listeners; more are reset as they come. Each needs a descriptor or two. */
	readonly connectionsMax: number;
}

export const DEFAULT_TCP_LISTENER_LIMITS: TcpListenerLimits = { connectionsMax: 10_000 };

export class TcpListeners implements Listeners<Duplex> {
	readonly #limits: TcpListenerLimits;
	readonly #clients = new Set<Socket>();
	readonly #refused: Counter;

	constructor(metrics: Metrics, limits: TcpListenerLimits = DEFAULT_TCP_LISTENER_LIMITS) {
		this.#limits = limits;
		this.#refused = metrics.counter({
			name: "sliceplane_proxy_connections_refused_total",
			help: "Connections that were reset at once: too many clients, or no descriptors left.",
		});
	}

	open({ host, port }: ListenAddress, onConnection: (client: Accepted<Duplex>) => void): Promise<OpenResult> {
		const server = createServer(
			// A client that has sent its request may close its half and still wants the answer.
			{
				allowHalfOpen: true,
				pauseOnConnect: true,
				noDelay: true,
				keepAlive: true,
				keepAliveInitialDelay: KEEP_ALIVE_MS,
			},
			(socket) => this.#accept(socket, onConnection),
		);
		return new Promise((resolve) => {
			const failed = (error: NodeJS.ErrnoException): void =>
				resolve({ kind: "failed", problem: problemOf(error), message: error.message });
			server.once("error", failed);
			server.listen({ host, port, exclusive: true }, () => {
				server.off("error", failed);
				// Later errors are of one connection that could not be accepted.
				server.on("error", () => this.#refused.add());
				resolve({ kind: "open", listener: { port: portOf(server), close: () => close(server) } });
			});
		});
	}

	/** Breaks every connection that is open. */
	resetAll(): void {
		for (const socket of this.#clients) reset(socket);
	}

	#accept(socket: Socket, onConnection: (client: Accepted<Duplex>) => void): void {
		// A client may break off while its endpoint is being looked for; its end is seen when it is spliced.
		socket.on("error", () => undefined);
		if (this.#clients.size >= this.#limits.connectionsMax) {
			this.#refused.add();
			reset(socket);
			return;
		}
		this.#clients.add(socket);
		socket.once("close", () => this.#clients.delete(socket));
		onConnection({ stream: socket, ip: socket.remoteAddress });
	}
}

function close(server: Server): void {
	server.close();
}

function portOf(server: Server): number {
	const address = server.address();
	return typeof address === "object" && address !== null ? address.port : 0;
}
