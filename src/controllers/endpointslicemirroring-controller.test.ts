import { describe, expect, test } from "vitest";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../api/resource-names.ts";
import { ApiError } from "../api/status.ts";
import type { Endpoints, Service } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import type { ObjectMeta } from "../api/types/meta.ts";
import { meta, service } from "../testing/builders.ts";
import { ControllerHarness } from "../testing/controller-harness.ts";
import { EndpointSliceMirroringController } from "./endpointslicemirroring-controller.ts";

const { selector: _, ...withoutSelector } = service("db").spec;
const db: Service = { ...service("db"), spec: withoutSelector };

function endpoints(count: number, metadata: Partial<ObjectMeta> = {}): Endpoints {
	const addresses = Array.from({ length: count }, (_, i) => ({ ip: `10.0.0.${i + 1}` }));
	const subsets = [{ addresses, ports: [{ name: "a", port: 80, protocol: "TCP" as const }] }];
	return { apiVersion: "v1", kind: "Endpoints", metadata: meta("db", metadata), subsets };
}

async function running(
	world: { readonly services?: readonly Service[]; readonly endpoints?: readonly Endpoints[] } = {},
	options: ConstructorParameters<typeof EndpointSliceMirroringController>[1] = {},
): Promise<ControllerHarness> {
	const harness = new ControllerHarness();
	harness.client.serve(SERVICES, world.services ?? [db]);
	harness.client.serve(ENDPOINTS, world.endpoints ?? [endpoints(2)]);
	await harness.start(new EndpointSliceMirroringController(harness, options));
	return harness;
}

/** The slice of the last write, as it comes back by the watch. */
function last(harness: ControllerHarness, generation = 1): EndpointSlice {
	const write = harness.client.writes.at(-1);
	if (write === undefined || !("object" in write)) throw new Error("nothing was written");
	return { ...(write.object as EndpointSlice), metadata: { ...write.object.metadata, generation } };
}

const skipped = { labels: { "endpointslice.kubernetes.io/skip-mirror": "true" }, resourceVersion: "2" };

describe("EndpointSliceMirroringController", () => {
	test("mirrors what was there at its start", async () => {
		const harness = await running();
		expect(harness.client.log()).toEqual(["create endpointslices default/db-"]);
		await harness.stop();
	});

	test("leaves Services with a selector alone, and Endpoints without a Service", async () => {
		const selecting = await running({ services: [service("db")] });
		const lonely = await running({ services: [] });
		expect([...selecting.client.log(), ...lonely.client.log()]).toEqual([]);
	});

	test("labelled to be skipped, the slices go", async () => {
		const harness = await running();
		const made = last(harness);
		harness.client.send(ENDPOINT_SLICES, { type: "ADDED", object: made });
		harness.client.send(ENDPOINTS, { type: "MODIFIED", object: endpoints(2, skipped) });
		await harness.clock.advance(0);
		expect(harness.client.log().slice(1)).toEqual([`delete endpointslices default/${made.metadata.name}`]);
	});

	test("a Service that gets a selector loses its mirror, one that loses it gets one", async () => {
		const harness = await running({ services: [service("db")] });
		const [without, withIt] = [db, service("db")].map((object, index) => ({
			...object,
			metadata: { ...object.metadata, resourceVersion: `${index + 2}` },
		}));
		if (without === undefined || withIt === undefined) throw new Error("two Services");
		harness.client.send(SERVICES, { type: "MODIFIED", object: without });
		await harness.clock.advance(0);
		harness.client.send(ENDPOINT_SLICES, { type: "ADDED", object: last(harness) });
		harness.client.send(SERVICES, { type: "MODIFIED", object: withIt });
		await harness.clock.advance(0);
		expect(harness.client.log().map((line) => line.split(" ")[0])).toEqual(["create", "delete"]);
	});

	test("a slice that somebody deletes comes back, one that it deleted itself does not", async () => {
		const harness = await running();
		const made = last(harness);
		harness.client.send(ENDPOINT_SLICES, { type: "ADDED", object: made });
		await harness.clock.advance(0);
		harness.client.send(ENDPOINT_SLICES, { type: "DELETED", object: made });
		await harness.clock.advance(0);
		expect(harness.client.log()).toHaveLength(2);
		harness.client.send(ENDPOINT_SLICES, { type: "ADDED", object: last(harness) });
		harness.client.send(ENDPOINTS, {
			type: "MODIFIED",
			object: { ...endpoints(0, { resourceVersion: "3" }), subsets: [] },
		});
		await harness.clock.advance(0);
		harness.client.send(ENDPOINT_SLICES, { type: "DELETED", object: made });
		await harness.clock.advance(10_000);
		expect(harness.client.log().map((line) => line.split(" ")[0])).toEqual(["create", "create", "delete"]);
	});

	test("does not plan over a cache that lacks its last write, and tries again", async () => {
		const harness = await running();
		harness.client.send(ENDPOINTS, { type: "MODIFIED", object: endpoints(3, { resourceVersion: "2" }) });
		await harness.clock.advance(0);
		expect(harness.client.log()).toHaveLength(1);
		harness.client.send(ENDPOINT_SLICES, { type: "ADDED", object: last(harness) });
		await harness.clock.advance(1_000);
		expect(harness.client.log()[1]).toBe(`update endpointslices default/${last(harness).metadata.name}`);
	});

	test("says how many addresses did not fit", async () => {
		const harness = await running({ endpoints: [endpoints(5)] }, { maxEndpointsPerSubset: 3 });
		expect(harness.events).toEqual([
			"Warning TooManyAddressesToMirror A max of 3 addresses can be mirrored to EndpointSlices per Endpoints subset. " +
				"2 addresses were skipped",
		]);
		expect(harness.metrics.values.get("endpoint_slice_mirroring_controller_endpoints_desired")).toBe(3);
	});

	test("ends in peace in a namespace that is being deleted", async () => {
		const harness = new ControllerHarness();
		harness.client.serve(SERVICES, [db]);
		harness.client.serve(ENDPOINTS, [endpoints(1)]);
		const details = { causes: [{ reason: "NamespaceTerminating" }] };
		harness.client.onWrite = () => {
			throw new ApiError("Forbidden", "no", { details });
		};
		await harness.start(new EndpointSliceMirroringController(harness));
		expect(harness.warnings).toEqual([]);
	});

	test("refuses a limit that no slice can hold", () => {
		expect(
			() => new EndpointSliceMirroringController(new ControllerHarness(), { maxEndpointsPerSubset: 1001 }),
		).toThrow("mirroring-max-endpoints-per-subset must not be more than 1000, but got 1001");
	});
});
