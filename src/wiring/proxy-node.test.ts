import { beforeEach, describe, expect, test } from "vitest";
import { NODES } from "../api/resource-names.ts";
import type { Node } from "../api/types/core.ts";
import { silentLogger } from "../testing/silent.ts";
import { startTestPlane, type TestPlane } from "../testing/test-plane.ts";
import { settle, VirtualClock } from "../testing/virtual-clock.ts";
import { ownNode } from "./proxy-node.ts";

let plane: TestPlane;
let clock: VirtualClock;
let told: Node | string | undefined;
let stopping: AbortController;

beforeEach(async () => {
	plane = await startTestPlane({ nodes: 0 });
	clock = new VirtualClock();
	told = undefined;
	stopping = new AbortController();
	void ownNode(plane.client, "n", { clock, log: silentLogger }, stopping.signal).then(
		(node) => {
			told = node;
		},
		(error: unknown) => {
			told = error instanceof Error ? error.message : "aborted";
		},
	);
	await settle();
	return () => plane.stop();
});

describe("the Node of a proxy", () => {
	test("is waited for, and so are its addresses", async () => {
		await clock.advance(2_000);
		const node = await plane.client.create(NODES, "", { metadata: { name: "n" } });
		await clock.advance(2_000);
		expect(told).toBeUndefined();
		const addresses = [{ type: "InternalIP", address: "192.168.0.1" }];
		await plane.client.update(NODES, { ...node, status: { ...node.status, addresses } }, { subresource: "status" });
		await clock.advance(2_000);
		expect(told).toMatchObject({ metadata: { name: "n" } });
	});

	test("that never has an address ends the wait with a sentence that says so", async () => {
		await plane.client.create(NODES, "", { metadata: { name: "n" } });
		for (let seconds = 0; seconds <= 302; seconds++) await clock.advance(1_000);
		expect(told).toMatch(/^no InternalIP in the status of the Node n in 5 minutes/);
	});

	test("is not waited for any more when the proxy is told to stop", async () => {
		stopping.abort();
		await settle();
		expect(told).toBeDefined();
	});
});
