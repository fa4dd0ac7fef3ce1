import { afterEach, describe, expect, test } from "vitest";
import { DEPLOYMENTS, NODES, PODS } from "../api/resource-names.ts";
import type { Pod } from "../api/types/core.ts";
import { createPod, deploy, eventTexts, listed, patched } from "../testing/plane-steps.ts";
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

function patchNode(name: string, body: object): Promise<unknown> {
	return plane.client.patch(NODES, { namespace: "", name }, { type: "merge", body });
}

/** How many Pods each node has: `{n1: 2, n2: 1}`; those without one are under "". */
async function perNode(): Promise<Readonly<Record<string, number>>> {
	const counts: Record<string, number> = {};
	for (const { spec } of await listed(plane, PODS))
		counts[spec.nodeName ?? ""] = (counts[spec.nodeName ?? ""] ?? 0) + 1;
	return counts;
}

function scheduled(pod: Pod): unknown {
	return pod.status?.conditions?.find(({ type }) => type === "PodScheduled");
}

function get(name: string): Promise<Pod> {
	return plane.client.get(PODS, { namespace: "default", name });
}

describe("a Pod", () => {
	test("gets its node and PodScheduled in one write, and an Event", async () => {
		await started({ nodes: 1 });
		const log = new WatchLog(plane);
		await createPod(plane, "p");
		await plane.settle();
		const [, bound] = log.of<Pod>(PODS);
		expect(bound?.object.spec.nodeName).toBe("n1");
		expect(scheduled(await get("p"))).toEqual({
			type: "PodScheduled",
			status: "True",
			lastProbeTime: null,
			lastTransitionTime: "2026-01-01T00:00:00Z",
			observedGeneration: 1,
		});
		expect(await eventTexts(plane)).toEqual(["Normal Scheduled Successfully assigned default/p to n1"]);
	});

	test("waits behind its gates", async () => {
		await started();
		await createPod(plane, "p", { schedulingGates: [{ name: "example.com/gate" }] });
		await plane.advance(60_000);
		expect(await perNode()).toEqual({ "": 1 });
		expect(scheduled(await get("p"))).toMatchObject({ status: "False", reason: "SchedulingGated" });
		await patched(plane, PODS, "p", { spec: { schedulingGates: null } });
		await plane.settle();
		expect(await perNode()).toEqual({ n1: 1 });
	});

	test("of another scheduler is left alone", async () => {
		await started();
		await createPod(plane, "p", { schedulerName: "mine" });
		await plane.advance(60_000);
		expect(await perNode()).toEqual({ "": 1 });
		expect(await eventTexts(plane)).toEqual([]);
	});

	test("goes where its node selector says", async () => {
		await started({ zones: ["a", "b", "c"] });
		for (const name of ["p", "q"])
			await createPod(plane, name, { nodeSelector: { "topology.kubernetes.io/zone": "b" } });
		await plane.settle();
		expect(await perNode()).toEqual({ n2: 2 });
	});
});

describe("Pods of one workload", () => {
	test("are spread over the nodes, whatever else runs there", async () => {
		await started({ nodes: 3 });
		for (let i = 0; i < 10; i++) await createPod(plane, `other-${i}`, { nodeName: "n1" });
		await deploy(plane, "web", { replicas: 7 });
		await plane.settle();
		expect(await perNode()).toEqual({ n1: 12, n2: 3, n3: 2 });
	});

	test("are placed one after the other, each decision knowing those before it", async () => {
		await started({ nodes: 20 });
		await deploy(plane, "web", { replicas: 100 });
		await plane.settle();
		expect(new Set(Object.values(await perNode()))).toEqual(new Set([5]));
	});
});

describe("a full cluster", () => {
	test("takes 110 Pods a node, and says what is wrong with the next one", async () => {
		await started({ nodes: 1 });
		await deploy(plane, "web", { replicas: 111 });
		await plane.advance(10_000);
		expect(await perNode()).toEqual({ n1: 110, "": 1 });
		const message = "0/1 nodes are available: 1 Too many pods.";
		const [waiting] = (await listed(plane, PODS)).filter(({ spec }) => spec.nodeName === undefined);
		expect(waiting?.status?.phase).toBe("Pending");
		expect(waiting === undefined ? undefined : scheduled(waiting)).toMatchObject({
			status: "False",
			reason: "Unschedulable",
			message,
			lastTransitionTime: "2026-01-01T00:00:00Z",
			observedGeneration: 1,
		});
		expect(await eventTexts(plane, "Pod")).toContain(`Warning FailedScheduling ${message}`);
	});

	test.each<[string, () => Promise<unknown>]>([
		["a Pod is gone", () => plane.client.delete(PODS, { namespace: "default", name: "a" })],
		["a node may take more", () => patchNode("n1", { status: null, spec: { unschedulable: null } })],
		[
			"a node comes",
			() => plane.client.create(NODES, "", { metadata: { name: "n9" }, status: { allocatable: { pods: "5" } } }),
		],
	])("is tried again when %s", async (what, act) => {
		await started({ nodes: 1, maxPods: 1 });
		if (what === "a node may take more") await patchNode("n1", { spec: { unschedulable: true } });
		else await createPod(plane, "a");
		await createPod(plane, "b");
		await plane.advance(10_000);
		expect((await get("b")).spec.nodeName).toBeUndefined();
		await act();
		await plane.advance(10_000);
		expect((await get("b")).spec.nodeName).toMatch(/^n[19]$/);
		expect(scheduled(await get("b"))).toMatchObject({ status: "True" });
	});

	test("has room again when a Pod ends by itself", async () => {
		await started({ nodes: 1, maxPods: 1 });
		await createPod(plane, "a", { restartPolicy: "Never" }, { annotations: { "sliceplane.dev/exit-after": "20s" } });
		await createPod(plane, "b");
		await plane.advance(19_000);
		expect((await get("b")).spec.nodeName).toBeUndefined();
		await plane.advance(5_000);
		expect((await get("b")).spec.nodeName).toBe("n1");
	});

	test("still counts Pods that are being deleted", async () => {
		await started({ nodes: 1, maxPods: 1 });
		await createPod(plane, "a", {}, { annotations: { "sliceplane.dev/stop-time": "20s" } });
		await plane.advance(1_000);
		await plane.client.delete(PODS, { namespace: "default", name: "a" });
		await createPod(plane, "b");
		await plane.advance(19_000);
		expect((await get("b")).spec.nodeName).toBeUndefined();
		await plane.advance(5_000);
		expect((await get("b")).spec.nodeName).toBe("n1");
	});

	test("says the same thing once", async () => {
		await started({ nodes: 1, maxPods: 0 });
		const log = new WatchLog(plane);
		await createPod(plane, "a");
		for (let i = 0; i < 5; i++) {
			await plane.advance(1_000);
			await patchNode("n1", { spec: { taints: [{ key: "k", value: String(i), effect: "PreferNoSchedule" }] } });
		}
		await plane.settle();
		expect(log.of(PODS).map(({ type }) => type)).toEqual(["ADDED", "MODIFIED"]);
		expect(await eventTexts(plane)).toEqual(["Warning FailedScheduling 0/1 nodes are available: 1 Too many pods."]);
	});
});

describe("a Pod that asks for more than any node has left", () => {
	const requests = (cpu: string): Partial<Pod["spec"]> => ({
		containers: [{ name: "c", image: "app:1", resources: { requests: { cpu } } }],
	});
	const onPort: Partial<Pod["spec"]> = {
		containers: [{ name: "c", image: "app:1", ports: [{ containerPort: 80, hostPort: 80 }] }],
	};
	const onNode = (name: string): Partial<Pod["spec"]> => {
		const matchExpressions = [{ key: "kubernetes.io/hostname", operator: "In" as const, values: [name] }];
		const required = { nodeSelectorTerms: [{ matchExpressions }] };
		return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } };
	};

	test.each<[string, Partial<Pod["spec"]>, string]>([
		["of cpu", requests("5"), "2 Insufficient cpu"],
		["of its ports", onPort, "2 node(s) didn't have free ports for the requested pod ports"],
		[
			"of a node that has none left",
			{ ...requests("5"), ...onNode("n2") },
			"1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector",
		],
	])("waits until there is enough: %s", async (_, spec, why) => {
		await started({ nodes: 2 });
		for (const name of ["a", "b"]) await createPod(plane, name, { ...spec, affinity: {} });
		await createPod(plane, "c", spec);
		await plane.settle();
		expect(await perNode()).toEqual({ n1: 1, n2: 1, "": 1 });
		expect(scheduled(await get("c"))).toMatchObject({ message: `0/2 nodes are available: ${why}.` });
		await plane.client.delete(PODS, { namespace: "default", name: "b" });
		await plane.advance(40_000);
		expect((await get("c")).spec.nodeName).toBe("n2");
	});

	test("is tried again when a node gets the label that it insists on", async () => {
		await started({ nodes: 1 });
		await createPod(plane, "p", { nodeSelector: { disk: "ssd" } });
		await plane.settle();
		expect(await perNode()).toEqual({ "": 1 });
		await patchNode("n1", { metadata: { labels: { disk: "ssd" } } });
		await plane.settle();
		expect(await perNode()).toEqual({ n1: 1 });
	});
});

test("nodes that are cordoned or tainted take no new Pods, and keep those that they have", async () => {
	await started({ nodes: 3 });
	await deploy(plane, "web", { replicas: 3 });
	await plane.advance(2_000);
	await patchNode("n1", { spec: { unschedulable: true } });
	await patchNode("n2", { spec: { taints: [{ key: "k", value: "v", effect: "NoSchedule" }] } });
	await plane.settle();
	await deploy(plane, "api", { replicas: 4 });
	await plane.advance(2_000);
	expect(await perNode()).toEqual({ n1: 1, n2: 1, n3: 5 });
});

test("a plane without nodes says so", async () => {
	await started({ nodes: 0 });
	await createPod(plane, "p");
	await plane.settle();
	expect(scheduled(await get("p"))).toMatchObject({ message: "no nodes available to schedule pods" });
});

test("a scheduler that is started anew counts the Pods that are there", async () => {
	await started({ nodes: 2 });
	await deploy(plane, "web", { replicas: 3 });
	await plane.advance(2_000);
	await plane.stop();
	await started({ nodes: 2, over: plane });
	await patched(plane, DEPLOYMENTS, "web", { spec: { replicas: 6 } });
	await plane.advance(2_000);
	expect(await perNode()).toEqual({ n1: 3, n2: 3 });
});
