import { describe, expect, test } from "vitest";
import { PODS } from "../api/resource-names.ts";
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
});
