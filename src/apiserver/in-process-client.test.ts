import { describe, expect, test } from "vitest";
import { NAMESPACES, PODS } from "../api/resource-names.ts";
import { ADMIN } from "../testing/test-api.ts";
import { TestServer } from "../testing/test-server.ts";
import { transportSuite } from "../testing/transport-suite.ts";
import { InProcessClient } from "./in-process-client.ts";

describe("InProcessClient", () => {
	transportSuite(async () => {
		const server = await TestServer.start();
		return { client: server.client, server, close: () => Promise.resolve() };
	});

	test("asks for the same rights as HTTP", async () => {
		const { server } = await TestServer.start();
		const client = new InProcessClient(server, { name: "eve", groups: [] });
		await expect(client.list(PODS, { namespace: "x" })).rejects.toMatchObject({
			reason: "Forbidden",
			message: 'pods is forbidden: User "eve" cannot list resource "pods" in API group "" in the namespace "x"',
		});
	});

	test("reads, and writes nothing, while it may not write", async () => {
		const { server } = await TestServer.start();
		let isLeading = true;
		const client = new InProcessClient(server, ADMIN, "test", () => isLeading);
		await client.create(NAMESPACES, "", { metadata: { name: "a" } });
		isLeading = false;
		await expect(client.create(NAMESPACES, "", { metadata: { name: "b" } })).rejects.toMatchObject({ code: 503 });
		await expect(client.delete(NAMESPACES, { namespace: "", name: "a" })).rejects.toMatchObject({ code: 503 });
		const { items } = await client.list(NAMESPACES, {});
		const names = items.map(({ metadata }) => metadata.name);
		expect(names.filter((name) => name.length === 1)).toEqual(["a"]);
	});
});
