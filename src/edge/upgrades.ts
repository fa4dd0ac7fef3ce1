/** Connections that stop speaking HTTP: port-forwarding over SPDY/3.1, directly or through a WebSocket. */
import type { IncomingMessage } from "node:http";
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { createWebSocketStream, WebSocketServer } from "ws";
import type { HttpResponse } from "../apiserver/http/message.ts";
import { NO_BYTES } from "../kernel/bytes.ts";

/** A raw SPDY connection in binary messages: what kubectl 1.31 and newer ask for. */
const TUNNEL_PROTOCOL = "SPDY/3.1+portforward.k8s.io";
const SPDY_PROTOCOL = "portforward.k8s.io";
const MESSAGE_BYTES_MAX = 1024 * 1024;

const webSockets = new WebSocketServer({
	noServer: true,
	maxPayload: MESSAGE_BYTES_MAX,
	handleProtocols: (protocols) => (protocols.has(TUNNEL_PROTOCOL) ? TUNNEL_PROTOCOL : false),
});

/**
 * Answers the upgrade in the client's protocol and gives the connection that SPDY is spoken on; undefined when
 * the client asked for something else, and was told so.
 */
export function spdyConnection(message: IncomingMessage, socket: Duplex, head: Buffer): Promise<Duplex | undefined> {
	const upgrade = (message.headers.upgrade ?? "").toLowerCase();
	if (upgrade === "websocket" && offers(message.headers["sec-websocket-protocol"], TUNNEL_PROTOCOL)) {
		return new Promise((resolve) => {
			webSockets.handleUpgrade(message, socket, head, (webSocket) => {
				resolve(createWebSocketStream(webSocket, { allowHalfOpen: true }));
			});
		});
	}
	if (upgrade === "spdy/3.1" && offers(message.headers["x-stream-protocol-version"], SPDY_PROTOCOL)) {
		const lines = ["Connection: Upgrade", "Upgrade: SPDY/3.1", `X-Stream-Protocol-Version: ${SPDY_PROTOCOL}`];
		socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("\r\n")}\r\n\r\n`);
		if (head.length > 0) socket.unshift(head);
		return Promise.resolve(socket);
	}
	const offered = `want a WebSocket with subprotocol ${TUNNEL_PROTOCOL}, or SPDY/3.1 with ${SPDY_PROTOCOL}`;
	writeRefusal(socket, 400, "text/plain", Buffer.from(`unable to upgrade: ${offered}\n`));
	return Promise.resolve(undefined);
}

/** An answer in HTTP, and the end of the connection. */
export function refuseUpgrade(socket: Duplex, { status, headers, body }: HttpResponse): void {
	const type = headers["content-type"];
	writeRefusal(
		socket,
		status,
		typeof type === "string" ? type : "text/plain",
		body instanceof Uint8Array ? body : NO_BYTES,
	);
}

function writeRefusal(socket: Duplex, status: number, type: string, body: Uint8Array): void {
	const head = [
		`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Error"}`,
		"Connection: close",
		`Content-Type: ${type}`,
		`Content-Length: ${body.length}`,
	];
	socket.write(`${head.join("\r\n")}\r\n\r\n`);
	socket.end(body);
}

function offers(header: string | string[] | undefined, protocol: string): boolean {
	const list = Array.isArray(header) ? header.join(",") : (header ?? "");
	return list.split(",").some((item) => item.trim() === protocol);
}
