/** The controller, tested with vitest. */
import {
	type ClientCall,
	CONFIG_MAPS,
	ENDPOINT_SLICES,
	FaultyClient,
	startTestPlane,
	TransportError,
} from "sliceplane/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { configMap, slicesOf, startController } from "./worlds.mjs";

const KEY = { namespace: "default", name: "billing" };

type Fault = (call: ClientCall) => Promise<void>;

/** A plane without nodes, and the controller on it; faults are called before and after a write, and may reject. */
async function started({ before, after }: { readonly before?: Fault; readonly after?: Fault } = {}) {
	const plane = await startTestPlane({ nodes: 0 });
	const writes: string[] = [];
	const client = new FaultyClient(plane.client, {
		async call(about, send) {
			if (["get", "list", "watch"].includes(about.verb)) return send();
			await before?.(about);
			const answer = await send();
			writes.push(about.verb);
			await after?.(about);
			return answer;
		},
	});
	const controller = await startController(plane, client);
	onTestFinished(async () => {
		await controller.stop();
		await plane.stop();
	});
	return { plane, controller, writes };
}

describe("addresses from outside", () => {
	test("appear as a slice, change with the ConfigMap, and go with it", async () => {
		const { plane } = await started();
		await plane.client.create(CONFIG_MAPS, "default", configMap({ addresses: "192.0.2.1\n192.0.2.2", port: "443" }));
		await plane.settle();
		expect(await slicesOf(plane)).toEqual(["billing 192.0.2.1 192.0.2.2 :443"]);

		await plane.client.patch(CONFIG_MAPS, KEY, { type: "merge", body: { data: { addresses: "192.0.2.3" } } });
		await plane.settle();
		expect(await slicesOf(plane)).toEqual(["billing 192.0.2.3 :443"]);

		await plane.client.delete(CONFIG_MAPS, KEY);
		await plane.advance(1_000);
		expect(await slicesOf(plane)).toEqual([]);
	});

	test("come back when somebody deletes the slice", async () => {
		const { plane } = await started();
		await plane.client.create(CONFIG_MAPS, "default", configMap({ addresses: "192.0.2.1", port: "443" }));
		await plane.settle();
		await plane.client.delete(ENDPOINT_SLICES, KEY);
		await plane.settle();
		expect(await slicesOf(plane)).toEqual(["billing 192.0.2.1 :443"]);
	});
});

describe("what goes wrong", () => {
	test("a lost reply to the create leaves one slice, and no end of retries", async () => {
		const { plane, writes } = await started({
			after: async ({ verb }) => {
				if (verb === "create") throw new TransportError("broken", "the reply was lost");
			},
		});
		await plane.client.create(CONFIG_MAPS, "default", configMap({ addresses: "192.0.2.1", port: "443" }));
		await plane.advance(60_000);
		expect(await slicesOf(plane)).toEqual(["billing 192.0.2.1 :443"]);
		expect(writes).toEqual(["create"]);
	});

	test("a conflict is tried again, and what the other wrote is kept", async () => {
		let others = 0;
		const { plane, writes } = await started({
			before: async ({ verb }) => {
				if (verb !== "update" || others++ > 0) return;
				const annotations = { "example.com/seen": "yes" };
				await plane.client.patch(ENDPOINT_SLICES, KEY, { type: "merge", body: { metadata: { annotations } } });
			},
		});
		await plane.client.create(CONFIG_MAPS, "default", configMap({ addresses: "192.0.2.1", port: "443" }));
		await plane.settle();
		await plane.client.patch(CONFIG_MAPS, KEY, { type: "merge", body: { data: { addresses: "192.0.2.2" } } });
		await plane.advance(60_000);
		expect(await slicesOf(plane)).toEqual(["billing 192.0.2.2 :443"]);
		const { metadata } = await plane.client.get(ENDPOINT_SLICES, KEY);
		expect(metadata.annotations).toEqual({ "example.com/seen": "yes" });
		expect([others, writes]).toEqual([2, ["create", "update"]]);
	});

	test("a restart writes nothing", async () => {
		const { plane, controller, writes } = await started();
		await plane.client.create(CONFIG_MAPS, "default", configMap({ addresses: "192.0.2.1", port: "443" }));
		await plane.settle();
		await controller.restart();
		await plane.advance(60_000);
		expect(writes).toEqual(["create"]);
	});
});
