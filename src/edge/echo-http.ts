/** Echo pods over HTTP/1.1: one server without a listener for all of them, connections are handed to it. */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Clock } from "../kernel/clock.ts";
import type { AnsweredRequest } from "../machinery/answered-request.ts";
import { type EchoAnswer, echoAnswer, POD_HEADER } from "./echo-answer.ts";
import type { Served } from "./echo-pod.ts";

export interface EchoPorts {
	readonly clock: Clock;
	answered(request: AnsweredRequest): void;
}

interface Connection {
	readonly served: Served;
	/** Requests that are not answered yet. */
	underWay: number;
	/** Answers that are finished. */
	answers: number;
}

/** A connection that a client has not used for so long is unlikely to be used in the moment that it is closed. */
const UNUSED_MS = 700;

export class EchoHttp {
	readonly #ports: EchoPorts;
	readonly #server: Server;
	readonly #connections = new WeakMap<object, Connection>();

	constructor(ports: EchoPorts) {
		this.#ports = ports;
		const server = createServer((request, response) => {
			request.resume();
			const connection = this.#connections.get(request.socket);
			if (connection === undefined) response.destroy();
			else this.#answer(connection, request, response);
		});
		server.on("clientError", (_error, stream) => this.#refuse(stream));
		// Node's switch for answering a client that has closed its half; its types do not know it.
		this.#server = Object.assign(server, { httpAllowHalfOpen: true });
	}

	/** Serves the connection; when its pod has begun to terminate, the next answer is the last, or it is closed as idle. */
	serve(stream: Duplex, served: Served): void {
		const connection: Connection = { served, underWay: 0, answers: 0 };
		this.#connections.set(stream, connection);
		stream.once(
			"close",
			served.follow(() => closeWhenUnused(stream, connection)),
		);
		this.#server.emit("connection", stream);
	}

	#answer(connection: Connection, request: Parameters<typeof asked>[0], response: ServerResponse): void {
		const { served } = connection;
		connection.underWay++;
		const answer = echoAnswer(asked(request), served, this.#ports.clock.wallMs());
		const timer = answer.delayMs > 0 ? setTimeout(() => send(response, served, answer), answer.delayMs) : undefined;
		response.once("finish", () => {
			connection.answers++;
			const line = `${request.method} ${request.url} ${response.statusCode}`;
			this.#ports.answered({
				podUID: served.pod.uid,
				port: served.port,
				atMs: this.#ports.clock.wallMs(),
				text: line,
			});
		});
		response.once("close", () => {
			clearTimeout(timer);
			connection.underWay--;
		});
		if (timer === undefined) send(response, served, answer);
	}

	#refuse(stream: Duplex): void {
		const name = this.#connections.get(stream)?.served.pod.name;
		const header = name === undefined ? "" : `${POD_HEADER}: ${name}\r\n`;
		stream.end(`HTTP/1.1 400 Bad Request\r\n${header}Connection: close\r\n\r\n`);
	}
}

function asked({
	method = "GET",
	url = "/",
	headers,
}: {
	method?: string | undefined;
	url?: string | undefined;
	headers: Parameters<typeof echoAnswer>[0]["headers"];
}): Parameters<typeof echoAnswer>[0] {
	return { method, url, headers };
}

/** Asked at the end of the answer, not at its begin: the pod may have begun to terminate meanwhile. */
function send(response: ServerResponse, { pod }: Served, { status, headers, body }: EchoAnswer): void {
	for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
	response.setHeader(POD_HEADER, pod.name);
	if (pod.isTerminating) response.setHeader("connection", "close");
	response.writeHead(status).end(body);
}

/**
 * Closing it at once would meet the requests that are just on their way: a client that uses it gets a last answer
 * instead. One that has not asked anything yet is left, for its first answer is the last.
 */
function closeWhenUnused(stream: Duplex, connection: Connection): void {
	const { served, answers } = connection;
	if (!served.pod.isTerminating || answers === 0) return;
	const close = (): void => {
		if (connection.underWay === 0 && connection.answers === answers) stream.end(() => stream.destroy());
	};
	setTimeout(close, UNUSED_MS).unref();
}
