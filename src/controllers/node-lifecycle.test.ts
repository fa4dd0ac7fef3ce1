/** Nodes that fall silent, on a whole plane: what happens to them and to their Pods, and when. */
import { afterEach, describe, expect, test } from "vitest";
import { ENDPOINT_SLICES, LEASES, NODES, PODS, SERVICES } from "../api/resource-names.ts";
import type { Node, Pod } from "../api/types/core.ts";
import type { Condition } from "../api/types/meta.ts";
import { createPod, deploy, eventTexts, listed } from "../testing/plane-steps.ts";
import { startTestPlane, type TestPlane, type TestPlaneOptions } from "../testing/test-plane.ts";
import { WatchLog } from "../testing/watch-log.ts";

const planes: TestPlane[] = [];

async function started(options: TestPlaneOptions = {}): Promise<TestPlane> {
	const plane = await startTestPlane({ nodes: 2, ...options });
	planes.push(plane);
	return plane;
}

afterEach(async () => {
	const used = planes.splice(0);
	for (const plane of used) await plane.stop();
	expect(used.flatMap(({ warnings }) => warnings)).toEqual([]);
});

async function annotate(plane: TestPlane, name: string, failed: "true" | null): Promise<void> {
	const body = { metadata: { annotations: { "sliceplane.dev/failed": failed } } };
	await plane.client.patch(NODES, { namespace: "", name }, { type: "merge", body });
}
const fail = (plane: TestPlane, name: string): Promise<void> => annotate(plane, name, "true");
const recover = (plane: TestPlane, name: string): Promise<void> => annotate(plane, name, null);

const get = (plane: TestPlane, name: string): Promise<Node> => plane.client.get(NODES, { namespace: "", name });
const readyOf = ({ status }: Node | Pod): string | undefined =>
	status?.conditions?.find(({ type }) => type === "Ready")?.status;
const taintsOf = ({ spec }: Node): readonly string[] =>
	(spec?.taints ?? []).map(({ key, effect }) => `${key.replace("node.kubernetes.io/", "")}:${effect}`);

/** Pod `p` on node n2, up and ready. */
async function withPod(plane: TestPlane, spec: Partial<Pod["spec"]> = {}): Promise<void> {
	await createPod(plane, "p", { nodeName: "n2", ...spec }, { labels: { app: "web" } });
	await plane.advance(1_000);
}
const onlyPod = async (plane: TestPlane): Promise<Pod | undefined> => (await listed(plane, PODS))[0];

describe("heartbeats", () => {
	test("each node renews its own Lease every ten seconds, and writes nothing else", async () => {
		const plane = await started();
		await plane.advance(10_000);
		const log = new WatchLog(plane);
		await plane.advance(60_000);
		expect(
			log
				.of(LEASES)
				.map(({ key }) => key)
				.sort(),
		).toEqual([...Array(6).fill("kube-node-lease/n1"), ...Array(6).fill("kube-node-lease/n2")]);
		expect(log.of(NODES)).toEqual([]);
		const lease = await plane.client.get(LEASES, { namespace: "kube-node-lease", name: "n1" });
		expect(lease.spec).toMatchObject({ holderIdentity: "n1", leaseDurationSeconds: 40 });
		expect(lease.metadata.ownerReferences).toMatchObject([{ kind: "Node", name: "n1" }]);
	});

	test("come oftener when nodes are to be missed sooner", async () => {
		const plane = await started({ nodeMonitorGracePeriodMs: 5_000 });
		await plane.advance(60_000);
		expect(readyOf(await get(plane, "n1"))).toBe("True");
		await fail(plane, "n1");
		await plane.advance(6_000);
		expect(readyOf(await get(plane, "n1"))).toBe("Unknown");
	});

	test("a Lease that somebody deletes comes back", async () => {
		const plane = await started();
		await plane.advance(10_000);
		await plane.client.delete(LEASES, { namespace: "kube-node-lease", name: "n1" });
		await plane.advance(10_000);
		expect((await plane.client.list(LEASES, { namespace: "kube-node-lease" })).items).toHaveLength(2);
	});
});

describe("a node that falls silent", () => {
	test("is unknown after the grace period, tainted, and its Pods leave the slices", async () => {
		const plane = await started();
		await plane.client.create(SERVICES, "default", {
			metadata: { name: "web" },
			spec: { selector: { app: "web" }, ports: [{ port: 80 }] },
		});
		await withPod(plane);
		await plane.advance(20_000);
		await fail(plane, "n2");
		await plane.advance(38_000);
		expect(readyOf(await get(plane, "n2"))).toBe("True");
		await plane.advance(18_000);
		const node = await get(plane, "n2");
		expect(readyOf(node)).toBe("Unknown");
		expect(taintsOf(node)).toEqual(["unreachable:NoSchedule", "unreachable:NoExecute"]);
		expect(readyOf((await onlyPod(plane)) ?? node)).toBe("False");
		const slice = (await listed(plane, ENDPOINT_SLICES)).find(({ metadata }) => metadata.name.startsWith("web-"));
		expect(slice?.endpoints?.[0]?.conditions).toMatchObject({ ready: false, serving: false });
		expect(await eventTexts(plane, "Pod")).toContain("Warning NodeNotReady Node is not ready");
	});

	test("keeps its Pods for the 300 seconds that they tolerate, then they are deleted, and stay until it is back", async () => {
		const plane = await started();
		await withPod(plane);
		await fail(plane, "n2");
		await plane.advance(60_000);
		const taint = (await get(plane, "n2")).spec?.taints?.find(({ effect }) => effect === "NoExecute");
		const sinceMs = Date.parse(taint?.timeAdded ?? "");
		await plane.advance(sinceMs + 299_000 - plane.clock.wallMs());
		expect((await onlyPod(plane))?.metadata.deletionTimestamp).toBeUndefined();
		await plane.advance(2_000);
		expect((await onlyPod(plane))?.metadata.deletionTimestamp).toBeDefined();
		expect((await onlyPod(plane))?.status?.conditions).toContainEqual(
			expect.objectContaining({ type: "DisruptionTarget", reason: "DeletionByTaintManager" }),
		);
		await plane.advance(600_000);
		expect(await listed(plane, PODS)).toHaveLength(1);
		await recover(plane, "n2");
		await plane.advance(1_000);
		expect(await listed(plane, PODS)).toEqual([]);
	});

	test("loses Pods that do not tolerate it at once, and a Deployment replaces them elsewhere", async () => {
		const plane = await started();
		const tolerations = ["not-ready", "unreachable"].map((name) => ({
			key: `node.kubernetes.io/${name}`,
			operator: "Exists" as const,
			effect: "NoExecute",
			tolerationSeconds: 0,
		}));
		const template = {
			metadata: { labels: { app: "web" } },
			spec: { containers: [{ name: "c", image: "app:1" }], tolerations },
		};
		await deploy(plane, "web", { replicas: 2, template });
		await plane.advance(5_000);
		await fail(plane, "n2");
		await plane.advance(70_000);
		const running = (await listed(plane, PODS)).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
		expect(running.map(({ spec }) => spec.nodeName)).toEqual(["n1", "n1"]);
		expect(running.map(readyOf)).toEqual(["True", "True"]);
	});

	test("comes back as it was: ready, without taints, with its Pods", async () => {
		const plane = await started();
		await withPod(plane);
		await fail(plane, "n2");
		await plane.advance(100_000);
		await recover(plane, "n2");
		await plane.advance(1_000);
		const node = await get(plane, "n2");
		expect([readyOf(node), taintsOf(node)]).toEqual(["True", []]);
		expect(readyOf((await onlyPod(plane)) ?? node)).toBe("True");
		await plane.advance(600_000);
		expect(readyOf(await get(plane, "n2"))).toBe("True");
		expect(await listed(plane, PODS)).toHaveLength(1);
	});

	test("does nothing for Pods that come to it, until it is back", async () => {
		const plane = await started();
		await fail(plane, "n2");
		await withPod(plane);
		expect((await onlyPod(plane))?.status?.phase).toBe("Pending");
		await recover(plane, "n2");
		await plane.advance(1_000);
		expect((await onlyPod(plane))?.status?.phase).toBe("Running");
	});

	test("does not drive Pods away when no node is left", async () => {
		const plane = await started();
		await withPod(plane);
		await Promise.all([fail(plane, "n1"), fail(plane, "n2")]);
		await plane.advance(900_000);
		expect(taintsOf(await get(plane, "n2"))).toEqual(["unreachable:NoSchedule"]);
		expect((await onlyPod(plane))?.metadata.deletionTimestamp).toBeUndefined();
	});

	test("is said to be cordoned by a taint, and no longer when it is not", async () => {
		const plane = await started();
		const cordon = async (unschedulable: boolean | null): Promise<readonly string[]> => {
			const patch = { type: "merge", body: { spec: { unschedulable } } } as const;
			await plane.client.patch(NODES, { namespace: "", name: "n1" }, patch);
			await plane.settle();
			return taintsOf(await get(plane, "n1"));
		};
		expect([await cordon(true), await cordon(null)]).toEqual([["unschedulable:NoSchedule"], []]);
	});
});

describe("a Node that is deleted", () => {
	test("takes its Pods with it: failed first, then gone, 40 to 60 seconds later", async () => {
		const plane = await started();
		await withPod(plane);
		const log = new WatchLog(plane);
		await plane.client.delete(NODES, { namespace: "", name: "n2" });
		await plane.advance(39_000);
		expect(await listed(plane, PODS)).toHaveLength(1);
		await plane.advance(22_000);
		expect(await listed(plane, PODS)).toEqual([]);
		const states = log.of<Pod>(PODS).map(({ type, object }) => `${type} ${object.status?.phase}`);
		expect(states).toEqual(["MODIFIED Failed", "DELETED Failed"]);
		expect(await plane.client.list(LEASES, { namespace: "kube-node-lease" })).toMatchObject({
			items: [{ metadata: { name: "n1" } }],
		});
	});

	test("and made again soon enough keeps them", async () => {
		const plane = await started();
		await withPod(plane);
		const { status } = await get(plane, "n2");
		await plane.client.delete(NODES, { namespace: "", name: "n2" });
		await plane.advance(10_000);
		await plane.client.create(NODES, "", { metadata: { name: "n2" }, ...(status === undefined ? {} : { status }) });
		await plane.advance(120_000);
		expect(await listed(plane, PODS)).toHaveLength(1);
	});
});

describe("a node that somebody made by hand", () => {
	const ready: { readonly conditions: readonly Condition[] } = {
		conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }],
	};

	async function handMade(status?: object): Promise<TestPlane> {
		const plane = await started({ nodes: 1 });
		await plane.client.create(NODES, "", { metadata: { name: "by-hand" }, ...(status && { status }) });
		const pod = await createPod(plane, "p", { nodeName: "by-hand" });
		await plane.client.update(PODS, { ...pod, status: { phase: "Running", ...ready } }, { subresource: "status" });
		await plane.advance(300_000);
		return plane;
	}

	test.each([{ status: undefined }, { status: ready }])("is never missed: $status", async ({ status }) => {
		const plane = await handMade(status);
		const node = await get(plane, "by-hand");
		expect([readyOf(node), taintsOf(node)]).toEqual([status && "True", []]);
		expect((await onlyPod(plane))?.status?.conditions).toMatchObject(ready.conditions);
	});

	test("takes its Pods out of service when it is said to be not ready", async () => {
		const plane = await handMade(ready);
		const node = await get(plane, "by-hand");
		const conditions = [{ ...ready.conditions[0], status: "False" }];
		await plane.client.update(NODES, { ...node, status: { conditions } } as Node, { subresource: "status" });
		await plane.advance(1_000);
		const pod = await onlyPod(plane);
		expect(pod && readyOf(pod)).toBe("False");
	});
});
