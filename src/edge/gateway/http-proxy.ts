/**
 * An HTTP proxy: CONNECT, and requests with a whole URL, as clients send them to HTTP_PROXY.
 *
 * @see RFC 9110 section 9.3.6, RFC 9112 section 3.2.2
 */
import {
	createServer,
	request as httpRequest,
	type IncomingMessage,
	type Server,
	type ServerResponse,
	STATUS_CODES,
} from "node:http";
import type { Duplex } from "node:stream";
import type { GatewayResult } from "../../proxy/gateway.ts";
import { splice } from "../splice.ts";
import type { Credentials } from "./socks5.ts";

export interface HttpProxyPorts {
	isKnown(credentials: Credentials): boolean;
	connect(host: string, port: number): Promise<GatewayResult<Duplex>>;
}

/** Of this hop only; the rest goes on as it came. */
const HOP_HEADERS = ["connection", "proxy-connection", "proxy-authorization", "keep-alive", "te", "trailer", "upgrade"];
const CHALLENGE = 'Basic realm="sliceplane", charset="UTF-8"';

/** A server without a listener: connections are handed to it. */
export function httpProxy(ports: HttpProxyPorts): Server {
	const server = createServer((request, response) => void forward(ports, request, response));
	server.on(
		"connect",
		(request: IncomingMessage, client: Duplex, head: Buffer) => void tunnel(ports, request, { client, head }),
	);
	server.on("clientError", (_error, connection) => connection.end(statusLine(400)));
	return server;
}

async function tunnel(
	ports: HttpProxyPorts,
	request: IncomingMessage,
	{ client, head }: { readonly client: Duplex; readonly head: Buffer },
): Promise<void> {
	client.on("error", () => undefined);
	if (!isAllowed(ports, request)) {
		client.end(`${statusLine(407, `Proxy-Authenticate: ${CHALLENGE}\r\n`)}`);
		return;
	}
	const target = hostAndPort(request.url ?? "");
	if (target === undefined) {
		client.end(statusLine(400));
		return;
	}
	const result = await ports.connect(target.host, target.port);
	if (result.kind !== "connected") {
		client.end(statusLine(statusOf(result), "", `${result.why}\n`));
		return;
	}
	client.write("HTTP/1.1 200 Connection established\r\n\r\n");
	if (head.length > 0) result.stream.write(head);
	// A client may have sent all and closed its half before it knew that it is connected.
	if (client.readableEnded) result.stream.end();
	splice(client, result.stream, () => undefined);
}

async function forward(ports: HttpProxyPorts, request: IncomingMessage, response: ServerResponse): Promise<void> {
	if (!isAllowed(ports, request)) {
		response.writeHead(407, { "proxy-authenticate": CHALLENGE }).end();
		return;
	}
	const url = URL.canParse(request.url ?? "") ? new URL(request.url ?? "") : undefined;
	if (url === undefined || url.protocol !== "http:") {
		response.writeHead(400).end("this is a proxy: want a request with a whole http:// URL, or CONNECT\n");
		return;
	}
	const result = await ports.connect(url.hostname, Number(url.port || "80"));
	if (result.kind !== "connected") {
		response.writeHead(statusOf(result), { "content-type": "text/plain; charset=utf-8" }).end(`${result.why}\n`);
		return;
	}
	pass(request, response, { url, stream: result.stream });
}

function pass(
	request: IncomingMessage,
	response: ServerResponse,
	to: { readonly url: URL; readonly stream: Duplex },
): void {
	const { url, stream } = to;
	const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !HOP_HEADERS.includes(name)));
	const options = { method: request.method ?? "GET", path: `${url.pathname}${url.search}`, headers, setHost: false };
	const upstream = httpRequest({ ...options, createConnection: () => stream }, (answer) => {
		const kept = Object.entries(answer.headers).filter(([name]) => !HOP_HEADERS.includes(name));
		response.writeHead(answer.statusCode ?? 502, Object.fromEntries(kept));
		answer.pipe(response);
		answer.once("error", () => response.destroy());
	});
	upstream.once("error", (error) => {
		if (response.headersSent) response.destroy();
		else response.writeHead(502).end(`${error.message}\n`);
	});
	response.once("close", () => upstream.destroy());
	request.pipe(upstream);
}

function isAllowed(ports: HttpProxyPorts, { headers }: IncomingMessage): boolean {
	const [, encoded = ""] = /^Basic (.+)$/i.exec(headers["proxy-authorization"] ?? "") ?? [];
	const decoded = Buffer.from(encoded, "base64").toString("utf8");
	const colon = decoded.indexOf(":");
	return colon >= 0 && ports.isKnown({ user: decoded.slice(0, colon), password: decoded.slice(colon + 1) });
}

function statusOf({ kind }: Exclude<GatewayResult<Duplex>, { kind: "connected" }>): number {
	return kind === "silent" ? 504 : 502;
}

function statusLine(status: number, headers = "", body = ""): string {
	const length = `Content-Length: ${Buffer.byteLength(body)}\r\n`;
	return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nConnection: close\r\n${headers}${length}\r\n${body}`;
}

function hostAndPort(text: string): { readonly host: string; readonly port: number } | undefined {
	const [, host, port] = /^(\[[0-9a-fA-F:.]+\]|[^:/]+):(\d{1,5})$/.exec(text) ?? [];
	return host === undefined || Number(port) > 65_535 ? undefined : { host, port: Number(port) };
}
