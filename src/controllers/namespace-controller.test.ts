import { afterEach, describe, expect, test } from "vitest";
import type { Resource } from "../api/resource.ts";
import {
	CONFIG_MAPS,
	DEPLOYMENTS,
	ENDPOINT_SLICES,
	EVENTS,
	NAMESPACES,
	PODS,
	REPLICA_SETS,
	SERVICES,
} from "../api/resource-names.ts";
import { ApiError } from "../api/status.ts";
import type { Event as KubeEvent, Pod } from "../api/types/core.ts";
import { startTestPlane, type TestPlane } from "../testing/test-plane.ts";
import { WatchLog } from "../testing/watch-log.ts";
import { deploymentDraft } from "../testing/workloads.ts";

let plane: TestPlane;

afterEach(async () => {
	await plane.stop();
	// Whoever finds that something is missing just when the namespace goes cannot make it any more.
	expect(plane.warnings.filter((text) => !text.endsWith('namespaces "demo" not found'))).toEqual([]);
});

const CONTAINERS = [{ name: "c", image: "app:1" }];

/** Namespace `demo` with a Service and a Deployment of two Pods that take `stopTime` to stop. */
async function demo(stopTime: string): Promise<void> {
	plane = await startTestPlane();
	const { client } = plane;
	await client.create(NAMESPACES, "", { metadata: { name: "demo" } });
	await client.create(SERVICES, "demo", {
		metadata: { name: "web" },
		spec: { selector: { app: "web" }, ports: [{ port: 80 }] },
	});
	const metadata = { labels: { app: "web" }, annotations: { "sliceplane.dev/stop-time": stopTime } };
	const spec = { replicas: 2, template: { metadata, spec: { containers: CONTAINERS } } };
	await client.create(DEPLOYMENTS, "demo", deploymentDraft("web", spec));
	await plane.advance(5_000);
	expect(await count(PODS)).toBe(2);
}

async function count(resource: Resource, namespace = "demo"): Promise<number> {
	return (await plane.client.list(resource, { namespace })).items.length;
}

function remove(): Promise<unknown> {
	return plane.client.delete(NAMESPACES, { namespace: "", name: "demo" });
}

function goneAt(log: WatchLog, resource: Resource): number | undefined {
	return log
		.of(resource)
		.filter(({ type }) => type === "DELETED")
		.at(-1)?.atMs;
}

describe("a namespace that is deleted", () => {
	test("is Terminating at once, and held by its finalizer", async () => {
		await demo("1s");
		await remove();
		const namespace = await plane.client.get(NAMESPACES, { namespace: "", name: "demo" });
		expect(namespace).toMatchObject({ status: { phase: "Terminating" }, spec: { finalizers: ["kubernetes"] } });
		expect(namespace.metadata.deletionTimestamp).toBe("2026-01-01T00:00:05Z");
		expect(namespace.metadata.deletionGracePeriodSeconds).toBeUndefined();
	});

	test("keeps everything for five seconds", async () => {
		await demo("1s");
		await remove();
		await plane.advance(4_900);
		expect([await count(PODS), await count(SERVICES), await count(DEPLOYMENTS)]).toEqual([2, 1, 1]);
	});

	test("loses its Pods first, everything else when the last Pod is gone, and itself in the end", async () => {
		await demo("7s");
		const log = new WatchLog(plane);
		await remove();
		await plane.until("it is gone", () => plane.informers.of(NAMESPACES).get("demo") === undefined, 120_000);
		// 5 s of grace, 7 s to stop. What the first look wrote brings another 5 s later; the next is 30/2 + 1 seconds on.
		expect(goneAt(log, PODS)).toBe(12_000);
		for (const resource of [SERVICES, ENDPOINT_SLICES, DEPLOYMENTS, REPLICA_SETS])
			expect(goneAt(log, resource)).toBe(26_000);
		expect(goneAt(log, NAMESPACES)).toBe(26_000);
		for (const resource of [PODS, SERVICES, ENDPOINT_SLICES, EVENTS]) expect(await count(resource)).toBe(0);
	});

	test("looks again each second for Pods that have had their grace period since it was deleted", async () => {
		plane = await startTestPlane();
		await plane.client.create(NAMESPACES, "", { metadata: { name: "demo" } });
		const containers = [{ name: "c", image: "app:1", command: ["sleep", "9"] }];
		const spec = { containers, terminationGracePeriodSeconds: 4 };
		await plane.client.create(PODS, "demo", { metadata: { name: "slow" }, spec });
		await plane.advance(1_000);
		const log = new WatchLog(plane);
		await remove();
		await plane.advance(120_000);
		// Deleted at 5 s, killed at 9 s: the looks at 6, 7 and 8 still find it.
		expect(goneAt(log, PODS)).toBe(9_000);
		expect(goneAt(log, NAMESPACES)).toBe(9_000);
	});

	test("takes no new objects, and says so to those who ask", async () => {
		await demo("10s");
		await remove();
		const spec = { containers: CONTAINERS };
		const refused = await plane.client
			.create(PODS, "demo", { metadata: { name: "late" }, spec })
			.catch((error: unknown) => error);
		expect(refused).toBeInstanceOf(ApiError);
		expect(refused).toMatchObject({
			code: 403,
			reason: "Forbidden",
			message:
				'pods "late" is forbidden: unable to create new content in namespace demo because it is being terminated',
			details: {
				causes: [
					{
						reason: "NamespaceTerminating",
						message: "namespace demo is being terminated",
						field: "metadata.namespace",
					},
				],
			},
		});
	});

	test("lets objects that are there be changed", async () => {
		await demo("10s");
		await remove();
		const patch = { type: "merge", body: { metadata: { labels: { a: "b" } } } } as const;
		const patched = await plane.client.patch(SERVICES, { namespace: "demo", name: "web" }, patch);
		expect(patched.metadata.labels).toEqual({ a: "b" });
	});

	test("makes no noise of controllers that cannot replace what is going", async () => {
		await demo("3s");
		const log = new WatchLog(plane);
		await remove();
		await plane.advance(60_000);
		const reasons = log.of<KubeEvent>(EVENTS).map(({ object }) => object.reason);
		expect(reasons).not.toContain("FailedCreate");
		expect(log.of<Pod>(PODS).filter(({ type }) => type === "ADDED")).toEqual([]);
	});

	test("waits for whoever holds something in it by a finalizer", async () => {
		await demo("1s");
		const held = { metadata: { name: "held", finalizers: ["example.com/f"] }, spec: { ports: [{ port: 80 }] } };
		await plane.client.create(SERVICES, "demo", held);
		const log = new WatchLog(plane);
		await remove();
		await plane.advance(60_000);
		expect([await count(DEPLOYMENTS), await count(SERVICES)]).toEqual([0, 1]);
		const patch = { type: "merge", body: { metadata: { finalizers: null } } } as const;
		await plane.client.patch(SERVICES, { namespace: "demo", name: "held" }, patch);
		await plane.advance(60_000);
		// Looks at 5, 10 and 15 s, each 5 s after something was written; then every 15/2 + 1 seconds.
		expect(goneAt(log, NAMESPACES)).toBe(15_000 + 6 * 8_000);
	});

	test("waits for Pods that are held by a finalizer, and deletes nothing else before", async () => {
		await demo("1s");
		const metadata = { name: "held", finalizers: ["example.com/f"] };
		await plane.client.create(PODS, "demo", {
			metadata,
			spec: { containers: CONTAINERS, terminationGracePeriodSeconds: 1 },
		});
		await remove();
		await plane.advance(90_000);
		expect([await count(PODS), await count(SERVICES)]).toEqual([1, 1]);
		const key = { namespace: "demo", name: "held" };
		await plane.client.patch(PODS, key, { type: "merge", body: { metadata: { finalizers: null } } });
		await plane.advance(10_000);
		expect([await count(PODS), await count(SERVICES)]).toEqual([0, 0]);
	});

	test("may hold finalizers of others, which stay", async () => {
		plane = await startTestPlane();
		const spec = { finalizers: ["example.com/f"] };
		await plane.client.create(NAMESPACES, "", { metadata: { name: "demo" }, spec });
		await remove();
		await plane.advance(60_000);
		const namespace = await plane.client.get(NAMESPACES, { namespace: "", name: "demo" });
		expect(namespace.spec?.finalizers).toEqual(["example.com/f"]);
	});

	const conditions = async (): Promise<readonly string[]> => {
		const namespace = await plane.client.get(NAMESPACES, { namespace: "", name: "demo" });
		return (namespace.status?.conditions ?? []).map(
			({ type, status, reason, message, lastTransitionTime }) =>
				`${type}=${status} ${reason}: ${message} (${lastTransitionTime?.slice(17, 19)})`,
		);
	};
	const Quiet = [
		"NamespaceDeletionDiscoveryFailure=False ResourcesDiscovered: All resources successfully discovered (05)",
		"NamespaceDeletionGroupVersionParsingFailure=False ParsedGroupVersions: All legacy kube types successfully parsed (05)",
		"NamespaceDeletionContentFailure=False ContentDeleted: All content successfully deleted, may be waiting on finalization (05)",
	];

	test("says in its conditions what is left, and what holds it", async () => {
		plane = await startTestPlane();
		await plane.client.create(NAMESPACES, "", { metadata: { name: "demo" } });
		const finalizers = ["a.b/c"];
		await plane.client.create(CONFIG_MAPS, "demo", { metadata: { name: "held", finalizers } });
		await plane.client.create(SERVICES, "demo", {
			metadata: { name: "held", finalizers },
			spec: { ports: [{ port: 80 }] },
		});
		await remove();
		expect(await conditions()).toEqual([]);
		await plane.advance(6_000);
		expect(await conditions()).toEqual([
			...Quiet,
			"NamespaceContentRemaining=True SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances, services. has 1 resource instances (05)",
			"NamespaceFinalizersRemaining=True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: a.b/c in 2 resource instances (05)",
		]);
		const patch = { type: "merge", body: { metadata: { finalizers: null } } } as const;
		await plane.client.patch(SERVICES, { namespace: "demo", name: "held" }, patch);
		await plane.advance(10_000);
		expect((await conditions()).slice(3)).toEqual([
			"NamespaceContentRemaining=True SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances (05)",
			"NamespaceFinalizersRemaining=True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: a.b/c in 1 resource instances (05)",
		]);
	});

	test("that is empty but held by others says that everything went", async () => {
		plane = await startTestPlane();
		await plane.client.create(NAMESPACES, "", { metadata: { name: "demo" }, spec: { finalizers: ["example.com/f"] } });
		await remove();
		await plane.advance(20_000);
		expect(await conditions()).toEqual([
			...Quiet,
			"NamespaceContentRemaining=False ContentRemoved: All content successfully removed (05)",
			"NamespaceFinalizersRemaining=False ContentHasNoFinalizers: All content-preserving finalizers finished (05)",
		]);
	});

	test("goes on where an earlier controller stopped", async () => {
		await demo("1s");
		await remove();
		await plane.stop();
		plane = await startTestPlane({ over: plane });
		await plane.advance(60_000);
		expect(plane.informers.of(NAMESPACES).get("demo")).toBeUndefined();
	});

	test("leaves the others alone", async () => {
		await demo("1s");
		await plane.client.create(PODS, "default", { metadata: { name: "mine" }, spec: { containers: CONTAINERS } });
		await remove();
		await plane.advance(60_000);
		expect(await count(PODS, "default")).toBe(1);
	});
});
