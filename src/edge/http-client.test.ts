import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { NAMESPACES, NODES, PODS } from "../api/resource-names.ts";
import type { Pod } from "../api/types/core.ts";
import { HttpsTestServer } from "../testing/https-test-server.ts";
import { SeededRandom } from "../testing/seeded.ts";
import { transportSuite } from "../testing/transport-suite.ts";
import { WatchReader } from "../testing/watch-reader.ts";
import { HttpClient, type HttpClientOptions } from "./http-client.ts";
import type { HttpClientLimits } from "./http-exchange.ts";

describe("HttpClient, to our own server over TLS", () => {
	transportSuite(async () => {
		const server = await HttpsTestServer.start();
		const client = server.client();
		return {
			client,
			server: server.plane,
			cut: () => server.restart(),
			async close() {
				client.close();
				await server.close();
			},
		};
	});
});

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

const closing: (() => void)[] = [];
afterEach(() => {
	for (const close of closing.splice(0)) close();
});

/** A server that answers what a test says, in plain HTTP. */
async function serve(handler: Handler): Promise<Server> {
	const server = createServer((request, response) => void handler(request, response));
	await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: 0 }, resolve));
	closing.push(() => {
		server.closeAllConnections();
		server.close();
	});
	return server;
}

function clientOf(url: string, options: Partial<HttpClientOptions> = {}): HttpClient {
	const client = new HttpClient({ server: url, random: new SeededRandom(1), ...options });
	closing.push(() => client.close());
	return client;
}

async function clientTo(handler: Handler, options: Partial<HttpClientOptions> = {}): Promise<HttpClient> {
	const server = await serve(handler);
	return clientOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, options);
}

const answering =
	(status: number, body: string | Buffer, headers: Readonly<Record<string, string>> = {}): Handler =>
	(_, response) =>
		response.writeHead(status, headers).end(body);

const POD = { apiVersion: "v1", kind: "Pod", metadata: { name: "p", namespace: "x", resourceVersion: "7" } };
const KEY = { namespace: "x", name: "p" };
const eventLine = (type: string, object: object = POD): string => `${JSON.stringify({ type, object })}\n`;

describe("what is asked", () => {
	/** Method, path and chosen headers of the only request, with its body. */
	async function asked(call: (client: HttpClient) => Promise<unknown>): Promise<string> {
		let seen = "";
		const client = await clientTo(
			async (request, response) => {
				const chunks: Buffer[] = [];
				for await (const chunk of request) chunks.push(chunk);
				const { authorization = "-", "content-type": type = "-", "user-agent": agent } = request.headers;
				seen = `${request.method} ${request.url} ${authorization} ${type} ${agent} ${Buffer.concat(chunks)}`;
				response.end(JSON.stringify({ ...POD, items: [] }));
			},
			{ token: () => Promise.resolve("secret"), userAgent: "test" },
		);
		await call(client);
		return seen.trim().replace(" Bearer secret", "").replace(" test", "");
	}

	test.each<readonly [string, (client: HttpClient) => Promise<unknown>]>([
		["GET /api/v1/namespaces/x/pods/p -", (client) => client.get(PODS, KEY)],
		["GET /api/v1/namespaces/x/pods/a%2Fb -", (client) => client.get(PODS, { namespace: "x", name: "a/b" })],
		["GET /api/v1/nodes/n1 -", (client) => client.get(NODES, { namespace: "", name: "n1" })],
		["GET /api/v1/pods -", (client) => client.list(PODS, {})],
		[
			"GET /api/v1/namespaces/x/pods?labelSelector=a+in+%28b%29&fieldSelector=metadata.name%3Dp&resourceVersion=0 -",
			(client) =>
				client.list(PODS, {
					namespace: "x",
					labelSelector: "a in (b)",
					fieldSelector: "metadata.name=p",
					resourceVersion: "0",
				}),
		],
		[
			'POST /api/v1/nodes application/json {"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}}',
			(client) => client.create(NODES, "", { metadata: { name: "n1" } }),
		],
		[
			'PATCH /api/v1/namespaces/x/pods/p/status application/strategic-merge-patch+json {"a":1}',
			(client) => client.patch(PODS, KEY, { type: "strategic", body: { a: 1 } }, { subresource: "status" }),
		],
		["DELETE /api/v1/namespaces/x/pods/p -", (client) => client.delete(PODS, KEY)],
		[
			'DELETE /api/v1/namespaces/x/pods/p application/json {"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":0}',
			(client) => client.delete(PODS, KEY, { gracePeriodSeconds: 0 }),
		],
		[
			"DELETE /api/v1/namespaces/x/pods?labelSelector=a -",
			(client) => client.deleteCollection(PODS, "x", { labelSelector: "a" }),
		],
		[
			'POST /api/v1/namespaces/x/pods/p/binding application/json {"target":{}}',
			(client) => client.post(PODS, KEY, "binding", { target: {} }),
		],
	])("%s", async (expected, call) => {
		expect(await asked(call)).toBe(expected);
	});

	test("a watch asks for bookmarks and for an end, and follows the version", async () => {
		let seen = "";
		const client = await clientTo((request, response) => {
			seen = request.url ?? "";
			response.end();
		});
		const { signal } = new AbortController();
		await new WatchReader(client.watch(PODS, { resourceVersion: "5", labelSelector: "a=b", signal })).ended;
		const query = new URLSearchParams(seen.slice(seen.indexOf("?")));
		expect(Object.fromEntries(query)).toEqual({
			allowWatchBookmarks: "true",
			labelSelector: "a=b",
			resourceVersion: "5",
			timeoutSeconds: expect.stringMatching(/^[345]\d\d$/),
			watch: "true",
		});
	});

	test("a server behind a path prefix is asked there", async () => {
		let seen = "";
		const server = await serve((request, response) => {
			seen = request.url ?? "";
			response.end(JSON.stringify(POD));
		});
		await clientOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}/clusters/one/`).get(PODS, KEY);
		expect(seen).toBe("/clusters/one/api/v1/namespaces/x/pods/p");
	});

	test.each(["127.0.0.1:6443", "ftp://x", ""])("%j is no server", (server) => {
		expect(() => new HttpClient({ server, random: new SeededRandom(1) })).toThrow(TypeError);
	});
});

describe("answers", () => {
	test("items of a list are given the kind that only the list says", async () => {
		const { metadata } = POD;
		const list = { kind: "PodList", metadata: { resourceVersion: "9" }, items: [{ metadata }] };
		const client = await clientTo(answering(200, JSON.stringify(list)));
		expect(await client.list(PODS, {})).toEqual({ resourceVersion: "9", items: [POD] });
	});

	test("compressed ones are read, up to the limit of what they hold", async () => {
		const big = { ...POD, metadata: { ...POD.metadata, annotations: { a: "x".repeat(100_000) } } };
		const handler = answering(200, gzipSync(JSON.stringify(big)), { "content-encoding": "gzip" });
		expect(await (await clientTo(handler)).get(PODS, KEY)).toEqual(big);
		const small = await clientTo(handler, { limits: { answerBytesMax: 50_000 } });
		await expect(small.get(PODS, KEY)).rejects.toMatchObject({ name: "TransportError", kind: "malformed" });
	});

	test.each([
		[
			"a Status",
			409,
			JSON.stringify({ kind: "Status", reason: "AlreadyExists", message: "m", code: 409, details: { name: "p" } }),
			{ name: "ApiError", reason: "AlreadyExists", message: "m", code: 409, details: { name: "p" } },
		],
		[
			"text",
			404,
			"404 page not found",
			{ name: "ApiError", reason: "NotFound", code: 404, message: "The server answered 404: 404 page not found" },
		],
		["a page of a proxy", 503, "<html>no</html>", { name: "ApiError", reason: "ServiceUnavailable", code: 503 }],
		["an unknown code", 418, "", { name: "ApiError", reason: "", code: 418 }],
		["a redirect", 302, "", { name: "ApiError", reason: "", code: 302 }],
		["no JSON", 200, "ok", { name: "TransportError", kind: "malformed" }],
		["a JSON list", 200, "[]", { name: "TransportError", kind: "malformed" }],
		["what is no object of the API", 200, "{}", { name: "TransportError", kind: "malformed" }],
		[
			"too many bytes",
			200,
			JSON.stringify({ ...POD, spec: "x".repeat(2_000) }),
			{ name: "TransportError", kind: "malformed" },
		],
	])("%s are told for what they are", async (_, code, body, expected) => {
		const client = await clientTo(answering(code, body), { limits: { answerBytesMax: 1_000 } });
		await expect(client.get(PODS, KEY)).rejects.toMatchObject(expected);
	});

	test.each(["{}", '{"metadata":{"resourceVersion":"1"},"items":{}}'])("%s is no list", async (body) => {
		const client = await clientTo(answering(200, body));
		await expect(client.list(PODS, {})).rejects.toMatchObject({ name: "TransportError", kind: "malformed" });
	});
});

describe("connections", () => {
	test("that requests wait for are used by many in turn, and gather no listeners", async () => {
		const warned: string[] = [];
		const warn = (warning: Error): unknown => warned.push(warning.message);
		process.on("warning", warn);
		const server = await HttpsTestServer.start();
		const client = server.client();
		await Promise.all(Array.from({ length: 600 }, () => client.list(NAMESPACES, {})));
		await new Promise((resolve) => setImmediate(resolve));
		client.close();
		await server.close();
		process.off("warning", warn);
		expect(warned).toEqual([]);
	});

	test("are kept for the next request", async () => {
		const ports = new Set<number | undefined>();
		const client = await clientTo((request, response) => {
			ports.add(request.socket.remotePort);
			response.end(JSON.stringify(POD));
		});
		for (let count = 0; count < 3; count++) await client.get(PODS, KEY);
		expect(ports.size).toBe(1);
	});

	test("a server that is not there is unreachable", async () => {
		const server = await serve(() => undefined);
		const { port } = server.address() as AddressInfo;
		await new Promise((resolve) => server.close(resolve));
		const url = `http://127.0.0.1:${port}`;
		await expect(clientOf(url).get(PODS, KEY)).rejects.toMatchObject({
			name: "TransportError",
			kind: "unreachable",
			message: expect.stringContaining(`Cannot reach ${url}: `),
		});
	});

	test("a certificate that is not trusted is unreachable, unless that is wished", async () => {
		const server = await HttpsTestServer.start();
		closing.push(() => void server.close());
		const stranger = { server: server.url, token: () => Promise.resolve("admin") };
		const key = { namespace: "", name: "default" };
		await expect(clientOf(server.url, stranger).get(NAMESPACES, key)).rejects.toMatchObject({ kind: "unreachable" });
		const careless = clientOf(server.url, { ...stranger, insecureSkipTlsVerify: true });
		expect((await careless.get(NAMESPACES, key)).metadata.name).toBe("default");
		const named = { ...stranger, ca: server.certificates.ca, tlsServerName: "kubernetes.default.svc" };
		expect((await clientOf(server.url, named).get(NAMESPACES, key)).metadata.name).toBe("default");
		const misnamed = clientOf(server.url, { ...named, tlsServerName: "other.example" });
		await expect(misnamed.get(NAMESPACES, key)).rejects.toMatchObject({ kind: "unreachable" });
	});

	test.each<readonly [string, Handler]>([
		["before the headers", (request) => request.socket.destroy()],
		[
			"in the middle of the body",
			(request, response) => {
				response.writeHead(200, { "content-length": "1000" });
				response.write('{"kind":', () => request.socket.destroy());
			},
		],
		["by silence", () => undefined],
		["by silence after the headers", (_, response) => response.writeHead(200).write("{")],
	])("that break %s are told as broken", async (_, handler) => {
		const client = await clientTo(handler, { limits: { requestMs: 60 } });
		await expect(client.get(PODS, KEY)).rejects.toMatchObject({ name: "TransportError", kind: "broken" });
	});

	test("an abort ends a request", async () => {
		const stop = new AbortController();
		const client = await clientTo(() => stop.abort());
		await expect(client.get(PODS, KEY, stop.signal)).rejects.toMatchObject({ name: "TransportError" });
	});

	test("a token that cannot be had is told, and nothing is sent", async () => {
		let requests = 0;
		const token = (): Promise<string> => Promise.reject(new Error("no such file"));
		const client = await clientTo(() => requests++, { token });
		await expect(client.get(PODS, KEY)).rejects.toMatchObject({ kind: "unreachable" });
		expect(requests).toBe(0);
	});
});

describe("rights", () => {
	test("what the server forbids is told", async () => {
		const told: string[] = [];
		const status = { kind: "Status", status: "Failure", reason: "Forbidden", code: 403, message: "pods is forbidden" };
		const client = await clientTo(answering(403, JSON.stringify(status)), {
			refused: (error) => told.push(error.message),
		});
		await expect(client.get(PODS, KEY)).rejects.toMatchObject({ reason: "Forbidden" });
		expect(told).toEqual(["pods is forbidden"]);
	});

	test("without the right to write, reads go out and writes do not", async () => {
		const methods: (string | undefined)[] = [];
		let mayWrite = true;
		const served = (request: IncomingMessage, response: ServerResponse): void => {
			methods.push(request.method);
			response.end(JSON.stringify(POD));
		};
		const client = await clientTo(served, { mayWrite: () => mayWrite });
		await client.delete(PODS, KEY);
		mayWrite = false;
		await expect(client.delete(PODS, KEY)).rejects.toMatchObject({ kind: "broken" });
		await client.get(PODS, KEY);
		expect(methods).toEqual(["DELETE", "GET"]);
	});

	test("a write whose right ends before it has a connection is not sent", async () => {
		let requests = 0;
		let mayWrite = true;
		const client = await clientTo(() => requests++, { mayWrite: () => mayWrite });
		const asked = client.delete(PODS, KEY);
		mayWrite = false;
		await expect(asked).rejects.toMatchObject({ kind: "broken" });
		expect(requests).toBe(0);
	});
});

describe("a watch", () => {
	const read = async (handler: Handler, limits: Partial<HttpClientLimits> = {}): Promise<WatchReader<Pod>> => {
		const client = await clientTo(handler, { limits });
		return new WatchReader(client.watch(PODS, { resourceVersion: "1", signal: new AbortController().signal }));
	};

	test("reads events that are cut anywhere", async () => {
		const named = { ...POD, metadata: { ...POD.metadata, labels: { a: "日本" } } };
		const bytes = Buffer.from(eventLine("ADDED") + eventLine("MODIFIED", named) + eventLine("DELETED"));
		const watch = await read(async (_, response) => {
			for (let at = 0; at < bytes.length; at += 7) {
				await new Promise((resolve) => response.write(bytes.subarray(at, at + 7), resolve));
			}
			response.end();
		});
		expect(await watch.ended).toBeUndefined();
		expect(watch.events.map(({ type, object }) => [type, object])).toEqual([
			["ADDED", POD],
			["MODIFIED", named],
			["DELETED", POD],
		]);
	});

	const Gone = { kind: "Status", apiVersion: "v1", metadata: {}, reason: "Expired", message: "too old", code: 410 };

	test.each([
		[
			"an ERROR event",
			eventLine("ADDED") + eventLine("ERROR", Gone),
			1,
			{ name: "ApiError", reason: "Expired", code: 410 },
		],
		["a type that does not exist", eventLine("ADDED") + eventLine("WHAT"), 1, { kind: "malformed" }],
		["an object without metadata", eventLine("ADDED", { kind: "Pod" }), 0, { kind: "malformed" }],
		["a bookmark without a version", eventLine("BOOKMARK", { metadata: {} }), 0, { kind: "malformed" }],
		["what is no JSON", "hello\n", 0, { kind: "malformed" }],
		["a list", "[]\n", 0, { kind: "malformed" }],
		[
			"a line that is too long",
			eventLine("ADDED", { metadata: { name: "x".repeat(2_000) } }),
			0,
			{ kind: "malformed" },
		],
		["half an event at its end", `${eventLine("ADDED")}{"type":`, 1, { kind: "broken" }],
	])("that brings %s hands out what came before, and rejects", async (_, body, count, expected) => {
		const watch = await read(answering(200, body), { eventBytesMax: 1_000 });
		expect(await watch.ended).toMatchObject(expected);
		expect(watch.events).toHaveLength(count);
	});

	test("that is refused rejects with the refusal", async () => {
		const watch = await read(answering(410, JSON.stringify(Gone)));
		expect(await watch.ended).toMatchObject({ name: "ApiError", reason: "Expired" });
	});

	test("that breaks off is told as broken", async () => {
		const watch = await read((request, response) => {
			response.writeHead(200);
			response.write(eventLine("ADDED"), () => request.socket.destroy());
		});
		expect(await watch.ended).toMatchObject({ name: "TransportError", kind: "broken" });
		expect(watch.events).toHaveLength(1);
	});

	test("that is silent for too long, without a bookmark, is told as broken", async () => {
		const watch = await read((_, response) => response.writeHead(200).write(eventLine("ADDED")), {
			watchSilenceMs: 50,
		});
		expect(await watch.ended).toMatchObject({ kind: "broken", message: "The watch brought nothing for 50 ms" });
	});

	test("that bookmarks keep awake lives on", async () => {
		const bookmark = eventLine("BOOKMARK", { kind: "Pod", metadata: { resourceVersion: "8" } });
		const watch = await read(
			(_, response) => {
				response.writeHead(200);
				let left = 8;
				const timer = setInterval(() => {
					left--;
					if (left > 0) response.write(bookmark);
					else {
						clearInterval(timer);
						response.end(eventLine("DELETED"));
					}
				}, 50);
			},
			{ watchSilenceMs: 300 },
		);
		expect(await watch.told(1)).toEqual(["DELETED p@7"]);
		expect(await watch.ended).toBeUndefined();
	});

	test("that its reader leaves is closed at the server", async () => {
		let isClosed: () => void = () => undefined;
		const closed = new Promise<void>((resolve) => (isClosed = resolve));
		const client = await clientTo((request, response) => {
			request.socket.once("close", isClosed);
			response.writeHead(200).write(eventLine("ADDED"));
		});
		const { signal } = new AbortController();
		for await (const batch of client.watch(PODS, { resourceVersion: "1", signal })) {
			expect(batch).toHaveLength(1);
			break;
		}
		await closed;
	});
});
