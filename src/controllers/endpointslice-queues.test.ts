/** What wakes the sync of a Service, and when: each row is one event in a world that was at rest. */
import { afterEach, describe, expect, test } from "vitest";
import { ENDPOINT_SLICES, NODES, PODS, SERVICES } from "../api/resource-names.ts";
import type { Node, Pod } from "../api/types/core.ts";
import { node, service } from "../testing/builders.ts";
import { ControllerHarness } from "../testing/controller-harness.ts";
import { numberedPod, podRange, sliceOf } from "../testing/slice-worlds.ts";
import { EndpointSliceController } from "./endpointslice-controller.ts";

const web = service("web");
const pods = podRange(0, 2);
const slice = sliceOf("a", pods);
const [first = numberedPod(0)] = pods;
const newer = <T extends { metadata: object }>(object: T): T => ({
	...object,
	metadata: { ...object.metadata, resourceVersion: "9" },
});
const changed = (traits: Parameters<typeof numberedPod>[1]): Pod => newer(numberedPod(0, traits));
const nodes = [node("n1", "za"), node("n2", "zb")];
const moved = newer(node("n1", "zb"));
const unready: Node = { ...newer(node("n1", "za")), status: { conditions: [{ type: "Ready", status: "False" }] } };

let harness: ControllerHarness;
afterEach(() => harness.stop());

const syncs = (): number => harness.metrics.values.get("endpoint_slice_controller_syncs{result=success}") ?? 0;

/** At which ms after the event the Service was synced. */
async function syncedAt(event: (client: ControllerHarness["client"]) => void, batchPeriodMs = 0): Promise<number[]> {
	harness = new ControllerHarness();
	harness.client.serve(SERVICES, [web, service("db", { selector: { app: "db" } })]);
	harness.client.serve(PODS, pods);
	harness.client.serve(NODES, nodes);
	harness.client.serve(ENDPOINT_SLICES, [slice, sliceOf("b", [], { service: service("db") })]);
	await harness.start(new EndpointSliceController(harness, { batchPeriodMs }));
	await harness.clock.advance(60_000);
	const times: number[] = [];
	let before = syncs();
	event(harness.client);
	for (let ms = 0; ms <= 6_000; ms += 500) {
		await harness.clock.advance(ms === 0 ? 0 : 500);
		if (syncs() > before) times.push(ms);
		before = syncs();
	}
	return times;
}

describe("a Service is synced", () => {
	test.each<[string, (client: ControllerHarness["client"]) => void, number[], number?]>([
		[
			"when it is updated, at once, even if nothing has changed",
			(c) => c.send(SERVICES, { type: "MODIFIED", object: newer(web) }),
			[0],
		],
		["without the batch period", (c) => c.send(SERVICES, { type: "MODIFIED", object: newer(web) }), [0], 3_000],
		["when it is deleted, at once", (c) => c.send(SERVICES, { type: "DELETED", object: web }), [0], 3_000],
		["when a Pod of it is added", (c) => c.send(PODS, { type: "ADDED", object: newer(numberedPod(7)) }), [0]],
		["when a Pod of it is deleted", (c) => c.send(PODS, { type: "DELETED", object: first }), [0]],
		[
			"when a Pod of it changes, after the batch period",
			(c) => c.send(PODS, { type: "MODIFIED", object: changed({ isReady: false }) }),
			[3_000],
			3_000,
		],
		[
			"when a Pod of it is deleted, after the batch period",
			(c) => c.send(PODS, { type: "DELETED", object: first }),
			[3_000],
			3_000,
		],
		[
			"but not when a Pod's annotations change",
			(c) => c.send(PODS, { type: "MODIFIED", object: changed({ metadata: { annotations: { a: "b" } } }) }),
			[],
		],
		[
			"but not when a Pod that is not ready fails",
			(c) => c.send(PODS, { type: "MODIFIED", object: changed({ status: { phase: "Failed" } }) }),
			[],
		],
		[
			"but not for a Pod that nobody selects",
			(c) => c.send(PODS, { type: "ADDED", object: numberedPod(8, { labels: { app: "x" } }) }),
			[],
		],
		[
			"when a slice of it is new, after a second",
			(c) => c.send(ENDPOINT_SLICES, { type: "ADDED", object: newer(sliceOf("new", pods)) }),
			[1_000],
		],
		[
			"when a slice of it is new, after a longer batch period",
			(c) => c.send(ENDPOINT_SLICES, { type: "ADDED", object: newer(sliceOf("new", pods)) }),
			[3_000],
			3_000,
		],
		[
			"but not when a slice goes that this process never wrote",
			(c) => c.send(ENDPOINT_SLICES, { type: "DELETED", object: slice }),
			[],
		],
		["but not when a Node is added", (c) => c.send(NODES, { type: "ADDED", object: newer(node("n3", "zc")) }), []],
		["but not when a Node's zone changes", (c) => c.send(NODES, { type: "MODIFIED", object: moved }), []],
		["but not when a Node is no longer ready", (c) => c.send(NODES, { type: "MODIFIED", object: unready }), []],
		["but not when a Node is deleted", (c) => c.send(NODES, { type: "DELETED", object: node("n2", "zb") }), []],
	])("%s", async (_, event, times, batchPeriodMs) => {
		expect(await syncedAt(event, batchPeriodMs)).toEqual(times);
	});

	test("with a Node's new zone for all of its Pods, when a change of one wakes it", async () => {
		await syncedAt((client) => client.send(NODES, { type: "MODIFIED", object: moved }));
		harness.client.send(PODS, { type: "MODIFIED", object: changed({ isReady: false }) });
		await harness.clock.advance(0);
		const [write] = harness.client.writes;
		expect(write).toMatchObject({ key: "default/a", object: { endpoints: [{ zone: "zb" }, { zone: "zb" }] } });
	});
});

test("a Service with hints by CPU is synced at once when a Node goes and leaves a zone without its share", async () => {
	const sized = (name: string, zone: string): Node => {
		const made = node(name, zone);
		return { ...made, status: { ...made.status, allocatable: { cpu: "1" } } };
	};
	harness = new ControllerHarness();
	const annotations = { "service.kubernetes.io/topology-mode": "Auto" };
	harness.client.serve(SERVICES, []);
	harness.client.serve(PODS, podRange(0, 2));
	harness.client.serve(NODES, [sized("n1", "za"), sized("n2", "zb")]);
	await harness.start(new EndpointSliceController(harness));
	harness.client.send(SERVICES, { type: "ADDED", object: service("web", {}, { annotations }) });
	await harness.clock.advance(60_000);
	expect(harness.events).toEqual([expect.stringContaining("TopologyAwareHintsEnabled")]);
	harness.client.send(NODES, { type: "DELETED", object: sized("n2", "zb") });
	await harness.clock.advance(0);
	// Its own write has not come back, so that the sync that was woken waits for it.
	expect(harness.metrics.values.get("endpoint_slice_controller_syncs{result=stale}")).toBe(1);
});

test("a slice that names no Service is logged, and wakes nobody", async () => {
	const { metadata } = slice;
	const labels = { "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io" };
	const nameless = newer({ ...slice, metadata: { ...metadata, name: "x", uid: "x", labels } });
	expect(await syncedAt((client) => client.send(ENDPOINT_SLICES, { type: "ADDED", object: nameless }))).toEqual([]);
	expect(harness.warnings).toEqual(["EndpointSlice names no Service"]);
});

test("the queue is measured under upstream's name", async () => {
	await syncedAt(() => undefined);
	expect(harness.metrics.values.get("workqueue_adds_total{name=endpoint_slice}")).toBeGreaterThan(0);
});
