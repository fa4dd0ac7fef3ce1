/** Which requests wait until the server knows what other servers have acknowledged. */
import { describe, expect, test } from "vitest";
import { CONFIG_MAPS, PODS } from "../api/resource-names.ts";
import { tooLargeResourceVersion } from "../api/status.ts";
import type { KubeObject } from "../api/types/meta.ts";
import { metadataOf } from "../testing/api-objects.ts";
import { SharedLog } from "../testing/shared-log.ts";
import { TestServer } from "../testing/test-server.ts";

const PATH = "/api/v1/namespaces/default/configmaps";
const SPACE = "/registry/configmaps/";

function configMap(name: string): KubeObject {
	return { apiVersion: "v1", kind: "ConfigMap", metadata: metadataOf(name) };
}

async function started(): Promise<{ readonly log: SharedLog; readonly server: TestServer }> {
	const log = new SharedLog(100);
	const server = await TestServer.start({ store: log.store });
	log.reaches = 0;
	return { log, server };
}

describe("a server that is not alone", () => {
	test.each([
		["GET", `${PATH}/new`, 200],
		["GET", PATH, 200],
		["GET", `${PATH}?resourceVersion=`, 200],
		["DELETE", `${PATH}/new`, 200],
		["PUT", `${PATH}/new`, 200],
		["POST", PATH, 409],
		["DELETE", `${PATH}?resourceVersion=0`, 200],
	])("%s %s knows what another one has acknowledged", async (method, path, status) => {
		const { log, server } = await started();
		log.foreign({ kind: "put", space: SPACE, key: "default/new", object: configMap("new") });
		const body = method === "PUT" || method === "POST" ? { body: { metadata: { name: "new" } } } : {};
		const answer = await server.request(method, path, body);
		expect([answer.status, log.reaches]).toEqual([status, 1]);
		if (answer.json.kind === "ConfigMapList") expect(answer.json.items).toHaveLength(1);
	});

	test.each([
		`${PATH}?resourceVersion=0`,
		`${PATH}?resourceVersion=5&resourceVersionMatch=NotOlderThan`,
		`${PATH}/a?resourceVersion=0`,
	])("GET %s is content with less", async (path) => {
		const { log, server } = await started();
		await server.request("GET", path);
		expect(log.reaches).toBe(0);
	});

	test("a page goes on in a revision that another server has cut", async () => {
		const { log, server } = await started();
		await server.request("GET", `${PATH}?limit=1&continue=x&resourceVersion=0`);
		expect(log.reaches).toBe(1);
	});

	test("a watch without a revision begins with the newest state, and one with a revision at once", async () => {
		const { log, server } = await started();
		log.foreign({ kind: "put", space: SPACE, key: "default/new", object: configMap("new") });
		const first = await server.watch(
			`${PATH}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
		);
		expect((await first.told())[0]).toContain("ADDED new");
		expect(log.reaches).toBe(1);
		(await server.watch(`${PATH}?watch=true&resourceVersion=101`)).close();
		expect(log.reaches).toBe(1);
		first.close();
	});

	test("what cannot be known is no answer", async () => {
		const { log, server } = await started();
		log.failure = tooLargeResourceVersion(7, 5);
		expect((await server.request("GET", PATH)).status).toBe(504);
		expect((await server.request("GET", `${PATH}?resourceVersion=0`)).status).toBe(200);
		await expect(server.client.list(CONFIG_MAPS, {})).rejects.toMatchObject({ code: 504 });
	});

	test("in process it is the same", async () => {
		const { log, server } = await started();
		const { client } = server;
		const key = { namespace: "default", name: "a" };
		const made = await client.create(CONFIG_MAPS, "default", { metadata: { name: "a" } });
		await client.get(CONFIG_MAPS, key);
		await client.list(CONFIG_MAPS, {});
		await client.update(CONFIG_MAPS, made);
		await client.patch(CONFIG_MAPS, key, { type: "merge", body: {} });
		await client.delete(CONFIG_MAPS, key);
		await client.deleteCollection(CONFIG_MAPS, "default");
		await client.post(PODS, key, "eviction", {}).catch(() => undefined);
		expect(log.reaches).toBe(8);
		await client.list(CONFIG_MAPS, { resourceVersion: "0" });
		expect(log.reaches).toBe(8);
	});

	test("watchers are told 410 when what came meanwhile cannot be had one by one", async () => {
		const { log, server } = await started();
		await server.request("POST", PATH, { body: { metadata: { name: "a" } } });
		const watch = await server.watch(`${PATH}?watch=true&resourceVersion=${log.store.revision}`);
		log.restart(500, []);
		expect(await watch.told()).toEqual(["ERROR 410 Expired"]);
		expect(watch.isEnded).toBe(true);
		expect((await server.request("GET", PATH)).json).toMatchObject({ items: [], metadata: { resourceVersion: "500" } });
	});
});
