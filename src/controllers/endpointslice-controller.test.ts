import { describe, expect, test } from "vitest";
import { ENDPOINT_SLICES, NODES, PODS, SERVICES } from "../api/resource-names.ts";
import { ApiError } from "../api/status.ts";
import type { Pod } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import { SERVICE_NAME_LABEL } from "../api/well-known.ts";
import { node, type pod, service } from "../testing/builders.ts";
import { ControllerHarness } from "../testing/controller-harness.ts";
import { numberedPod, podRange, sliceOf } from "../testing/slice-worlds.ts";
import { EndpointSliceController } from "./endpointslice-controller.ts";

const web = service("web");

async function running(
	world: { readonly pods?: readonly Pod[]; readonly slices?: readonly EndpointSlice[] } = {},
	options: ConstructorParameters<typeof EndpointSliceController>[1] = {},
): Promise<ControllerHarness> {
	const harness = new ControllerHarness();
	harness.client.serve(SERVICES, [web]);
	harness.client.serve(NODES, [node("n1", "za")]);
	harness.client.serve(PODS, world.pods ?? []);
	harness.client.serve(ENDPOINT_SLICES, world.slices ?? []);
	await harness.start(new EndpointSliceController(harness, options));
	return harness;
}

const next = (old: Pod, traits: Parameters<typeof pod>[1], n = 0): Pod =>
	numberedPod(n, { ...traits, metadata: { resourceVersion: `${Number(old.metadata.resourceVersion) + 1}` } });

/** The slice as it comes back by the watch after a write of this controller. */
function written(harness: ControllerHarness, at: number, generation: number): EndpointSlice {
	const write = harness.client.writes[at];
	if (write === undefined || !("object" in write)) throw new Error(`write ${at} is not there`);
	const object = write.object as EndpointSlice;
	return { ...object, metadata: { ...object.metadata, resourceVersion: `${2000 + generation}`, generation } };
}

describe("EndpointSliceController", () => {
	test("writes nothing before every cache has its first list", async () => {
		const harness = new ControllerHarness();
		harness.client.serve(SERVICES, [web]);
		harness.client.serve(NODES, new ApiError("ServiceUnavailable", "not yet"));
		await harness.start(new EndpointSliceController(harness));
		expect(harness.client.log()).toEqual([]);
		harness.client.serve(NODES, []);
		await harness.clock.advance(2_000);
		expect(harness.client.log()).toEqual(["create endpointslices default/web-"]);
	});

	test("is silent over a world that is right, also after a restart", async () => {
		const harness = await running({ pods: podRange(0, 3), slices: [sliceOf("web-a", podRange(0, 3))] });
		await harness.clock.advance(10_000);
		expect(harness.client.log()).toEqual([]);
		await harness.stop();
	});

	test("follows a Pod that becomes ready with one write", async () => {
		const off = numberedPod(0, { isReady: false });
		const harness = await running({ pods: [off], slices: [sliceOf("web-a", [off])] });
		harness.client.send(PODS, { type: "MODIFIED", object: next(off, {}) });
		await harness.clock.advance(0);
		expect(harness.client.log()).toEqual(["update endpointslices default/web-a"]);
		expect(written(harness, 0, 2).endpoints?.[0]?.conditions.ready).toBe(true);
	});

	test("gathers changes of Pods for the batch period, counted from the first", async () => {
		const pods = podRange(0, 3, { isReady: false });
		const harness = await running({ pods, slices: [sliceOf("web-a", pods)] }, { batchPeriodMs: 1_000 });
		await harness.clock.advance(2_000);
		for (const [n, old] of pods.entries()) {
			harness.client.send(PODS, { type: "MODIFIED", object: next(old, {}, n) });
			await harness.clock.advance(400);
		}
		await harness.clock.advance(5_000);
		expect(harness.client.log()).toEqual(["update endpointslices default/web-a"]);
		expect(written(harness, 0, 2).endpoints?.map((e) => e.conditions.ready)).toEqual([true, true, true]);
	});

	test("refuses to plan over a cache that has not seen its last write", async () => {
		const off = numberedPod(0, { isReady: false });
		const harness = await running({ pods: [off], slices: [sliceOf("web-a", [off])] });
		harness.client.send(PODS, { type: "MODIFIED", object: next(off, {}) });
		await harness.clock.advance(0);
		harness.client.send(PODS, { type: "ADDED", object: numberedPod(1) });
		await harness.clock.advance(900);
		expect(harness.client.writes).toHaveLength(1);
		expect(harness.metrics.values.get("endpoint_slice_controller_syncs{result=stale}")).toBe(1);
		harness.client.send(ENDPOINT_SLICES, { type: "MODIFIED", object: written(harness, 0, 2) });
		await harness.clock.advance(100);
		expect(harness.client.writes).toHaveLength(2);
		expect(harness.events).toEqual([]);
	});

	test("restores a slice that somebody changed, a second later, and ignores its own echoes", async () => {
		const pods = podRange(0, 1);
		const slice = sliceOf("web-a", pods);
		const harness = await running({ pods, slices: [slice] });
		await harness.clock.advance(5_000);
		const emptied = { ...slice, endpoints: null, metadata: { ...slice.metadata, resourceVersion: "7", generation: 2 } };
		harness.client.send(ENDPOINT_SLICES, { type: "MODIFIED", object: emptied });
		await harness.clock.advance(999);
		expect(harness.client.log()).toEqual([]);
		await harness.clock.advance(1);
		expect(harness.client.log()).toEqual(["update endpointslices default/web-a"]);
		harness.client.send(ENDPOINT_SLICES, { type: "MODIFIED", object: written(harness, 0, 3) });
		await harness.clock.advance(60_000);
		expect(harness.client.writes).toHaveLength(1);
	});

	test("makes a slice anew that it wrote and somebody deleted, and does not miss others", async () => {
		const harness = await running({ pods: podRange(0, 1) });
		const foreign = sliceOf("web-b", []);
		const relabelled = { ...foreign, metadata: { ...foreign.metadata, labels: { [SERVICE_NAME_LABEL]: "web" } } };
		const own = written(harness, 0, 1);
		harness.client.send(ENDPOINT_SLICES, { type: "ADDED", object: own }, { type: "ADDED", object: relabelled });
		await harness.clock.advance(5_000);
		harness.client.send(ENDPOINT_SLICES, { type: "DELETED", object: relabelled });
		await harness.clock.advance(5_000);
		expect(harness.client.writes).toHaveLength(1);
		harness.client.send(ENDPOINT_SLICES, { type: "DELETED", object: own });
		await harness.clock.advance(1_000);
		expect(harness.client.log().slice(1)).toEqual(["create endpointslices default/web-"]);
	});

	test("tells the user of a failure, retries after 1 s, 2 s and so on, and gives up after 15 retries", async () => {
		const harness = new ControllerHarness();
		const times: number[] = [];
		harness.client.serve(SERVICES, [web]);
		harness.client.onWrite = () => {
			times.push(harness.clock.monotonicMs() / 1000);
			throw new ApiError("Forbidden", "quota");
		};
		await harness.start(new EndpointSliceController(harness));
		expect(harness.events).toEqual([
			"Warning FailedToUpdateEndpointSlices Error updating Endpoint Slices for Service default/web: " +
				"failed to create EndpointSlice for Service default/web: quota",
		]);
		await harness.clock.advance(20_000_000);
		const delays = times.slice(1).map((time, index) => time - (times[index] ?? 0));
		expect(delays).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000, 1000, 1000, 1000]);
	});

	test("stops writing without a word when the namespace is being deleted", async () => {
		const harness = new ControllerHarness();
		harness.client.serve(SERVICES, [web]);
		harness.client.onWrite = () => {
			const causes = [{ reason: "NamespaceTerminating" }];
			throw new ApiError("Forbidden", "going", { details: { causes } });
		};
		await harness.start(new EndpointSliceController(harness));
		await harness.clock.advance(10_000);
		expect([harness.events, harness.warnings]).toEqual([[], []]);
	});

	test("comes back for a Pod whose Node is missing, and writes the others meanwhile", async () => {
		const harness = await running({ pods: [numberedPod(0), numberedPod(1, { node: "ghost" })] });
		expect(written(harness, 0, 1).endpoints).toHaveLength(1);
		expect(harness.events[0]).toContain("skipping Pod p00001 for Service default/web: Node ghost Not Found");
		harness.client.send(ENDPOINT_SLICES, { type: "ADDED", object: written(harness, 0, 1) });
		harness.client.send(NODES, { type: "ADDED", object: node("ghost", "zb") });
		await harness.clock.advance(1_000);
		expect(written(harness, 1, 2).endpoints).toHaveLength(2);
	});

	test("counts what it does under upstream's names", async () => {
		const harness = await running({ pods: podRange(0, 3) });
		const value = (name: string): number | undefined => harness.metrics.values.get(`endpoint_slice_controller_${name}`);
		expect(value("changes{operation=create}")).toBe(1);
		expect(value("endpoints_desired")).toBe(3);
		expect(value("num_endpoint_slices")).toBe(1);
		expect(value("endpointslices_changed_per_sync{topology=Disabled,traffic_distribution=}")).toBe(1);
		harness.client.send(SERVICES, { type: "DELETED", object: web });
		await harness.clock.advance(0);
		expect(value("endpoints_desired")).toBe(0);
		expect(harness.metrics.values.get("workqueue_adds_total{name=endpoint_slice}")).toBe(2);
	});

	test.each([
		[{ maxEndpointsPerSlice: 0 }, "max-endpoints-per-slice must not be less than 1, but got 0"],
		[{ maxEndpointsPerSlice: 1001 }, "max-endpoints-per-slice must not be more than 1000, but got 1001"],
		[{ concurrentSyncs: 0 }, "concurrent-service-endpoint-syncs must not be less than 1, but got 0"],
		[{ concurrentSyncs: 51 }, "concurrent-service-endpoint-syncs must not be more than 50, but got 51"],
	])("refuses to start with %j", (options, message) => {
		expect(() => new EndpointSliceController(new ControllerHarness(), options)).toThrow(message);
	});
});
