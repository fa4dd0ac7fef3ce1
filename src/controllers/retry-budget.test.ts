import { describe, expect, test } from "vitest";
import { ENDPOINT_SLICES, ENDPOINTS, NODES, PODS, SERVICES } from "../api/resource-names.ts";
import { ApiError } from "../api/status.ts";
import type { Endpoints } from "../api/types/core.ts";
import { meta, node, service } from "../testing/builders.ts";
import { ControllerHarness } from "../testing/controller-harness.ts";
import { numberedPod } from "../testing/slice-worlds.ts";
import { EndpointsController } from "./endpoints-controller.ts";
import { EndpointSliceController } from "./endpointslice-controller.ts";
import { EndpointSliceMirroringController } from "./endpointslicemirroring-controller.ts";

const { selector: _, ...manual } = service("manual").spec;
const handMade: Endpoints = {
	apiVersion: "v1",
	kind: "Endpoints",
	metadata: meta("manual"),
	subsets: [{ addresses: [{ ip: "192.0.2.1" }], ports: [{ port: 80 }] }],
};

describe.each([
	["endpoints", EndpointsController],
	["endpointslice", EndpointSliceController],
	["endpointslicemirroring", EndpointSliceMirroringController],
])("the %s controller, when every write fails", (_name, Controller) => {
	/** How often it tries within a day. */
	async function tries(options: { readonly retriesMax?: number }): Promise<number> {
		const harness = new ControllerHarness();
		harness.client.serve(SERVICES, [service("web"), { ...service("manual"), spec: manual }]);
		harness.client.serve(NODES, [node("n1", "za")]);
		harness.client.serve(PODS, [numberedPod(0)]);
		harness.client.serve(ENDPOINT_SLICES, []);
		harness.client.serve(ENDPOINTS, [handMade]);
		let count = 0;
		harness.client.onWrite = () => {
			count++;
			throw new ApiError("InternalError", "boom");
		};
		await harness.start(new Controller(harness, options));
		await harness.clock.advance(24 * 3_600_000);
		await harness.stop();
		return count;
	}

	test("gives up after 15 retries, as upstream's", async () => {
		expect(await tries({})).toBe(16);
	});

	test("gives up after as many retries as it is told", async () => {
		expect(await tries({ retriesMax: 2 })).toBe(3);
	});

	test("never gives up when it is told 0", async () => {
		expect(await tries({ retriesMax: 0 })).toBeGreaterThan(80);
	});
});
