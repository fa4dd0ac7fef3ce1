import { EventEmitter, once } from "node:events";
import { request as httpsRequest, type RequestOptions } from "node:https";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { gunzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { HttpsTestServer, type HttpsTestServerOptions } from "../testing/https-test-server.ts";
import { settle } from "../testing/virtual-clock.ts";
import { HttpsServer } from "./https-server.ts";

const PODS = "/api/v1/namespaces/default/pods";
const CONFIG = "/api/v1/namespaces/default/endpoints";
const MIB = 1024 * 1024;

let server: HttpsTestServer;
const sockets: Socket[] = [];

async function start(options: HttpsTestServerOptions = {}): Promise<void> {
	server = await HttpsTestServer.start(options);
}
afterEach(async () => {
	for (const socket of sockets.splice(0)) socket.destroy();
	await server.close();
});

interface Answer {
	readonly status: number;
	readonly headers: Readonly<Record<string, string | string[] | undefined>>;
	readonly body: Buffer;
}

function request(method: string, path: string, body?: string | Buffer, options: RequestOptions = {}): Promise<Answer> {
	return new Promise((resolve, reject) => {
		const headers = { authorization: "Bearer admin", ...(options.headers as Record<string, string>) };
		const url = `${server.url}${path}`;
		const sent = httpsRequest(
			url,
			{ agent: false, ca: server.certificates.ca, method, ...options, headers },
			(answer) => {
				const chunks: Buffer[] = [];
				answer.on("data", (chunk: Buffer) => chunks.push(chunk));
				answer.on("error", reject);
				answer.on("end", () => {
					resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) });
				});
			},
		);
		sent.on("error", reject);
		sent.end(body);
	});
}

async function tls(): Promise<TLSSocket> {
	const socket = connectTls({ host: "127.0.0.1", port: server.port, ca: server.certificates.ca });
	sockets.push(socket);
	socket.on("error", () => undefined);
	await once(socket, "secureConnect");
	return socket;
}

/** Everything that the server sends before it closes. */
async function untilClosed(socket: Socket): Promise<string> {
	let text = "";
	socket.on("data", (chunk: Buffer) => {
		text += chunk.toString();
	});
	await once(socket, "close");
	return text;
}

/** A text with one annotation of so many bytes. */
function bodyOf(bytes: number): string {
	const [head, tail] = ['{"metadata":{"name":"big","annotations":{"a":"', '"}}}'];
	return head + "x".repeat(bytes - head.length - tail.length) + tail;
}

describe("HttpsServer", () => {
	test("serves TLS with a certificate for loopback, signed by its own authority", async () => {
		await start();
		expect((await request("GET", "/healthz")).body.toString()).toBe("ok");
		await expect(request("GET", "/healthz", undefined, { ca: [] })).rejects.toThrow();
	});

	test("speaks no TLS older than 1.2, and no plain HTTP", async () => {
		await start();
		const old = { maxVersion: "TLSv1.1", minVersion: "TLSv1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
		await expect(request("GET", "/healthz", undefined, old)).rejects.toThrow();
		const plain = connectTcp({ host: "127.0.0.1", port: server.port });
		sockets.push(plain);
		plain.on("error", () => undefined);
		plain.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
		expect(await untilClosed(plain)).not.toContain("ok");
		expect((await request("GET", "/healthz")).status).toBe(200);
	});

	test("sends headers of any text as the bytes of UTF-8", async () => {
		await start();
		const body = '{"metadata":{"name":"a"},"日本":1,"é":2}';
		const { status, headers } = await request("POST", CONFIG, body);
		const warning = Buffer.from(String(headers["warning"]), "latin1").toString("utf8");
		expect([status, warning]).toEqual([201, expect.stringContaining('299 - "unknown field \\"日本\\""')]);
	});

	/** What a connection is answered that sends this head. */
	async function answered(...lines: string[]): Promise<string> {
		const socket = await tls();
		socket.end(`${[...lines, "Authorization: Bearer admin", "Connection: close"].join("\r\n")}\r\n\r\n`);
		return untilClosed(socket);
	}

	test("refuses more headers than it reads, whoever the last of them names", async () => {
		await start();
		const many = (count: number): string[] => Array.from({ length: count }, () => "x:");
		const head = ["GET /api HTTP/1.1", "Host: 127.0.0.1"];
		expect(await answered(...head, ...many(2_100), "Impersonate-User: nobody")).toMatch(/^HTTP\/1\.1 431 /);
		expect(await answered(...head, ...many(900), "Impersonate-Group: dev")).toMatch(/^HTTP\/1\.1 400 /);
		expect(await answered(...head, "Connection: Upgrade", "Upgrade: x", ...many(2_100))).toMatch(/^HTTP\/1\.1 431 /);
	});

	test("answers CONNECT, and refuses what is of another scheme", async () => {
		await start();
		expect(await answered("CONNECT 127.0.0.1:80 HTTP/1.1", "Host: 127.0.0.1")).toMatch(/^HTTP\/1\.1 405 /);
		const refused = await answered("GET ftp://127.0.0.1/api HTTP/1.1", "Host: 127.0.0.1");
		expect(refused).toMatch(/^HTTP\/1\.1 400 /);
		expect(refused).toContain("invalid request target: want a path, or a whole URL with https");
	});

	test("keeps the values of headers that come more than once apart", async () => {
		await start({
			handler: () => async (sent) => {
				const values = ["impersonate-user", "impersonate-group", "none"].map((name) => sent.headerValues?.(name));
				return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(values)) };
			},
		});
		const users = ["Impersonate-User: bob", "Impersonate-User: ann"];
		const groups = ["Impersonate-Group: cn=dev,dc=a", "Impersonate-Group: ops"];
		expect(await answered("GET /api HTTP/1.1", "Host: 127.0.0.1", ...users, ...groups)).toContain(
			'[["bob","ann"],["cn=dev,dc=a","ops"],[]]',
		);
	});

	test("answers HEAD with the length of what GET would send, and no body", async () => {
		await start();
		const [head, get] = [await request("HEAD", "/version"), await request("GET", "/version")];
		expect([head.headers["content-length"], head.body.length]).toEqual([String(get.body.length), 0]);
		expect((await request("HEAD", `${PODS}?watch=1`)).body.length).toBe(0);
	});
});

describe("limits of a body", () => {
	const TooLarge = "Request entity too large: limit is 3145728";

	test.each([
		["3 MiB", 3 * MIB, 422, "Too long"],
		["one byte more than 3 MiB", 3 * MIB + 1, 413, TooLarge],
		["4 MiB", 4 * MIB, 413, TooLarge],
		["12 MiB", 12 * MIB, 413, TooLarge],
	])("%s are answered as the limit has it, and the server lives", async (_, bytes, code, text) => {
		await start();
		const { status, body } = await request("POST", CONFIG, bodyOf(bytes));
		expect([status, JSON.parse(body.toString())]).toMatchObject([
			code,
			{ code, message: expect.stringContaining(text) },
		]);
		expect((await request("GET", "/healthz")).status).toBe(200);
	});

	test("a body of unknown length is counted while it comes", async () => {
		await start();
		const socket = await tls();
		const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
		socket.write(
			`POST ${CONFIG} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer admin\r\ntransfer-encoding: chunked\r\n\r\n`,
		);
		for (let count = 0; count < 49; count++) socket.write(chunk);
		socket.write("0\r\n\r\n");
		const [first] = await once(socket, "data");
		expect(String(first)).toMatch(/^HTTP\/1\.1 413 /);
	});

	test("a body without an end is cut off, however long the client goes on", async () => {
		await start({ limits: { bodyBytesMax: 1024 } });
		const socket = await tls();
		socket.write(
			`POST ${CONFIG} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer admin\r\ntransfer-encoding: chunked\r\n\r\n`,
		);
		const closed = untilClosed(socket);
		const more = (): void => {
			if (socket.writable) socket.write(`1000\r\n${"x".repeat(0x1000)}\r\n`, () => setImmediate(more));
		};
		more();
		expect(await closed).toMatch(/^(HTTP\/1\.1 413 |$)/);
		expect((await request("GET", "/healthz")).status).toBe(200);
	});

	test.each([
		["Bearer wrong", 401],
		["Bearer admin", 413],
	])("who is refused (%s) is heard out, and gets to read why", async (authorization, code) => {
		await start();
		const socket = await tls();
		const body = bodyOf(10 * MIB);
		const head = `POST ${CONFIG} HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\ncontent-length: ${body.length}\r\n\r\n`;
		const errors: Error[] = [];
		socket.on("error", (error) => errors.push(error));
		const isAnswered = once(socket, "data");
		await new Promise((resolve) => socket.write(head + body, resolve));
		const [answer] = await isAnswered;
		expect([String(answer).slice(0, 13), errors]).toEqual([`HTTP/1.1 ${code} `, []]);
	});

	test("half a body, and the end of the connection, changes nothing", async () => {
		await start();
		const revision = server.plane.store.revision;
		const socket = await tls();
		const head = `POST ${CONFIG} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer admin\r\ncontent-length: 100\r\n\r\n`;
		await new Promise((resolve) => socket.write(`${head}{"metadata":{"name":"a"}}`, resolve));
		socket.destroy();
		expect((await request("GET", CONFIG)).status).toBe(200);
		await settle();
		expect(server.plane.store.revision).toBe(revision);
	});
});

describe("limits of time", () => {
	const Limits = { headersMs: 100, requestMs: 130 };

	test.each([
		["half a request line", "GET /heal"],
		["headers without an end", "GET /healthz HTTP/1.1\r\nhost: x\r\na: b\r\n"],
		[
			"a body that stops",
			`POST ${CONFIG} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer admin\r\ncontent-length: 100\r\n\r\n{`,
		],
		["nothing at all", ""],
	])("%s, and then silence, is cut", async (_, text) => {
		await start({ limits: Limits });
		const socket = await tls();
		if (text !== "") socket.write(text);
		expect(await untilClosed(socket)).toMatch(/^(HTTP\/1\.1 408 |$)/);
		expect((await request("GET", "/healthz")).status).toBe(200);
	});

	test("headers that come letter by letter are cut", async () => {
		await start({ limits: Limits });
		const socket = await tls();
		socket.write("GET /healthz HTTP/1.1\r\n");
		const closed = untilClosed(socket);
		const drip = setInterval(() => socket.write("x: y\r\n"), 10);
		expect(await closed).toMatch(/^(HTTP\/1\.1 408 |$)/);
		clearInterval(drip);
	});

	test("a connection that never shakes hands is cut", async () => {
		await start({ limits: Limits });
		const socket = connectTcp({ host: "127.0.0.1", port: server.port });
		sockets.push(socket);
		socket.on("error", () => undefined);
		expect(await untilClosed(socket)).toBe("");
	});

	test("an open watch is not cut", async () => {
		await start({ limits: Limits });
		const socket = await tls();
		socket.write(`GET ${PODS}?watch=1 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer admin\r\n\r\n`);
		await once(socket, "data");
		const late = connectTcp({ host: "127.0.0.1", port: server.port });
		sockets.push(late);
		late.on("error", () => undefined);
		// When the time of a later connection is over, the watch has been open for longer than any limit.
		await once(late, "close");
		expect(socket.destroyed).toBe(false);
		expect(server.plane.api.watches).toBe(1);
	});
});

describe("the limit of connections", () => {
	test("turns the next one away, and takes one again when there is room", async () => {
		await start({ limits: { connectionsMax: 2 } });
		const [first] = [await tls(), await tls()];
		const third = connectTcp({ host: "127.0.0.1", port: server.port });
		sockets.push(third);
		third.on("error", () => undefined);
		await once(third, "close");
		first?.destroy();
		if (first !== undefined && !first.closed) await once(first, "close");
		await settle();
		expect((await request("GET", "/healthz")).status).toBe(200);
	});
});

describe("gzip", () => {
	const answering = (bytes: number): HttpsTestServerOptions => ({
		handler: () => () =>
			Promise.resolve({ status: 200, headers: { "content-type": "text/plain" }, body: Buffer.alloc(bytes, "x") }),
	});

	test.each([
		[131_072, "gzip", undefined],
		[131_073, "gzip", "gzip"],
		[131_073, "deflate, gzip;q=0.5", "gzip"],
		[131_073, "gzip;q=0", undefined],
		[131_073, "identity", undefined],
		[131_073, "", undefined],
	])("of %i bytes for Accept-Encoding %j: %s", async (bytes, accepted, encoding) => {
		await start(answering(bytes));
		const { headers, body } = await request("GET", "/", undefined, { headers: { "accept-encoding": accepted } });
		expect([headers["content-encoding"], headers["vary"]]).toEqual([
			encoding,
			encoding === undefined ? undefined : "Accept-Encoding",
		]);
		expect((encoding === "gzip" ? gunzipSync(body) : body).length).toBe(bytes);
		expect(headers["content-length"]).toBe(String(body.length));
	});
});

describe("a body in pieces", () => {
	function* hundred(made: number[]): Iterable<Uint8Array> {
		for (let piece = 0; piece < 100; piece++) {
			made.push(piece);
			yield Buffer.alloc(100_000, String(piece % 10));
		}
	}
	const inPieces = (made: number[]): HttpsTestServerOptions => ({
		handler: () => () => Promise.resolve({ status: 200, headers: {}, body: { pieces: hundred(made) } }),
	});

	test.each(["gzip", "identity"])("arrives whole, in order, for Accept-Encoding %s", async (accepted) => {
		await start(inPieces([]));
		const { headers, body } = await request("GET", "/", undefined, { headers: { "accept-encoding": accepted } });
		const whole = headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
		expect(headers["content-encoding"]).toBe(accepted === "gzip" ? "gzip" : undefined);
		expect(whole.equals(Buffer.concat([...hundred([])]))).toBe(true);
	});

	test("is not made for HEAD, and no further when the client has left", async () => {
		const made: number[] = [];
		await start(inPieces(made));
		await request("HEAD", "/");
		expect(made).toEqual([]);
		const socket = await tls();
		socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
		await once(socket, "data");
		socket.pause();
		socket.destroy();
		await server.close(60_000);
		expect(made.length).toBeLessThan(100);
	});
});

describe("close", () => {
	async function watching(): Promise<TLSSocket> {
		const socket = await tls();
		socket.write(`GET ${PODS}?watch=1 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer admin\r\n\r\n`);
		const [first] = await once(socket, "data");
		expect(String(first)).toMatch(/^HTTP\/1\.1 200 OK/);
		return socket;
	}

	test("ends open watches in good order, long before the grace is over", async () => {
		await start();
		const socket = await watching();
		const rest = untilClosed(socket);
		await server.close(60_000);
		expect(await rest).toBe("0\r\n\r\n");
		expect(server.plane.api.watches).toBe(0);
	});

	test("lets an answer under way finish", async () => {
		const steps = new EventEmitter();
		const go = once(steps, "go");
		await start({
			handler: () => async () => {
				steps.emit("asked");
				await go;
				return { status: 200, headers: {}, body: Buffer.from("done") };
			},
		});
		const asked = once(steps, "asked");
		const slow = request("GET", "/slow");
		await asked;
		const closed = server.close(60_000);
		steps.emit("go");
		expect((await slow).body.toString()).toBe("done");
		await closed;
	});

	test("cuts connections that were upgraded, without waiting", async () => {
		await start();
		const own = new HttpsServer(server.certificates, () => Promise.reject(new Error("no request expected")));
		own.onUpgrade(async (_, { socket }) => {
			socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n");
		});
		const port = await own.listen("127.0.0.1", 0);
		const socket = connectTls({ host: "127.0.0.1", port, ca: server.certificates.ca });
		sockets.push(socket);
		socket.on("error", () => undefined);
		socket.write("GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n");
		await once(socket, "data");
		await own.close(60_000);
		await once(socket, "close");
	});

	test.each([
		["a connection that has not shaken hands", async () => connectTcp({ host: "127.0.0.1", port: server.port })],
		["half a request", async () => (await tls()).write("GET /heal")],
		["an idle connection", tls],
	])("does not wait longer than the grace for %s", async (_, open) => {
		await start();
		const opened = await open();
		if (typeof opened === "object") {
			sockets.push(opened);
			opened.on("error", () => undefined);
			if (opened.connecting) await once(opened, "connect");
		}
		await settle();
		await server.close(20);
	});
});
