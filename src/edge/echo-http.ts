/**
 * What every echo pod answers over HTTP.
 *
 *     /hostname        the pod's name, as text
 *     /status/503      that status, and the pod's name
 *     /delay?ms=250    the pod's name, after so many milliseconds
 *     anything else    who was asked what, as JSON
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Clock } from "../kernel/clock.ts";
import type { AnsweredRequest } from "../machinery/answered-request.ts";
import type { EchoPod } from "./echo-pods.ts";

/** Whom a connection was made to. */
export interface Served {
	readonly pod: EchoPod;
	readonly ip: string;
	readonly port: number;
}

export interface EchoPorts {
	readonly clock: Clock;
	answered(request: AnsweredRequest): void;
}

const DELAY_MS_MAX = 60_000;
const BASE_URL = "http://pod";

/** A server without a listener: connections are handed to it. `servedBy` says whom a connection is for. */
export function echoHttpServer(ports: EchoPorts, servedBy: (connection: object) => Served | undefined): Server {
	const server = createServer((request, response) => {
		request.resume();
		const served = servedBy(request.socket);
		if (served === undefined) {
			response.destroy();
			return;
		}
		tellWhenAnswered(ports, request, response, served);
		answer(request, response, served);
	});
	server.on("clientError", (_error, connection) =>
		connection.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"),
	);
	// Node's switch for answering a client that has closed its half; its types do not know it.
	return Object.assign(server, { httpAllowHalfOpen: true });
}

function tellWhenAnswered(
	{ clock, answered }: EchoPorts,
	{ method, url }: IncomingMessage,
	response: ServerResponse,
	{ pod, port }: Served,
): void {
	response.once("finish", () => {
		const text = `${method} ${url} ${response.statusCode}`;
		answered({ podUID: pod.uid, port, atMs: clock.wallMs(), text });
	});
}

function answer(request: IncomingMessage, response: ServerResponse, served: Served): void {
	const { pathname, searchParams } = urlOf(request.url ?? "/");
	const { name } = served.pod;
	const status = /^\/status\/([0-9]+)$/.exec(pathname)?.[1];
	if (pathname === "/hostname") sendText(response, 200, name);
	else if (status !== undefined) sendStatus(response, Number(status), name);
	else if (pathname === "/delay") sendLater(response, searchParams.get("ms"), name);
	else sendJson(response, described(request, served));
}

/** Clients can ask for anything, such as `//`, which is no URL. */
function urlOf(text: string): URL {
	return new URL(URL.canParse(text, BASE_URL) ? text : "/", BASE_URL);
}

function described({ method, url, headers }: IncomingMessage, { pod, ip, port }: Served): object {
	const { name, namespace, nodeName, labels } = pod;
	return { pod: name, namespace, node: nodeName, labels, ip, port, method, path: url, headers };
}

function sendStatus(response: ServerResponse, status: number, name: string): void {
	if (status >= 200 && status <= 599) sendText(response, status, name);
	else sendText(response, 400, `/status/${status}: want a status from 200 to 599`);
}

function sendLater(response: ServerResponse, ms: string | null, name: string): void {
	const delayMs = ms === null || ms === "" ? Number.NaN : Number(ms);
	if (delayMs >= 0 && delayMs <= DELAY_MS_MAX) {
		const timer = setTimeout(() => sendText(response, 200, name), delayMs);
		response.once("close", () => clearTimeout(timer));
	} else {
		sendText(response, 400, `/delay: want ms from 0 to ${DELAY_MS_MAX}, such as /delay?ms=250`);
	}
}

function sendText(response: ServerResponse, status: number, text: string): void {
	response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(text);
}

function sendJson(response: ServerResponse, body: object): void {
	response.writeHead(200, { "content-type": "application/json" }).end(`${JSON.stringify(body)}\n`);
}
