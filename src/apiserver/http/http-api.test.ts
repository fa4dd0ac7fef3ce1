import { beforeEach, describe, expect, test } from "vitest";
import type { KubeObject } from "../../api/types/meta.ts";
import { memoryStore } from "../../store/store.ts";
import { TestServer } from "../../testing/test-server.ts";

const SERVICES = "/api/v1/namespaces/default/services";

let server: TestServer;
beforeEach(async () => {
	server = await TestServer.start();
});

/** The Warning headers of a create with these unknown fields. */
async function warnings(fields: readonly string[]): Promise<readonly string[]> {
	const body = {
		metadata: { name: "web" },
		spec: { ports: [{ port: 80 }] },
		...Object.fromEntries(fields.map((field) => [field, 1])),
	};
	return (await server.request("POST", `${SERVICES}?dryRun=All`, { body })).headers["warning"] as readonly string[];
}

describe("warnings", () => {
	test("are one header each, quoted and without control characters, each text once", async () => {
		expect(await warnings(['a"b\\c', "line\r\nbreak\u0007", "日本"])).toEqual([
			'299 - "unknown field \\"a\\"b\\\\c\\""',
			'299 - "unknown field \\"line break \\""',
			'299 - "unknown field \\"日本\\""',
		]);
	});

	test("go whole up to 4096 characters together, and are cut to 256 each beyond", async () => {
		const long = "x".repeat(1_000);
		expect((await warnings([`1${long}`, `2${long}`]))[0]?.length).toBeGreaterThan(1_000);
		const many = await warnings(Array.from({ length: 50 }, (_, index) => `${index}${long}`));
		expect(many).toHaveLength(16);
		expect(Math.max(...many.map(({ length }) => length))).toBeLessThan(300);
	});

	test("of a deprecated kind come with every verb, also with a refusal", async () => {
		const path = "/api/v1/namespaces/default/endpoints";
		const told: (readonly [string, string, unknown?])[] = [
			["GET", path],
			["POST", path, { metadata: { name: "e" } }],
			["GET", `${path}/e`],
			["PUT", `${path}/e`, { metadata: { name: "e" } }],
			["POST", path, { metadata: { name: "e" } }],
			["DELETE", `${path}/e`],
			["GET", `${path}/e`],
		];
		const text = '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"';
		for (const [method, target, body] of told) {
			expect((await server.request(method, target, { body })).headers["warning"]).toEqual([text]);
		}
		expect((await server.request("GET", SERVICES)).headers["warning"]).toBeUndefined();
	});
});

describe("time", () => {
	test.each([
		["?timeout=1s", 1_000],
		["?timeout=1500ms", 1_500],
		["?timeout=2h", 3_000],
	])("a request with %s is answered after %i ms at the latest", async (query, limitMs) => {
		const answer = server.request("GET", `${SERVICES}${query}&resourceVersion=99999`);
		let isAnswered = false;
		void answer.then(() => {
			isAnswered = true;
		});
		await server.clock.advance(limitMs - 1);
		expect(isAnswered).toBe(false);
		await server.clock.advance(1);
		const { status, json } = await answer;
		expect([status, json.reason]).toEqual([504, "Timeout"]);
		if (limitMs < 3_000) expect(json.message).toBe("Timeout: request did not complete within the allotted timeout");
	});

	test("a watch is not cut by the limit of requests", async () => {
		const open = await server.watch(`${SERVICES}?watch=1&timeout=1s`);
		await server.clock.advance(120_000);
		expect(open.isEnded).toBe(false);
		open.close();
	});

	test("no timer is left behind, whatever the answer was", async () => {
		await server.request("GET", SERVICES);
		await server.request("GET", `${SERVICES}/gone`);
		await server.request("GET", SERVICES, { token: "nobody" });
		const open = await server.watch(`${SERVICES}?watch=1`);
		expect(server.clock.sleepers).toBe(1);
		open.close();
		expect(server.clock.sleepers).toBe(0);
	});

	test("a reader that has gone is not waited for", async () => {
		const gone = new AbortController();
		const answer = server.request("GET", `${SERVICES}?resourceVersion=99999`, { signal: gone.signal });
		gone.abort();
		expect((await answer).status).toBe(504);
	});
});

describe("a fault of the server", () => {
	test("is InternalError, and says nothing of its inside", async () => {
		const store = memoryStore(100);
		server = await TestServer.start({ store });
		store.commit = () => Promise.reject(new Error("disk /secret/path is full"));
		const body = { metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } };
		const { json } = await server.request("POST", SERVICES, { body });
		expect(json).toEqual({
			kind: "Status",
			apiVersion: "v1",
			metadata: {},
			status: "Failure",
			message: "Internal error occurred: the request could not be handled",
			reason: "InternalError",
			details: { causes: [{ message: "the request could not be handled" }] },
			code: 500,
		});
	});
});

describe("metrics", () => {
	test("count requests by method and code", async () => {
		await server.request("GET", SERVICES);
		await server.request("GET", SERVICES, { token: "nobody" });
		expect(server.metrics.values.get("apiserver_request_total{verb=GET,code=200}")).toBe(1);
		expect(server.metrics.values.get("apiserver_request_total{verb=GET,code=403}")).toBe(1);
		expect((await server.request("GET", "/metrics")).text).toBe("# no metrics\n");
	});
});

describe("a list of more than 1,000 objects", () => {
	test("is made in pieces, and reads as any other", async () => {
		const path = "/api/v1/namespaces/default/configmaps";
		for (let index = 0; index < 2_001; index++) {
			await server.request("POST", path, { body: { metadata: { name: `c-${String(index).padStart(4, "0")}` } } });
		}
		const pages = await Promise.all(["?limit=1000", ""].map((query) => server.request("GET", path + query)));
		const [short, long] = pages.map(({ json }) => json as unknown as { kind: string; items: readonly KubeObject[] });
		expect(long?.kind).toBe("ConfigMapList");
		expect(long?.items.map(({ metadata }) => metadata.name)).toEqual(
			Array.from({ length: 2_001 }, (_, index) => `c-${String(index).padStart(4, "0")}`),
		);
		expect(long?.items.slice(0, 1_000)).toEqual(short?.items);
	});
});
