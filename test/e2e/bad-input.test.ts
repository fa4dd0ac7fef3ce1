/** What strangers send changes nothing, gets the Status that a real server gives, and harms nobody. */
import { connect } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RunningPlane } from "./plane.ts";
import { credentialsOf, type RawRequest, send } from "./raw-requests.ts";

const SERVICES = "/api/v1/namespaces/default/services";
const JSON_TYPE = "application/json";
const YAML_TYPE = "application/yaml";

function service(name: string, spec: object, metadata: object = {}): string {
	return JSON.stringify({ metadata: { name, ...metadata }, spec });
}

const PORTS = { ports: [{ port: 80 }] };
const MEBIBYTE = 1024 * 1024;

const ROWS: readonly (RawRequest & { what: string; code: number; reason: string; says: string })[] = [
	{
		what: "a wrong type",
		path: SERVICES,
		body: service("web", { ports: [{ port: "eighty" }] }),
		code: 400,
		reason: "BadRequest",
		says: "json: cannot unmarshal string into Go struct field ServicePort.spec.ports.port of type int32",
	},
	{
		what: "a bad name",
		path: SERVICES,
		body: service("Web_1", PORTS),
		code: 422,
		reason: "Invalid",
		says: "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'",
	},
	{
		what: "a port out of range",
		path: SERVICES,
		body: service("web", { ports: [{ port: 70_000, targetPort: 80 }] }),
		code: 422,
		reason: "Invalid",
		says: 'Service "web" is invalid: spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive',
	},
	{
		what: "a node port out of range",
		path: SERVICES,
		body: service("web", { type: "NodePort", ports: [{ port: 80, nodePort: 80 }] }),
		code: 422,
		reason: "Invalid",
		says: "provided port is not in the valid range. The range of valid ports is 30000-32767",
	},
	{
		what: "a stale resourceVersion",
		method: "PUT",
		path: `${SERVICES}/kept`,
		body: service("kept", PORTS, { resourceVersion: "1" }),
		code: 409,
		reason: "Conflict",
		says: "the object has been modified; please apply your changes to the latest version and try again",
	},
	{
		what: "a body of 4 MiB",
		path: SERVICES,
		body: Buffer.alloc(4 * MEBIBYTE, " "),
		code: 413,
		reason: "RequestEntityTooLarge",
		says: "Request entity too large: limit is 3145728",
	},
	{
		what: "broken JSON",
		path: SERVICES,
		body: '{"metadata":{"name":"web"',
		code: 400,
		reason: "BadRequest",
		says: "the object provided is unrecognized (must be of type Service)",
	},
	{
		what: "broken YAML",
		path: SERVICES,
		contentType: YAML_TYPE,
		body: "metadata: {name: web\nspec: ]",
		code: 400,
		reason: "BadRequest",
		says: "line",
	},
	{
		what: "__proto__ as a field",
		path: `${SERVICES}?fieldValidation=Strict`,
		body: '{"metadata":{"name":"web"},"spec":{"ports":[{"port":80}],"__proto__":{"type":"NodePort"}}}',
		code: 400,
		reason: "BadRequest",
		says: 'unknown field \\"spec.__proto__\\"',
	},
	{
		what: "nesting without end",
		path: SERVICES,
		body: `{"metadata":{"managedFields":[{"fieldsV1":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}]}}`,
		code: 400,
		reason: "BadRequest",
		says: "depth",
	},
	{
		what: "a form that is not read",
		path: SERVICES,
		contentType: "text/html",
		body: "<p>",
		code: 415,
		reason: "UnsupportedMediaType",
		says: "the body of the request was in an unknown format",
	},
	{
		what: "a path out of the tree",
		method: "GET",
		path: `${SERVICES}/%2e%2e`,
		code: 400,
		reason: "BadRequest",
		says: "invalid path",
	},
];

describe("bad input", () => {
	let plane: RunningPlane;
	beforeAll(async () => {
		plane = await RunningPlane.start(["--nodes", "0"]);
		const kept = { method: "POST", path: SERVICES, body: service("kept", PORTS), contentType: JSON_TYPE };
		expect(await send(plane, kept)).toMatchObject({ status: 201 });
	});
	afterAll(() => plane.stop());

	test.each(ROWS)("$what gets $code $reason, and nothing changes", async (row) => {
		const before = await send(plane, { path: "/api/v1/services" });
		const { method = "POST", contentType = JSON_TYPE, path, body } = row;
		const answer = await send(plane, { method, path, contentType, ...(body === undefined ? {} : { body }) });
		expect(answer).toMatchObject({ status: row.code, body: { kind: "Status", reason: row.reason, code: row.code } });
		expect(JSON.stringify(answer.body.message)).toContain(
			row.says.startsWith("unknown") ? row.says : JSON.stringify(row.says).slice(1, -1),
		);
		expect(await send(plane, { path: "/api/v1/services" })).toEqual(before);
	});

	test("a label called __proto__ is a label", async () => {
		const body = '{"metadata":{"name":"odd","labels":{"constructor":"a"}},"spec":{"ports":[{"port":80}]}}';
		const made = await send(plane, { method: "POST", path: SERVICES, body, contentType: JSON_TYPE });
		expect(made).toMatchObject({ status: 201, body: { metadata: { labels: { constructor: "a" } } } });
		const found = await send(plane, { path: "/api/v1/services?labelSelector=constructor%3Da" });
		expect(found.body["items"]).toHaveLength(1);
		expect((await send(plane, { path: "/api/v1/services?labelSelector=toString" })).body["items"]).toHaveLength(0);
	});

	test("half a request and silence is cut, and others are served meanwhile", async () => {
		const { ca } = credentialsOf(plane);
		const { hostname: host, port } = new URL(plane.url);
		const socket = connect({ host, port: Number(port), ca });
		socket.write(`POST ${SERVICES} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n`);
		const cut = new Promise<string>((resolve) => {
			let text = "";
			socket.on("data", (chunk) => {
				text += String(chunk);
			});
			socket.on("error", () => undefined);
			socket.on("close", () => resolve(text));
		});
		expect(await send(plane, { path: "/healthz" })).toMatchObject({ status: 200 });
		// The limit for headers is 10 s; the server looks once a second.
		expect(await cut).toMatch(/^(HTTP\/1\.1 408 Request Timeout|$)/);
		expect(await send(plane, { path: "/healthz" })).toMatchObject({ status: 200 });
	});

	test("without a credential only health and version answer", async () => {
		const { ca } = credentialsOf(plane);
		const status = async (path: string, headers: Record<string, string> = {}): Promise<number> => {
			const { request } = await import("node:https");
			return new Promise((resolve, reject) => {
				const sent = request(`${plane.url}${path}`, { ca, headers, agent: false }, (response) => {
					response.resume();
					resolve(response.statusCode ?? 0);
				});
				sent.on("error", reject);
				sent.end();
			});
		};
		expect(await Promise.all(["/version", "/healthz", "/livez", "/readyz"].map((path) => status(path)))).toEqual([
			200, 200, 200, 200,
		]);
		expect(await Promise.all(["/api", "/api/v1/pods", "/metrics", "/openapi/v3"].map((path) => status(path)))).toEqual([
			403, 403, 403, 403,
		]);
		expect(await status("/version", { authorization: "Bearer guessed" })).toBe(401);
	});

	test("SIGTERM under load ends with 0 within 5 s", async () => {
		const loaded = await RunningPlane.start(["--nodes", "0"]);
		let isOver = false;
		const worker = async (index: number): Promise<void> => {
			for (let i = 0; !isOver; i++) {
				const body = service(`w${index}-${i}`, PORTS);
				await send(loaded, { method: "POST", path: SERVICES, body, contentType: JSON_TYPE }).catch(() => {
					isOver = true;
				});
			}
		};
		const load = Promise.all(Array.from({ length: 16 }, (_, index) => worker(index)));
		await send(loaded, { path: "/healthz" });
		const startedMs = performance.now();
		expect(await loaded.stop()).toBe(0);
		expect(performance.now() - startedMs).toBeLessThan(5_000);
		isOver = true;
		await load;
	});
});
