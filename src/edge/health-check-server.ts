/** Answers health check node ports: any path, any method. */
import { createServer, type Server } from "node:http";
import type { Duplex } from "node:stream";
import type { HealthAnswer } from "../plan/service-map/health-check.ts";
import type { HealthChecks } from "../proxy/ports.ts";
import { memoryPair } from "./memory-pair.ts";

type Answer = () => HealthAnswer;

/** A server without a listener: connections are handed to it, each with what answers it. */
export class HealthCheckServer implements HealthChecks<Duplex> {
	readonly #answers = new WeakMap<object, Answer>();
	readonly #http: Server = createServer((request, response) => {
		request.resume();
		const answer = this.#answers.get(request.socket)?.();
		if (answer === undefined) {
			response.destroy();
			return;
		}
		const { status, headers, body } = answer;
		response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) }).end(body);
	});

	/** The client's end of a new connection. */
	connectTo(answer: Answer): Duplex {
		const [client, end] = memoryPair();
		this.serve(end, answer);
		return client;
	}

	/** `answer` is asked anew for each request of the connection. */
	serve(connection: Duplex, answer: Answer): void {
		connection.on("error", () => undefined);
		this.#answers.set(connection, answer);
		this.#http.emit("connection", connection);
		// Listeners give sockets paused.
		process.nextTick(() => connection.resume());
	}
}
