import { describe, expect, test } from "vitest";
import { ENDPOINTS, PODS, SERVICES } from "../api/resource-names.ts";
import { ApiError, notFound } from "../api/status.ts";
import type { Endpoints, Pod } from "../api/types/core.ts";
import { LEADER_ANNOTATION } from "../api/well-known.ts";
import { meta, pod, service } from "../testing/builders.ts";
import { ControllerHarness } from "../testing/controller-harness.ts";
import { EndpointsController } from "./endpoints-controller.ts";

const web = service("web");
const a = pod("a", { ip: "10.0.0.1" });
const endpoints = (name: string, metadata: Partial<Endpoints["metadata"]> = {}): Endpoints => ({
	apiVersion: "v1",
	kind: "Endpoints",
	metadata: meta(name, metadata),
});
const flipped = (isReady: boolean, resourceVersion: string): Pod =>
	pod("a", { ip: "10.0.0.1", isReady, metadata: { resourceVersion } });

async function running(existing: readonly Endpoints[]): Promise<ControllerHarness> {
	const harness = new ControllerHarness();
	harness.client.serve(SERVICES, [web]);
	harness.client.serve(PODS, [a]);
	harness.client.serve(ENDPOINTS, existing);
	await harness.start(new EndpointsController(harness));
	return harness;
}

function written(harness: ControllerHarness, at: number, resourceVersion: string): Endpoints {
	const write = harness.client.writes[at];
	if (write === undefined || !("object" in write)) throw new Error(`write ${at} is not there`);
	return { ...write.object, metadata: { ...write.object.metadata, resourceVersion } };
}

describe("EndpointsController", () => {
	test("makes Endpoints of the Service's name", async () => {
		const harness = await running([]);
		expect(harness.client.log()).toEqual(["create endpoints default/web"]);
		expect(written(harness, 0, "1").subsets?.[0]?.addresses?.map(({ ip }) => ip)).toEqual(["10.0.0.1"]);
		await harness.stop();
	});

	test("deletes leftovers without a Service at start, but not those that clients elect a leader with", async () => {
		const leader = endpoints("leader", { annotations: { [LEADER_ANNOTATION]: "{}" } });
		const harness = await running([endpoints("gone"), leader]);
		expect(harness.client.log().sort()).toEqual(["create endpoints default/web", "delete endpoints default/gone"]);
	});

	test("makes what somebody deleted again, and deletes what its Service leaves", async () => {
		const harness = await running([]);
		const own = written(harness, 0, "5");
		harness.client.send(ENDPOINTS, { type: "ADDED", object: own });
		harness.client.send(ENDPOINTS, { type: "DELETED", object: own });
		await harness.clock.advance(0);
		expect(harness.client.log().slice(1)).toEqual(["create endpoints default/web"]);
		harness.client.onWrite = () => {
			throw notFound(ENDPOINTS, "web");
		};
		harness.client.send(SERVICES, { type: "DELETED", object: web });
		await harness.clock.advance(60_000);
		expect(harness.warnings).toEqual([]);
	});

	test("does not plan over the version that it has replaced, so that a fast flip is not lost", async () => {
		const harness = await running([]);
		harness.client.send(ENDPOINTS, { type: "ADDED", object: written(harness, 0, "5") });
		harness.client.send(PODS, { type: "MODIFIED", object: flipped(false, "2") });
		await harness.clock.advance(0);
		harness.client.send(PODS, { type: "MODIFIED", object: flipped(true, "3") });
		await harness.clock.advance(3);
		expect(harness.client.writes).toHaveLength(2);
		expect(harness.warnings).toEqual(["Reconcile failed and will be retried"]);
		harness.client.send(ENDPOINTS, { type: "MODIFIED", object: written(harness, 1, "1002") });
		await harness.clock.advance(1_000);
		expect(written(harness, 2, "9").subsets?.[0]?.notReadyAddresses).toBeUndefined();
		expect(harness.client.writes).toHaveLength(3);
	});

	test("tells the user of a failure and tries again", async () => {
		const harness = new ControllerHarness();
		let refusals = 1;
		harness.client.onWrite = () => {
			if (refusals-- > 0) throw new ApiError("Forbidden", "quota");
		};
		harness.client.serve(SERVICES, [web]);
		await harness.start(new EndpointsController(harness));
		await harness.clock.advance(5);
		expect(harness.events).toEqual([
			"Warning FailedToCreateEndpoint Failed to create endpoint for service default/web: quota",
		]);
		expect(harness.client.log()).toEqual(["create endpoints default/web"]);
	});
});
