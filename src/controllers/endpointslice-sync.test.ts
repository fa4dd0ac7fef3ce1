/** One sync of a Service, rule by rule: what it looks at, what it leaves alone, what it says. */
import { afterEach, describe, expect, test } from "vitest";
import { ENDPOINT_SLICES, NODES, PODS, SERVICES } from "../api/resource-names.ts";
import { ApiError } from "../api/status.ts";
import type { Node, Pod, Service } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import type { ObjectMeta } from "../api/types/meta.ts";
import { node, pod, service } from "../testing/builders.ts";
import { ControllerHarness } from "../testing/controller-harness.ts";
import { numberedPod, podRange, sliceOf } from "../testing/slice-worlds.ts";
import { EndpointSliceSync } from "./endpointslice-sync.ts";

const KEY = "default/web";
const TIME = "endpoints.kubernetes.io/last-change-trigger-time";
const MANAGER = "endpointslice.kubernetes.io/managed-by";
const web = service("web");
const dual = service("web", { ipFamilies: ["IPv4", "IPv6"] });
const { signal } = new AbortController();

interface World {
	readonly service?: Service | undefined;
	readonly pods?: readonly Pod[];
	readonly slices?: readonly EndpointSlice[];
	readonly nodes?: readonly Node[];
	/** Log lines of writes that are refused. */
	readonly refused?: readonly string[];
}

let harness: ControllerHarness;
afterEach(() => harness.stop());

async function worldOf(world: World): Promise<EndpointSliceSync> {
	harness = new ControllerHarness();
	harness.client.serve(SERVICES, "service" in world ? (world.service === undefined ? [] : [world.service]) : [web]);
	harness.client.serve(PODS, world.pods ?? []);
	harness.client.serve(NODES, world.nodes ?? [node("n1", "za")]);
	harness.client.serve(ENDPOINT_SLICES, world.slices ?? []);
	harness.client.onWrite = ({ verb, key }) => {
		if (world.refused?.includes(`${verb} ${key}`)) throw new ApiError("Forbidden", "no");
	};
	const sync = new EndpointSliceSync(harness, { endpointsPerSliceMax: 100 });
	await harness.start({ run: () => Promise.resolve() });
	return sync;
}

const outcomeOf = (sync: EndpointSliceSync): Promise<string> =>
	sync.reconcile(KEY, signal).then(
		({ kind }) => kind,
		(thrown: Error) => thrown.message,
	);
const writes = (): string[] => harness.client.log().map((line) => line.replace(" endpointslices default/", " "));
const value = (name: string): number | undefined => harness.metrics.values.get(`endpoint_slice_controller_${name}`);

function withMeta(slice: EndpointSlice, metadata: Partial<ObjectMeta>): EndpointSlice {
	return { ...slice, metadata: { ...slice.metadata, ...metadata } };
}

const full = sliceOf("a", podRange(0, 1));
const labelled = (labels: Record<string, string>): EndpointSlice =>
	withMeta(full, { labels: { ...full.metadata.labels, ...labels } });

describe("a sync", () => {
	test.each<[string, World, string[]]>([
		["of a Service that is gone writes nothing", { service: undefined, slices: [full] }, []],
		[
			"of an ExternalName leaves slices as they are",
			{ service: service("web", { type: "ExternalName" }), slices: [full] },
			[],
		],
		[
			"of an empty selector leaves slices as they are",
			{ service: service("web", { selector: {} }), slices: [full] },
			[],
		],
		[
			"of a selector that is gone leaves slices as they are",
			{ service: { ...web, spec: { ports: [] } }, slices: [full] },
			[],
		],
		[
			"does not see Pods of another namespace",
			{ pods: [pod("x", { ip: "10.1.0.9", metadata: { namespace: "other" } })] },
			["create web-"],
		],
		[
			"does not see Pods with other labels",
			{ pods: [pod("x", { ip: "10.1.0.9", labels: { app: "db" } })], slices: [sliceOf("e", [])] },
			[],
		],
		[
			"sees Pods with more labels than it asks for",
			{ pods: [pod("x", { ip: "10.1.0.9", labels: { app: "web", x: "y" } })], slices: [sliceOf("e", [])] },
			["update e"],
		],
		["does not see a slice of another manager", { slices: [labelled({ [MANAGER]: "somebody" })] }, ["create web-"]],
		[
			"does not see a slice of another Service",
			{ slices: [labelled({ "kubernetes.io/service-name": "db" })] },
			["create web-"],
		],
		[
			"does not see a slice of another namespace",
			{ slices: [withMeta(full, { namespace: "other" })] },
			["create web-"],
		],
		["does not see a slice without labels", { slices: [withMeta(full, { labels: {} })] }, ["create web-"]],
		[
			"does not see a slice that is being deleted",
			{ pods: podRange(0, 1), slices: [withMeta(full, { deletionTimestamp: "2026-01-02T00:00:00Z" })] },
			["create web-"],
		],
		[
			"replaces a slice of an earlier Service of that name",
			{ pods: podRange(0, 1), slices: [sliceOf("old", podRange(0, 1), { service: service("web", {}, { uid: "x" }) })] },
			["create web-", "delete old"],
		],
		[
			"deletes slices of families that are gone after all else",
			{
				pods: podRange(0, 2),
				slices: [sliceOf("v6", podRange(0, 1), { family: "IPv6" }), full, sliceOf("x", podRange(3, 4))],
			},
			["update a", "delete x", "delete v6"],
		],
		["writes one family after the other", { service: dual, pods: podRange(0, 1) }, ["create web-", "create web-"]],
	])("%s", async (_, world, log) => {
		expect(await outcomeOf(await worldOf(world))).toBe("settled");
		expect([writes(), harness.events]).toEqual([log, []]);
		expect(value("syncs{result=success}")).toBe(1);
	});
});

describe("a sync that fails", () => {
	const told = (message: string): string =>
		`Warning FailedToUpdateEndpointSlices Error updating Endpoint Slices for Service default/web: ${message}`;
	const v6 = (name: string): EndpointSlice => sliceOf(name, podRange(0, 1), { family: "IPv6" });
	const ghost = (n: number): Pod => numberedPod(n, { node: "ghost" });
	const skipped = (n: number): string => `skipping Pod p0000${n} for Service default/web: Node ghost Not Found`;

	test.each<[string, World, string, string[]]>([
		[
			"to create says so",
			{ refused: ["create default/web-"] },
			"failed to create EndpointSlice for Service default/web: no",
			[],
		],
		[
			"to update says which",
			{ slices: [full], refused: ["update default/a"] },
			"failed to update a EndpointSlice for Service default/web: no",
			[],
		],
		[
			"to delete says which",
			{ pods: podRange(0, 1), slices: [full, sliceOf("x", podRange(3, 4))], refused: ["delete default/x"] },
			"failed to delete x EndpointSlice for Service default/web: no",
			[],
		],
		[
			"in every family says each text once",
			{ service: dual, refused: ["create default/web-"] },
			"failed to create EndpointSlice for Service default/web: no",
			[],
		],
		[
			"in one family writes the other",
			{ service: dual, slices: [full], refused: ["update default/a"] },
			"failed to update a EndpointSlice for Service default/web: no",
			["create web-"],
		],
		[
			"to delete families that are gone goes on, and lists all",
			{
				pods: podRange(0, 1),
				slices: [full, v6("v1"), v6("v2"), v6("v3")],
				refused: ["delete default/v1", "delete default/v2"],
			},
			"[error deleting v1 EndpointSlice for Service default/web: no, error deleting v2 EndpointSlice for Service default/web: no]",
			["delete v3"],
		],
		["for want of a Node writes the rest first", { pods: [numberedPod(0), ghost(1)] }, skipped(1), ["create web-"]],
		[
			"for want of a Node in both families says so once",
			{ service: dual, pods: [ghost(1)] },
			skipped(1),
			["create web-", "create web-"],
		],
		[
			"for want of a Node and to write lists both, in this order",
			{ pods: [ghost(1), ghost(2)], refused: ["create default/web-"] },
			`[${skipped(1)}, ${skipped(2)}, failed to create EndpointSlice for Service default/web: no]`,
			[],
		],
	])("%s", async (_, world, message, log) => {
		expect(await outcomeOf(await worldOf(world))).toBe(message);
		expect([writes(), harness.events]).toEqual([log, [told(message)]]);
		expect(value("syncs{result=error}")).toBe(1);
	});

	test("because the cache is behind says so to nobody", async () => {
		const sync = await worldOf({ slices: [] });
		sync.tracker.wrote(full);
		expect(await outcomeOf(sync)).toBe("EndpointSlice informer cache is out of date");
		expect([writes(), harness.events, value("syncs{result=stale}")]).toEqual([[], [], 1]);
	});

	test("counts what it had planned, but no changed slices", async () => {
		await outcomeOf(await worldOf({ pods: podRange(0, 2), refused: ["create default/web-"] }));
		expect([value("endpoints_desired"), value("endpoints_added_per_sync")]).toEqual([2, 1]);
		expect(value("endpointslices_changed_per_sync{topology=Disabled,traffic_distribution=}")).toBeUndefined();
		expect(value("changes{operation=create}")).toBeUndefined();
	});
});

describe("what is kept from sync to sync", () => {
	test("goes with the Service: times, tracked slices and gauges", async () => {
		const sync = await worldOf({ pods: podRange(0, 1) });
		await outcomeOf(sync);
		expect([sync.triggerTimes.has(KEY), value("num_endpoint_slices")]).toEqual([true, 1]);
		harness.client.send(SERVICES, { type: "DELETED", object: web });
		await harness.clock.settle();
		await outcomeOf(sync);
		expect([sync.triggerTimes.has(KEY), value("num_endpoint_slices")]).toEqual([false, 0]);
		expect(sync.tracker.isStale(KEY, [])).toBe(false);
	});

	test("the trigger time is used up by a sync that writes nothing", async () => {
		const since = (lastTransitionTime: string, traits = {}): Pod =>
			pod("p00000", {
				ips: ["10.1.0.0", "fd00::"],
				status: { conditions: [{ type: "Ready", status: "True", lastTransitionTime }] },
				...traits,
			});
		const sync = await worldOf({ pods: [since("2026-01-01T00:00:01Z")], slices: [full] });
		await outcomeOf(sync);
		harness.client.send(PODS, {
			type: "MODIFIED",
			object: since("2026-01-01T00:01:00Z", { metadata: { resourceVersion: "2" } }),
		});
		await harness.clock.settle();
		await outcomeOf(sync);
		expect(writes()).toEqual([]);
		harness.client.send(PODS, { type: "DELETED", object: since("2026-01-01T00:01:00Z") });
		await harness.clock.settle();
		await outcomeOf(sync);
		const [write] = harness.client.writes;
		expect(write !== undefined && "object" in write && write.object.metadata.annotations).toEqual({});
	});

	test("both families are annotated with one time", async () => {
		await outcomeOf(await worldOf({ service: dual, pods: podRange(0, 1) }));
		const times = harness.client.writes.map((write) => "object" in write && write.object.metadata.annotations?.[TIME]);
		expect(times).toEqual(["2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"]);
	});
});

describe("hints by CPU", () => {
	const sized = (name: string, zone: string, cpu = "1"): Node => {
		const made = node(name, zone);
		return { ...made, status: { ...made.status, allocatable: { cpu } } };
	};
	const auto = service("web", {}, { annotations: { "service.kubernetes.io/topology-mode": "Auto" } });
	const pods = [pod("a", { ip: "10.1.0.1" }), pod("b", { ip: "10.1.0.2", node: "n2" })];
	const world = { service: auto, pods, nodes: [sized("n1", "za"), sized("n2", "zb")] };
	const enabled = "Normal TopologyAwareHintsEnabled Topology Aware Hints has been enabled, addressType: IPv4";

	test("are told of after the writes, though these failed, and before the failure", async () => {
		const sync = await worldOf({ ...world, refused: ["create default/web-"] });
		sync.updateTopology();
		await outcomeOf(sync);
		expect(harness.events.map((event) => event.split(" ")[1])).toEqual([
			"TopologyAwareHintsEnabled",
			"FailedToUpdateEndpointSlices",
		]);
	});

	test("wait for the nodes to be looked at", async () => {
		await outcomeOf(await worldOf(world));
		expect(harness.events).toEqual([
			"Warning TopologyAwareHintsDisabled Nodes only ready in one zone, addressType: IPv4",
		]);
	});

	test("have their Service looked at again when nodes leave a zone too few, others not", async () => {
		const sync = await worldOf(world);
		expect(sync.updateTopology()).toEqual([]);
		await outcomeOf(sync);
		expect([harness.events, sync.updateTopology()]).toEqual([[enabled], []]);
		harness.client.send(NODES, { type: "DELETED", object: sized("n2", "zb") });
		await harness.clock.settle();
		expect(sync.updateTopology()).toEqual([KEY]);
	});

	test("are counted as such", async () => {
		const sync = await worldOf(world);
		sync.updateTopology();
		await outcomeOf(sync);
		expect(value("endpointslices_changed_per_sync{topology=Auto,traffic_distribution=}")).toBe(1);
	});
});
