import { describe, expect, test } from "vitest";
import { ENDPOINT_SLICES, NODES, PODS, SERVICES } from "../api/resource-names.ts";
import { ENDPOINTSLICEMIRRORING_CONTROLLER, SLICE_MANAGED_BY_LABEL } from "../api/well-known.ts";
import { node } from "../testing/builders.ts";
import { ControllerHarness } from "../testing/controller-harness.ts";
import { podRange, sliceOf, web } from "../testing/slice-worlds.ts";
import { DEFAULT_PLANE_OPTIONS } from "./plane-options.ts";
import { type ControllersOptions, madeControllers } from "./start-controllers.ts";

async function started(options: Partial<ControllersOptions>): Promise<ControllerHarness> {
	const harness = new ControllerHarness();
	const slice = sliceOf("a", podRange(0, 1));
	const labels = { ...slice.metadata.labels, [SLICE_MANAGED_BY_LABEL]: ENDPOINTSLICEMIRRORING_CONTROLLER };
	harness.client.serve(SERVICES, [web]);
	harness.client.serve(NODES, [node("n1", "za")]);
	harness.client.serve(PODS, podRange(0, 1));
	harness.client.serve(ENDPOINT_SLICES, [{ ...slice, metadata: { ...slice.metadata, labels } }]);
	const [controller] = madeControllers(harness, { ...DEFAULT_PLANE_OPTIONS, ...options });
	if (controller === undefined) throw new Error("no controller");
	await harness.start(controller);
	return harness;
}

describe("options reach their controller:", () => {
	test.each<[string, string, Partial<ControllersOptions>]>([
		["endpointslice-controller", "endpoint_slice", { endpointSliceUpdatesBatchPeriodMs: 5_000 }],
		["endpoints-controller", "endpoint", { endpointUpdatesBatchPeriodMs: 5_000 }],
		[
			"endpointslice-mirroring-controller",
			"endpoint_slice_mirroring",
			{ mirroringEndpointSliceUpdatesBatchPeriodMs: 5_000 },
		],
	])("the batch period of %s", async (name, queue, options) => {
		const harness = await started({ controllers: [name], ...options });
		const adds = (): number => harness.metrics.values.get(`workqueue_adds_total{name=${queue}}`) ?? 0;
		const atStart = adds();
		await harness.clock.advance(4_999);
		expect(adds()).toBe(atStart);
		await harness.clock.advance(1);
		expect(adds()).toBe(atStart + 1);
	});

	test.each<[string, Partial<ControllersOptions>, string]>([
		["endpointslice-controller", { concurrentServiceEndpointSyncs: 51 }, "concurrent-service-endpoint-syncs must not"],
		[
			"endpointslice-mirroring-controller",
			{ mirroringConcurrentServiceEndpointSyncs: 51 },
			"mirroring-concurrent-service-endpoint-syncs must not",
		],
	])("the number of workers of %s, which checks it", async (name, options, text) => {
		await expect(started({ controllers: [name], ...options })).rejects.toThrow(text);
	});

	test("the number of workers of the Endpoints controller", async () => {
		const harness = await started({ controllers: ["endpoints-controller"], concurrentEndpointSyncs: 0 });
		await harness.clock.advance(1_000);
		expect(harness.client.log()).toEqual([]);
	});
});
