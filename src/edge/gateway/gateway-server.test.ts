import { once } from "node:events";
import { createServer, request } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Gateway } from "../../proxy/gateway.ts";
import { silentMetrics } from "../../testing/silent.ts";
import { TcpListeners } from "../tcp-listeners.ts";
import { GatewayServer } from "./gateway-server.ts";

const cleanups: (() => void)[] = [];
afterEach(() => {
	for (const cleanup of cleanups.splice(0)) cleanup();
});

const credentials = { user: "sliceplane", password: "secret" };
const BASIC = `Basic ${Buffer.from("sliceplane:secret").toString("base64")}`;
/** Longer than any answer here takes, and short enough to wait for. */
const SILENCE_MS = 500;
let port = 0;
let backend = 0;

/** `web` is a real server, `refused` and `silent` are what their names say. */
const gateway: Pick<Gateway<Duplex>, "connect"> = {
	async connect(host) {
		if (host === "refused") return { kind: "refused", why: "nobody is there" };
		if (host !== "web" && host !== "10.96.0.10") return { kind: "silent", why: "no answer" };
		const stream = connect({ host: "127.0.0.1", port: backend, allowHalfOpen: true });
		await once(stream, "connect");
		return { kind: "connected", stream };
	},
};

beforeEach(async () => {
	const web = createServer((asked, answer) => {
		asked.resume();
		answer.end(`${asked.method} ${asked.url} ${asked.headers["proxy-authorization"] ?? "no credentials"}`);
	});
	const open = new Set<Socket>();
	web.on("connection", (socket) => open.add(socket));
	web.listen(0, "127.0.0.1");
	await once(web, "listening");
	backend = (web.address() as AddressInfo).port;
	const listeners = new TcpListeners(silentMetrics);
	const server = new GatewayServer({
		listeners,
		gateway,
		credentials,
		metrics: silentMetrics,
		silenceMsMax: SILENCE_MS,
	});
	const result = await server.open("127.0.0.1", 0);
	if (result.kind === "failed") throw new Error(result.message);
	port = result.listener.port;
	cleanups.push(() => {
		result.listener.close();
		listeners.resetAll();
		for (const socket of open) socket.destroy();
		web.close();
	});
});

/** Sends bytes and gives back what comes, to the end. */
async function said(...chunks: readonly (Uint8Array | string)[]): Promise<Buffer> {
	const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
	const parts: Buffer[] = [];
	socket.on("data", (chunk) => parts.push(chunk));
	const ended = once(socket, "end");
	for (const chunk of chunks) socket.write(chunk);
	socket.end();
	await ended;
	socket.destroy();
	return Buffer.concat(parts);
}

const GREETING = Uint8Array.of(5, 1, 2);
const auth = (password: string): Uint8Array =>
	Uint8Array.of(1, 10, ...Buffer.from("sliceplane"), password.length, ...Buffer.from(password));
const byName = (name: string): Uint8Array => Uint8Array.of(5, 1, 0, 3, name.length, ...Buffer.from(name), 0, 80);
const GET = "GET /x HTTP/1.1\r\nHost: web\r\nConnection: close\r\n\r\n";

describe("SOCKS5", () => {
	test("connects by name, and by address, with user and password", async () => {
		for (const asked of [byName("web"), Uint8Array.of(5, 1, 0, 1, 10, 96, 0, 10, 0, 80)]) {
			const bytes = await said(GREETING, auth("secret"), asked, GET);
			expect([...bytes.subarray(0, 14)]).toEqual([5, 2, 1, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
			expect(bytes.toString("latin1")).toContain("GET /x no credentials");
		}
	});

	test.each<[string, readonly Uint8Array[], readonly number[]]>([
		["a wrong password", [GREETING, auth("wrong")], [5, 2, 1, 1]],
		["another version of passwords", [GREETING, Uint8Array.of(5, ...auth("secret").subarray(1))], [5, 2, 1, 1]],
		["no way to give one", [Uint8Array.of(5, 1, 0)], [5, 255]],
		["nobody there", [GREETING, auth("secret"), byName("refused")], [5, 2, 1, 0, 5, 5, 0, 1, 0, 0, 0, 0, 0, 0]],
		["no answer", [GREETING, auth("secret"), byName("silent")], [5, 2, 1, 0, 5, 4, 0, 1, 0, 0, 0, 0, 0, 0]],
		[
			"datagrams",
			[GREETING, auth("secret"), Uint8Array.of(5, 3, 0, 1, 1, 1, 1, 1, 0, 53)],
			[5, 2, 1, 0, 5, 7, 0, 1, 0, 0, 0, 0, 0, 0],
		],
		[
			"an unknown kind of address",
			[GREETING, auth("secret"), Uint8Array.of(5, 1, 0, 9, 0, 80)],
			[5, 2, 1, 0, 5, 8, 0, 1, 0, 0, 0, 0, 0, 0],
		],
	])("refuses %s in the protocol's words", async (_, chunks, answer) => {
		expect([...(await said(...chunks))]).toEqual(answer);
	});

	test("a client that breaks off half way leaves nothing behind", async () => {
		expect([...(await said(Uint8Array.of(5, 9, 2)))]).toEqual([]);
	});
});

async function proxied(path: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
	const asked = request({ host: "127.0.0.1", port, path, headers, agent: false, method: "POST" });
	const [answer] = await once(asked.end("body"), "response");
	return `${answer.statusCode} ${await text(answer)}`;
}

describe("HTTP", () => {
	test("passes requests with a whole URL on, without what is for the proxy only", async () => {
		expect(await proxied("http://web/a?b=c", { "proxy-authorization": BASIC })).toBe("200 POST /a?b=c no credentials");
	});

	test.each([
		["no credentials", "http://web/", {}, /^407 $/],
		["wrong ones", "http://web/", { "proxy-authorization": "Basic eDp5" }, /^407 $/],
		["odd ones", "http://web/", { "proxy-authorization": "Bearer x" }, /^407 $/],
		["a request that is not for a proxy", "/hostname", { "proxy-authorization": BASIC }, /^400 this is a proxy/],
		["another scheme", "ftp://web/", { "proxy-authorization": BASIC }, /^400 this is a proxy/],
		["nobody there", "http://refused/", { "proxy-authorization": BASIC }, /^502 nobody is there/],
		["no answer", "http://silent/", { "proxy-authorization": BASIC }, /^504 no answer/],
	])("answers %s", async (_, path, headers, answer) => {
		expect(await proxied(path, { ...headers })).toMatch(answer);
	});

	test.each([
		["web:80", BASIC, /^HTTP\/1\.1 200 Connection established\r\n\r\nHTTP\/1\.1 200 OK.*GET \/x no credentials/s],
		["web:80", "Basic eDp5", /^HTTP\/1\.1 407 .*Proxy-Authenticate: Basic/s],
		["web", BASIC, /^HTTP\/1\.1 400 /],
		["web:99999", BASIC, /^HTTP\/1\.1 400 /],
		["refused:80", BASIC, /^HTTP\/1\.1 502 .*nobody is there/s],
	])("CONNECT %s with %s", async (target, authorization, answer) => {
		const head = `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\nProxy-Authorization: ${authorization}\r\n\r\n`;
		expect((await said(head, GET)).toString("latin1")).toMatch(answer);
	});

	test("what is neither is told so", async () => {
		expect((await said("\u0016\u0003\u0001 junk\r\n\r\n")).toString("latin1")).toMatch(/^HTTP\/1\.1 400 /);
	});
});

test("an address that is taken is said to be", async () => {
	const holder = createTcpServer().listen(0, "127.0.0.1");
	await once(holder, "listening");
	cleanups.push(() => holder.close());
	const listeners = new TcpListeners(silentMetrics);
	const server = new GatewayServer({
		listeners,
		gateway,
		credentials,
		metrics: silentMetrics,
		silenceMsMax: SILENCE_MS,
	});
	expect(await server.open("127.0.0.1", (holder.address() as AddressInfo).port)).toMatchObject({
		kind: "failed",
		problem: "address-in-use",
	});
});

describe("a client that takes its time", () => {
	/** Resolves when the gateway has ended the connection. */
	async function sentAway(...chunks: readonly (Uint8Array | string)[]): Promise<void> {
		const socket = connect({ host: "127.0.0.1", port });
		socket.resume();
		for (const chunk of chunks) socket.write(chunk);
		await once(socket, "close");
	}

	test.each<[string, readonly (Uint8Array | string)[]]>([
		["says nothing", []],
		["stops within its greeting", [Uint8Array.of(5, 1)]],
		["stops within its headers", ["GET http://web/ HTTP/1.1\r\nHost: w"]],
		["stops after an answer", [`GET http://web/ HTTP/1.1\r\nHost: web\r\nProxy-Authorization: ${BASIC}\r\n\r\n`]],
	])("and %s is sent away", async (_, chunks) => {
		await sentAway(...chunks);
	});

	test("keeps its connection once it has one", async () => {
		const socket = connect({ host: "127.0.0.1", port });
		socket.write(`CONNECT web:80 HTTP/1.1\r\nHost: web\r\nProxy-Authorization: ${BASIC}\r\n\r\n`);
		await once(socket, "data");
		// Whoever says nothing meanwhile is gone by then.
		await sentAway();
		await sentAway();
		socket.write(GET);
		const [answer] = await once(socket, "data");
		expect(String(answer)).toContain("GET /x no credentials");
		socket.destroy();
	});
});
