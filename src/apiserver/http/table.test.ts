import { beforeEach, describe, expect, test } from "vitest";
import { type AnswerJson, TestServer } from "../../testing/test-server.ts";

const SERVICES = "/api/v1/namespaces/default/services";
const TABLE = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" };
const PARTIAL = { accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json" };

let server: TestServer;
let web: AnswerJson;
beforeEach(async () => {
	server = await TestServer.start();
	const body = { metadata: { name: "web", labels: { app: "web" } }, spec: { ports: [{ port: 80 }] } };
	web = (await server.request("POST", SERVICES, { body })).json;
});

interface Row {
	readonly cells: readonly unknown[];
	readonly object: AnswerJson | null;
}

const rowsOf = (json: AnswerJson): readonly Row[] => json["rows"] as readonly Row[];

describe("Table", () => {
	test("of one object has its version, all columns and one row", async () => {
		await server.clock.advance(65_000);
		const { json } = await server.request("GET", `${SERVICES}/web`, { headers: TABLE });
		expect(json).toMatchObject({
			kind: "Table",
			apiVersion: "meta.k8s.io/v1",
			metadata: { resourceVersion: web.metadata.resourceVersion },
		});
		expect((json["columnDefinitions"] as readonly object[])[0]).toEqual({
			name: "Name",
			type: "string",
			format: "name",
			description: expect.any(String),
			priority: 0,
		});
		const columns = (json["columnDefinitions"] as readonly { name: string; priority: number }[]).map(
			({ name, priority }) => `${name} ${priority}`,
		);
		expect(columns).toEqual(["Name 0", "Type 0", "Cluster-IP 0", "External-IP 0", "Port(s) 0", "Age 0", "Selector 1"]);
		const spec = web.spec ?? {};
		expect(rowsOf(json)[0]?.cells).toEqual([
			"web",
			"ClusterIP",
			spec["clusterIP"],
			"<none>",
			"80/TCP",
			"65s",
			"<none>",
		]);
	});

	test.each([
		["", "PartialObjectMetadata"],
		["?includeObject=Metadata", "PartialObjectMetadata"],
		["?includeObject=Object", "Service"],
		["?includeObject=None", undefined],
	])("carries in its rows what %j asks for: %s", async (query, kind) => {
		const { json } = await server.request("GET", `${SERVICES}/web${query}`, { headers: TABLE });
		const object = rowsOf(json)[0]?.object;
		expect(object?.kind).toBe(kind);
		if (kind !== undefined) expect(object?.metadata).toEqual(web.metadata);
		else expect(object).toBeNull();
	});

	test("refuses another includeObject, where a table is asked for", async () => {
		const path = `${SERVICES}/web?includeObject=All`;
		const refused = await server.request("GET", path, { headers: TABLE });
		expect([refused.status, refused.json.message]).toEqual([
			400,
			expect.stringMatching(/^Unable to convert to Table as requested: /),
		]);
		expect((await server.request("GET", path)).status).toBe(200);
	});

	test("of a list has the list's version and its continue token", async () => {
		await server.request("POST", SERVICES, { body: { metadata: { name: "b" }, spec: { ports: [{ port: 80 }] } } });
		const { json } = await server.request("GET", `${SERVICES}?limit=1`, { headers: TABLE });
		expect(json.metadata).toEqual({
			resourceVersion: String(server.store.revision),
			continue: expect.any(String),
			remainingItemCount: 1,
		});
		expect(rowsOf(json).map(({ cells }) => cells[0])).toEqual(["b"]);
	});

	test("of nothing has columns and no rows", async () => {
		const { json } = await server.request("GET", "/api/v1/namespaces/default/pods", { headers: TABLE });
		expect(rowsOf(json)).toEqual([]);
		expect(json["columnDefinitions"]).not.toHaveLength(0);
	});

	test.each([
		["POST", SERVICES, { metadata: { name: "b" }, spec: { ports: [{ port: 80 }] } }, 201],
		["PUT", `${SERVICES}/web`, { metadata: { name: "web" }, spec: { ports: [{ port: 81 }] } }, 200],
		["PATCH", `${SERVICES}/web`, { metadata: { labels: { a: "b" } } }, 200],
		["DELETE", `${SERVICES}/web`, undefined, 200],
		["DELETE", SERVICES, undefined, 200],
	])("is what %s %s answers when asked", async (method, path, body, status) => {
		const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
		const answer = await server.request(method, path, { body, contentType, headers: TABLE });
		expect([answer.status, answer.json.kind, rowsOf(answer.json).length]).toEqual([status, "Table", 1]);
	});

	test("of a delete that is answered with a Status is the Status", async () => {
		const path = "/api/v1/namespaces/default/endpoints";
		await server.request("POST", path, { body: { metadata: { name: "e" } } });
		const { json } = await server.request("DELETE", `${path}/e`, { headers: TABLE });
		expect([json.kind, json.status]).toEqual(["Status", "Success"]);
	});

	test("of the scale has the size", async () => {
		const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "i" }] } };
		const spec = { replicas: 2, selector: { matchLabels: { app: "web" } }, template };
		const path = "/apis/apps/v1/namespaces/default/deployments";
		await server.request("POST", path, { body: { metadata: { name: "web" }, spec } });
		const { json } = await server.request("GET", `${path}/web/scale`, { headers: TABLE });
		expect(rowsOf(json)[0]?.cells.slice(0, 3)).toEqual(["web", 2, 0]);
	});

	test("of a watch is one row in each event, with columns", async () => {
		const watch = await server.watch(`${SERVICES}?watch=true&resourceVersion=0`, { headers: TABLE });
		await server.request("DELETE", `${SERVICES}/web`);
		await watch.told();
		const tables = watch.events.map(({ type, object }) => `${type} ${object.kind} ${Array.isArray(object["rows"])}`);
		expect(tables).toEqual(["ADDED Table true", "DELETED Table true"]);
		expect(watch.events[0]?.object["columnDefinitions"]).not.toBeNull();
		expect(watch.events[1]?.object.metadata.resourceVersion).toBe(String(server.store.revision));
		watch.close();
	});
});

describe("PartialObjectMetadata", () => {
	test("has the metadata and nothing else, also in a watch with its bookmarks", async () => {
		const one = await server.request("GET", `${SERVICES}/web`, { headers: PARTIAL });
		const expected = { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: web.metadata };
		expect(one.json).toEqual(expected);
		const path = `${SERVICES}?watch=true&allowWatchBookmarks=true`;
		const watch = await server.watch(path, { headers: PARTIAL });
		expect(watch.events.map(({ type, object }) => [type, object.kind])).toEqual([
			["ADDED", "PartialObjectMetadata"],
			["BOOKMARK", "PartialObjectMetadata"],
		]);
		expect(watch.events[0]?.object).toEqual(expected);
		watch.close();
	});

	test("of a list is a list of them", async () => {
		const accept = "application/json;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io";
		const { json } = await server.request("GET", SERVICES, { headers: { accept } });
		expect(json).toEqual({
			kind: "PartialObjectMetadataList",
			apiVersion: "meta.k8s.io/v1beta1",
			metadata: { resourceVersion: String(server.store.revision) },
			items: [{ kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1beta1", metadata: web.metadata }],
		});
	});
});
