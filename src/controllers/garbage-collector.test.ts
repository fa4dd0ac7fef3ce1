import { afterEach, describe, expect, test } from "vitest";
import type { Resource } from "../api/resource.ts";
import {
	CONFIG_MAPS,
	CUSTOM_RESOURCE_DEFINITIONS,
	DEPLOYMENTS,
	ENDPOINT_SLICES,
	NODES,
	PODS,
	REPLICA_SETS,
	SERVICES,
} from "../api/resource-names.ts";
import { ApiError } from "../api/status.ts";
import { customResources } from "../api/structural/custom-resources.ts";
import type { KubeObject, OwnerReference } from "../api/types/meta.ts";
import { type Faults, FaultyClient } from "../testing/faulty-client.ts";
import { createPod, deploy, listed, patched } from "../testing/plane-steps.ts";
import { startTestPlane, type TestPlane, type TestPlaneOptions } from "../testing/test-plane.ts";
import { WatchLog } from "../testing/watch-log.ts";

let plane: TestPlane;

afterEach(async () => {
	await plane.stop();
	expect(plane.warnings).toEqual([]);
});

async function started(options: TestPlaneOptions = {}): Promise<void> {
	plane = await startTestPlane(options);
}

type Policy = "Background" | "Foreground" | "Orphan";

function remove(resource: Resource, name: string, propagationPolicy?: Policy): Promise<unknown> {
	const options = propagationPolicy === undefined ? {} : { propagationPolicy };
	return plane.client.delete(resource, { namespace: resource.namespaced ? "default" : "", name }, options);
}

/** Deployment `web` of two Pods that take `stopTime` to stop. */
async function deployed(stopTime = "3s"): Promise<void> {
	const annotations = { "sliceplane.dev/stop-time": stopTime };
	const template = {
		metadata: { labels: { app: "web" }, annotations },
		spec: { containers: [{ name: "c", image: "app:1" }] },
	};
	await deploy(plane, "web", { replicas: 2, template });
	await plane.advance(5_000);
	expect(await listed(plane, PODS)).toHaveLength(2);
}

/** When each object of `kinds` went: `+3000 pods`. */
function departures(log: WatchLog, ...kinds: readonly Resource[]): readonly string[] {
	const gone = log.events.filter(
		({ type, plural }) => type === "DELETED" && kinds.some((kind) => kind.plural === plural),
	);
	return gone.map(({ atMs, plural }) => `+${atMs} ${plural}`);
}

const CHAIN = [DEPLOYMENTS, REPLICA_SETS, PODS];

describe("a Deployment that is deleted", () => {
	test("in the background goes at once, and the others follow", async () => {
		await started();
		await deployed();
		const log = new WatchLog(plane);
		await remove(DEPLOYMENTS, "web");
		await plane.advance(60_000);
		expect(departures(log, ...CHAIN)).toEqual(["+0 deployments", "+0 replicasets", "+3000 pods", "+3000 pods"]);
	});

	test("in the foreground waits for its ReplicaSets, which wait for their Pods, which take their time", async () => {
		await started();
		await deployed();
		const log = new WatchLog(plane);
		await remove(DEPLOYMENTS, "web", "Foreground");
		const { metadata } = await plane.client.get(DEPLOYMENTS, { namespace: "default", name: "web" });
		expect(metadata).toMatchObject({ finalizers: ["foregroundDeletion"], deletionGracePeriodSeconds: 0 });
		await plane.advance(2_000);
		expect((await listed(plane, REPLICA_SETS))[0]?.metadata.finalizers).toEqual(["foregroundDeletion"]);
		await plane.advance(60_000);
		expect(departures(log, ...CHAIN)).toEqual(["+3000 pods", "+3000 pods", "+3000 replicasets", "+3000 deployments"]);
	});

	test("and orphans its dependents leaves its ReplicaSet and the Pods alone", async () => {
		await started();
		await deployed();
		await remove(DEPLOYMENTS, "web", "Orphan");
		await plane.advance(60_000);
		expect(await listed(plane, DEPLOYMENTS)).toEqual([]);
		const [set] = await listed(plane, REPLICA_SETS);
		expect(set?.metadata.ownerReferences).toBeUndefined();
		expect((await listed(plane, PODS)).map(({ metadata }) => metadata.ownerReferences?.[0]?.uid)).toEqual([
			set?.metadata.uid,
			set?.metadata.uid,
		]);
	});

	test("while nobody collects goes when somebody does", async () => {
		await started({ controllers: ["*", "-garbage-collector-controller"] });
		await deployed();
		await remove(DEPLOYMENTS, "web");
		await plane.advance(60_000);
		expect(await listed(plane, PODS)).toHaveLength(2);
		await plane.stop();
		await started({ over: plane });
		await plane.advance(60_000);
		expect([...(await listed(plane, REPLICA_SETS)), ...(await listed(plane, PODS))]).toEqual([]);
	});
});

test("a Service takes its EndpointSlices with it", async () => {
	await started();
	const spec = { selector: { app: "web" }, ports: [{ port: 80 }] };
	await plane.client.create(SERVICES, "default", { metadata: { name: "web" }, spec });
	await plane.advance(2_000);
	const services = async () => (await listed(plane, ENDPOINT_SLICES)).map(({ metadata }) => metadata.generateName);
	// The Service `kubernetes` has one, too.
	expect(await services()).toEqual([undefined, "web-"]);
	await remove(SERVICES, "web");
	await plane.advance(2_000);
	expect(await services()).toEqual([undefined]);
});

function ownedBy({ apiVersion, kind, metadata }: KubeObject, more: Partial<OwnerReference> = {}): OwnerReference {
	return { apiVersion, kind, name: metadata.name, uid: metadata.uid, ...more };
}

/** A Pod with these owners, on no node, so that it goes at once when it goes. */
async function dependent(name: string, ...ownerReferences: readonly OwnerReference[]): Promise<void> {
	await createPod(plane, name, { schedulerName: "none" }, { ownerReferences });
}

async function owner(name: string): Promise<KubeObject> {
	return createPod(plane, name, { schedulerName: "none" });
}

async function names(): Promise<readonly string[]> {
	return (await listed(plane, PODS)).map(({ metadata }) => metadata.name);
}

describe("an object", () => {
	test("stays as long as one of its owners does, and the references to the others go", async () => {
		await started();
		const [a, b] = [await owner("a"), await owner("b")];
		await dependent("p", ownedBy(a), ownedBy(b));
		await plane.settle();
		await remove(PODS, "a");
		await plane.advance(1_000);
		const { metadata } = await plane.client.get(PODS, { namespace: "default", name: "p" });
		expect(metadata.ownerReferences).toEqual([ownedBy(b)]);
		await remove(PODS, "b");
		await plane.advance(1_000);
		expect(await names()).toEqual([]);
	});

	test("leaves an owner that waits for it, if another one stays", async () => {
		await started();
		const [a, b] = [await owner("a"), await owner("b")];
		await dependent("p", ownedBy(a, { blockOwnerDeletion: true }), ownedBy(b));
		await plane.settle();
		await remove(PODS, "a", "Foreground");
		await plane.advance(1_000);
		expect(await names()).toEqual(["b", "p"]);
		const { metadata } = await plane.client.get(PODS, { namespace: "default", name: "p" });
		expect(metadata.ownerReferences).toEqual([ownedBy(b)]);
	});

	test.each<[string, (real: KubeObject) => Partial<OwnerReference>]>([
		["never was", () => ({ name: "ghost", uid: "ghost" })],
		["has another uid", () => ({ uid: "other" })],
		["has another name", () => ({ name: "other" })],
		["is of another kind", () => ({ kind: "Service" })],
		["is of another group", () => ({ apiVersion: "apps/v1", kind: "Deployment" })],
	])("goes when its owner %s", async (_, more) => {
		await started();
		const real = await owner("a");
		await dependent("p", ownedBy(real, more(real)));
		await plane.advance(1_000);
		expect(await names()).toEqual(["a"]);
	});

	test("goes when its owner lives in another namespace", async () => {
		await started();
		const spec = { containers: [{ name: "c", image: "app:1" }], schedulerName: "none" };
		const elsewhere = await plane.client.create(PODS, "kube-system", { metadata: { name: "a" }, spec });
		await dependent("p", ownedBy(elsewhere));
		await plane.advance(1_000);
		expect(await names()).toEqual([]);
	});

	test("may be owned by one that lives in no namespace", async () => {
		await started({ nodes: 1 });
		const node = await plane.client.get(NODES, { namespace: "", name: "n1" });
		await dependent("p", ownedBy(node));
		await plane.advance(1_000);
		expect(await names()).toEqual(["p"]);
		await remove(NODES, "n1");
		await plane.advance(1_000);
		expect(await names()).toEqual([]);
	});

	test("stays when its owner is of a kind that is not served: nobody can tell", async () => {
		await started();
		const unknown = { apiVersion: "example.com/v1", kind: "Thing", name: "t", uid: "t" };
		await dependent("p", unknown);
		await dependent("q", unknown, { apiVersion: "v1", kind: "Pod", name: "ghost", uid: "ghost" });
		await plane.advance(60_000);
		expect(await names()).toEqual(["p", "q"]);
	});

	test("goes when its owner was made anew under the same name", async () => {
		await started();
		const first = await owner("a");
		await dependent("p", ownedBy(first));
		await plane.settle();
		await remove(PODS, "a");
		await owner("a");
		await plane.advance(1_000);
		expect(await names()).toEqual(["a"]);
	});

	test("goes when it gets an owner that is gone", async () => {
		await started();
		const gone = await owner("a");
		await remove(PODS, "a");
		await dependent("p");
		await plane.advance(1_000);
		await patched(plane, PODS, "p", { metadata: { ownerReferences: [ownedBy(gone)] } });
		await plane.advance(1_000);
		expect(await names()).toEqual([]);
	});

	test("that asked to orphan its own dependents does so when it is collected", async () => {
		await started();
		const a = await owner("a");
		const middle = await createPod(
			plane,
			"b",
			{ schedulerName: "none" },
			{ ownerReferences: [ownedBy(a)], finalizers: ["orphan"] },
		);
		await dependent("c", ownedBy(middle));
		await plane.settle();
		await remove(PODS, "a");
		await plane.advance(1_000);
		expect(await names()).toEqual(["c"]);
	});
});

describe("an owner in foreground", () => {
	test("waits only for dependents that block it, and takes the others along", async () => {
		await started();
		const a = await owner("a");
		const held = { finalizers: ["example.com/f"] };
		const blocking = { ownerReferences: [ownedBy(a, { blockOwnerDeletion: true })] };
		await createPod(plane, "blocking", { schedulerName: "none" }, { ...held, ...blocking });
		await createPod(plane, "other", { schedulerName: "none" }, { ...held, ownerReferences: [ownedBy(a)] });
		await plane.settle();
		await remove(PODS, "a", "Foreground");
		await plane.advance(60_000);
		expect(await names()).toEqual(["a", "blocking", "other"]);
		await patched(plane, PODS, "blocking", { metadata: { finalizers: null } });
		await plane.advance(1_000);
		expect(await names()).toEqual(["other"]);
		await patched(plane, PODS, "other", { metadata: { finalizers: null } });
		expect(await names()).toEqual([]);
	});

	test("is let go by a dependent that no longer names it", async () => {
		await started();
		const a = await owner("a");
		const ownerReferences = [ownedBy(a, { blockOwnerDeletion: true })];
		await createPod(plane, "p", { schedulerName: "none" }, { finalizers: ["example.com/f"], ownerReferences });
		await plane.settle();
		await remove(PODS, "a", "Foreground");
		await plane.advance(1_000);
		await patched(plane, PODS, "p", { metadata: { ownerReferences: null } });
		await plane.advance(1_000);
		expect(await names()).toEqual(["p"]);
	});

	test("keeps other finalizers", async () => {
		await started();
		await createPod(plane, "a", { schedulerName: "none" }, { finalizers: ["example.com/f"] });
		await remove(PODS, "a", "Foreground");
		await plane.advance(1_000);
		const { metadata } = await plane.client.get(PODS, { namespace: "default", name: "a" });
		expect(metadata.finalizers).toEqual(["example.com/f"]);
	});

	test("does not wait for ever when it is owned by its own dependent", async () => {
		await started();
		const a = await owner("a");
		await dependent("b", ownedBy(a, { blockOwnerDeletion: true }));
		const b = await plane.client.get(PODS, { namespace: "default", name: "b" });
		await patched(plane, PODS, "a", { metadata: { ownerReferences: [ownedBy(b, { blockOwnerDeletion: true })] } });
		await plane.settle();
		await remove(PODS, "a", "Foreground");
		await plane.advance(60_000);
		expect(await names()).toEqual([]);
	});
});

test("a hundred dependents go at once", async () => {
	await started();
	await deploy(plane, "web", { replicas: 100 });
	await plane.advance(5_000);
	await remove(DEPLOYMENTS, "web", "Foreground");
	await plane.until("everything goes", () => plane.informers.of(PODS).size === 0, 1_000);
	await plane.settle();
	expect(await listed(plane, DEPLOYMENTS)).toEqual([]);
});

test("what is owned by an object that came and went unseen is collected", async () => {
	let release = (): void => undefined;
	const released = new Promise<void>((resolve) => (release = resolve));
	let isFirst = true;
	// Services are seen as they are now at first, and then not before `release`.
	const faults: Faults = {
		async call(about, send) {
			if (about.resource.plural !== "services") return send();
			if (about.verb === "watch" && isFirst) {
				isFirst = false;
				throw new ApiError("Expired", "too old resource version");
			}
			if (about.verb === "list" && !isFirst) await released;
			return send();
		},
	};
	const controllers = ["garbage-collector-controller"];
	await started({ nodes: 0, controllers, wrapClient: (client) => new FaultyClient(client, faults) });
	const spec = { ports: [{ port: 80 }] };
	const { uid } = (await plane.client.create(SERVICES, "default", { metadata: { name: "web" }, spec })).metadata;
	const ownerReferences = [{ apiVersion: "v1", kind: "Service", name: "web", uid }];
	const slice = { addressType: "IPv4", endpoints: [], ports: [] } as const;
	await plane.client.create(ENDPOINT_SLICES, "default", { metadata: { name: "web-1", ownerReferences }, ...slice });
	await plane.settle();
	await remove(SERVICES, "web");
	release();
	await plane.advance(5_000);
	expect(await listed(plane, ENDPOINT_SLICES)).toEqual([]);
});

describe("what a custom object owns", () => {
	const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } };
	const key = { namespace: "", name: "things.example.com" };

	/** ConfigMap `owned` of the Thing `t`. */
	async function ownedByThing(): Promise<void> {
		await started({ nodes: 0 });
		const names = { plural: "things", kind: "Thing" };
		const spec = { group: "example.com", scope: "Namespaced", names, versions: [version] } as const;
		await plane.client.create(CUSTOM_RESOURCE_DEFINITIONS, "", { metadata: { name: key.name }, spec });
		await plane.settle();
		const [things] = customResources(await plane.client.get(CUSTOM_RESOURCE_DEFINITIONS, key));
		if (things === undefined) throw new Error("Things must be served");
		const thing = await plane.client.create(things, "default", {
			apiVersion: "example.com/v1",
			kind: "Thing",
			metadata: { name: "t" },
		});
		const metadata = { name: "owned", ownerReferences: [ownedBy(thing)] };
		await plane.client.create(CONFIG_MAPS, "default", { metadata });
		await plane.advance(1_000);
	}

	const left = async (): Promise<readonly string[]> =>
		(await listed(plane, CONFIG_MAPS)).map(({ metadata }) => metadata.name).filter((name) => name === "owned");

	test("goes with it when its definition goes", async () => {
		await ownedByThing();
		expect(await left()).toEqual(["owned"]);
		await plane.client.delete(CUSTOM_RESOURCE_DEFINITIONS, key);
		await plane.advance(5_000);
		expect(await left()).toEqual([]);
	});

	test("stays when its definition is only no longer served", async () => {
		await ownedByThing();
		const body = { spec: { versions: [{ ...version, served: false }] } };
		await plane.client.patch(CUSTOM_RESOURCE_DEFINITIONS, key, { type: "merge", body });
		await plane.advance(5_000);
		expect(await left()).toEqual(["owned"]);
	});
});
