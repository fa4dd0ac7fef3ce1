/** The controller, tested with Node's own runner: `node --test examples/own-controller/own-controller.node-test.mjs`. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import {
	ApiError,
	CONFIG_MAPS,
	ENDPOINT_SLICES,
	FaultyClient,
	startTestPlane,
	TransportError,
} from "sliceplane/testing";
import { configMap, slicesOf, startController } from "./worlds.mjs";

/** @import { ClientCall, TestPlane } from "sliceplane/testing" */

const KEY = { namespace: "default", name: "billing" };

/** @type {TestPlane} */
let plane;
/** @type {Awaited<ReturnType<typeof startController>>} */
let controller;
/** Verbs of the controller's writes that landed. @type {string[]} */
let writes;
/** Called before a write is sent, and after it has landed; may reject. @type {(about: ClientCall, when: "before" | "after") => Promise<void>} */
let fault;

beforeEach(async () => {
	writes = [];
	fault = () => Promise.resolve();
	plane = await startTestPlane({ nodes: 0 });
	const client = new FaultyClient(plane.client, {
		async call(about, send) {
			if (["get", "list", "watch"].includes(about.verb)) return send();
			await fault(about, "before");
			const answer = await send();
			writes.push(about.verb);
			await fault(about, "after");
			return answer;
		},
	});
	controller = await startController(plane, client);
	await plane.client.create(CONFIG_MAPS, "default", configMap({ addresses: "192.0.2.1", port: "443" }));
	await plane.settle();
});

afterEach(async () => {
	await controller.stop();
	await plane.stop();
});

/** @param {string} addresses */
async function change(addresses) {
	await plane.client.patch(CONFIG_MAPS, KEY, { type: "merge", body: { data: { addresses } } });
	await plane.settle();
}

test("addresses appear, and change", async () => {
	assert.deepEqual(await slicesOf(plane), ["billing 192.0.2.1 :443"]);
	await change("192.0.2.7 192.0.2.8");
	assert.deepEqual(await slicesOf(plane), ["billing 192.0.2.7 192.0.2.8 :443"]);
	assert.deepEqual(writes, ["create", "update"]);
});

test("a lost reply to an update costs no second one", async () => {
	fault = async ({ verb }, when) => {
		if (verb === "update" && when === "after") throw new TransportError("broken", "the reply was lost");
	};
	await change("192.0.2.7");
	await plane.advance(60_000);
	assert.deepEqual(await slicesOf(plane), ["billing 192.0.2.7 :443"]);
	assert.deepEqual(writes, ["create", "update"]);
});

test("conflicts end when the other stops writing", async () => {
	const untilMs = plane.clock.monotonicMs() + 3_000;
	fault = async (_, when) => {
		if (when === "before" && plane.clock.monotonicMs() < untilMs) throw new ApiError("Conflict", "modified");
	};
	await change("192.0.2.7");
	assert.deepEqual(await slicesOf(plane), ["billing 192.0.2.1 :443"]);
	await plane.advance(60_000);
	assert.deepEqual(await slicesOf(plane), ["billing 192.0.2.7 :443"]);
});

test("a restart writes nothing, also when there is a slice that it does not own", async () => {
	await plane.client.create(ENDPOINT_SLICES, "default", {
		metadata: { name: "foreign", labels: { "kubernetes.io/service-name": "billing" } },
		addressType: "IPv4",
		endpoints: [],
		ports: [],
	});
	writes.length = 0;
	await controller.restart();
	await plane.advance(60_000);
	assert.deepEqual(writes, []);
});
