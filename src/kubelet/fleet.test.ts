import { afterEach, describe, expect, test } from "vitest";
import { NODES, PODS } from "../api/resource-names.ts";
import type { Pod } from "../api/types/core.ts";
import { createPod, eventTexts, listed, patched, podEventText } from "../testing/plane-steps.ts";
import { startTestPlane, type TestPlane, type TestPlaneOptions } from "../testing/test-plane.ts";
import { WatchLog } from "../testing/watch-log.ts";

const planes: TestPlane[] = [];

async function started(options: TestPlaneOptions = {}): Promise<TestPlane> {
	const plane = await startTestPlane({ nodes: 1, controllers: ["scheduler"], ...options });
	planes.push(plane);
	return plane;
}

afterEach(async () => {
	const used = planes.splice(0);
	for (const plane of used) await plane.stop();
	expect(used.flatMap(({ warnings }) => warnings)).toEqual([]);
});

const DEFAULT = "default";

function get(plane: TestPlane, name: string): Promise<Pod> {
	return plane.client.get(PODS, { namespace: DEFAULT, name });
}

function remove(plane: TestPlane, name: string, gracePeriodSeconds?: number): Promise<unknown> {
	const options = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
	return plane.client.delete(PODS, { namespace: DEFAULT, name }, options);
}

async function addresses(plane: TestPlane): Promise<readonly string[]> {
	const pods = await listed(plane, PODS);
	return pods.map(({ metadata, status }) => `${metadata.name}=${status?.podIP ?? "-"}`);
}

function annotated(annotations: Readonly<Record<string, string>>): { annotations: Record<string, string> } {
	const entries = Object.entries(annotations).map(([name, text]) => [`sliceplane.dev/${name}`, text]);
	return { annotations: Object.fromEntries(entries) };
}

/** What a watcher sees of one Pod, from its creation on, with each step of the test at its time. */
async function watched(
	metadata: Readonly<Record<string, string>>,
	spec: Partial<Pod["spec"]>,
	...steps: readonly (readonly [waitMs: number, act?: (plane: TestPlane) => Promise<unknown>])[]
): Promise<readonly string[]> {
	const plane = await started();
	const log = new WatchLog(plane);
	await createPod(plane, "p", spec, annotated(metadata));
	for (const [waitMs, act] of steps) {
		await plane.advance(waitMs);
		await act?.(plane);
	}
	await plane.settle();
	return log.of<Pod>(PODS, "default/p").map(podEventText);
}

describe("a Pod from creation to Ready", () => {
	const Up = ["+0 ADDED Pending", "+0 MODIFIED Pending", "+0 MODIFIED Pending"];

	test("is bound, seen by its node, and runs ready, in one write each", async () => {
		expect(await watched({}, {}, [5_000])).toEqual([...Up, "+100 MODIFIED Running 10.244.0.2 Ready"]);
	});

	test("becomes ready in a write of its own when its probe comes later", async () => {
		const containers = [
			{ name: "c", image: "app:1", readinessProbe: { tcpSocket: { port: 80 }, initialDelaySeconds: 3 } },
		];
		expect(await watched({}, { containers }, [5_000])).toEqual([
			...Up,
			"+100 MODIFIED Running 10.244.0.2",
			"+3100 MODIFIED Running 10.244.0.2 Ready",
		]);
	});

	test("takes the times of its annotations", async () => {
		expect(await watched({ "startup-time": "2s", "ready-after": "500ms" }, {}, [9_000])).toEqual([
			...Up,
			"+2000 MODIFIED Running 10.244.0.2",
			"+2500 MODIFIED Running 10.244.0.2 Ready",
		]);
	});

	test("ends by itself when told so, and stays", async () => {
		expect(await watched({ "exit-after": "4s" }, { restartPolicy: "Never" }, [60_000])).toEqual([
			...Up,
			"+100 MODIFIED Running 10.244.0.2 Ready",
			"+4100 MODIFIED Succeeded 10.244.0.2",
		]);
	});

	test("says what it cannot read in its annotations", async () => {
		const plane = await started();
		await createPod(plane, "p", {}, annotated({ "stop-time": "soon" }));
		await plane.advance(1_000);
		expect(await eventTexts(plane)).toContain(
			'Warning InvalidAnnotation annotation sliceplane.dev/stop-time: "soon": want a duration such as "300ms" or "1m30s"',
		);
	});

	test("is Ready once its readiness gates are, which others open", async () => {
		const plane = await started();
		await createPod(plane, "p", { readinessGates: [{ conditionType: "example.com/lb" }] });
		await plane.advance(1_000);
		const ready = async (): Promise<string | undefined> =>
			(await get(plane, "p")).status?.conditions?.find(({ type }) => type === "Ready")?.status;
		expect(await ready()).toBe("False");
		const body = { status: { conditions: [{ type: "example.com/lb", status: "True" }] } };
		const patch = { type: "strategic", body } as const;
		await plane.client.patch(PODS, { namespace: DEFAULT, name: "p" }, patch, { subresource: "status" });
		await plane.settle();
		expect(await ready()).toBe("True");
	});
});

describe("a Pod that is deleted", () => {
	const Running = "+100 MODIFIED Running 10.244.0.2 Ready";
	const Stopping = (until: string, atMs = 10_000): string =>
		`+${atMs} MODIFIED Running 10.244.0.2 Ready until ${until}`;

	/** Everything after the Pod was first Ready. */
	async function endOf(...parameters: Parameters<typeof watched>): Promise<readonly string[]> {
		const events = await watched(...parameters);
		return events.slice(events.indexOf(Running) + 1);
	}

	test("stays ready until its processes end, tells how they ended, and goes", async () => {
		expect(await endOf({}, {}, [10_000, (plane) => remove(plane, "p")], [60_000])).toEqual([
			Stopping("00:40"), // The DELETE: the deadline, not the time of the request.
			Stopping("00:40"), // Its node has seen the new generation.
			"+11000 MODIFIED Succeeded 10.244.0.2 until 00:40",
			"+11000 DELETED Succeeded 10.244.0.2 until 00:11",
		]);
	});

	test("may fail its probe first", async () => {
		const metadata = { "unready-after": "2s", "stop-time": "5s" };
		expect(await endOf(metadata, {}, [10_000, (plane) => remove(plane, "p")], [60_000])).toEqual([
			Stopping("00:40"),
			Stopping("00:40"),
			"+12000 MODIFIED Running 10.244.0.2 until 00:40",
			"+15000 MODIFIED Succeeded 10.244.0.2 until 00:40",
			"+15000 DELETED Succeeded 10.244.0.2 until 00:15",
		]);
	});

	test("is killed at its deadline when it ignores SIGTERM", async () => {
		const spec = {
			containers: [{ name: "c", image: "app:1", command: ["/bin/sleep", "9999"] }],
			terminationGracePeriodSeconds: 7,
		};
		expect(await endOf({}, spec, [10_000, (plane) => remove(plane, "p")], [60_000])).toEqual([
			Stopping("00:17"),
			Stopping("00:17"),
			"+17000 MODIFIED Failed 10.244.0.2 until 00:17",
			"+17000 DELETED Failed 10.244.0.2 until 00:17",
		]);
	});

	test("ends sooner when a second DELETE says so", async () => {
		const second = (plane: TestPlane): Promise<unknown> => remove(plane, "p", 5);
		expect(
			await endOf({ "stop-time": "1h" }, {}, [10_000, (plane) => remove(plane, "p")], [2_000, second], [60_000]),
		).toEqual([
			Stopping("00:40"),
			Stopping("00:40"),
			Stopping("00:15", 12_000),
			"+15000 MODIFIED Failed 10.244.0.2 until 00:15",
			"+15000 DELETED Failed 10.244.0.2 until 00:15",
		]);
	});

	test("does not end later when a second DELETE asks for more", async () => {
		const second = (plane: TestPlane): Promise<unknown> => remove(plane, "p", 600);
		const events = await endOf(
			{ "stop-time": "1h" },
			{},
			[10_000, (plane) => remove(plane, "p")],
			[2_000, second],
			[60_000],
		);
		expect(events.at(-1)).toBe("+40000 DELETED Failed 10.244.0.2 until 00:40");
	});

	test("is gone at once by force, and its address is free", async () => {
		const events = await endOf({}, {}, [10_000, (plane) => remove(plane, "p", 0)], [60_000]);
		expect(events).toEqual(["+10000 DELETED Running 10.244.0.2 Ready until 00:10"]);
	});

	test("is gone at once when no node has it", async () => {
		const plane = await started({ nodes: 0 });
		const log = new WatchLog(plane);
		await createPod(plane, "p");
		await plane.advance(1_000);
		await remove(plane, "p");
		expect(log.of<Pod>(PODS, "default/p").at(-1)?.type).toBe("DELETED");
	});

	test("before it ran never runs", async () => {
		const events = await watched({ "startup-time": "5s" }, {}, [1_000, (plane) => remove(plane, "p")], [60_000]);
		expect(events.slice(-2)).toEqual(["+1000 MODIFIED Failed until 00:31", "+1000 DELETED Failed until 00:01"]);
	});

	test("stays with a finalizer, ended, until that is gone", async () => {
		const plane = await started();
		await createPod(plane, "p", {}, { finalizers: ["example.com/f"] });
		await plane.advance(1_000);
		await remove(plane, "p");
		await plane.advance(60_000);
		expect(await get(plane, "p")).toMatchObject({
			status: { phase: "Succeeded" },
			metadata: { deletionGracePeriodSeconds: 0 },
		});
		await patched(plane, PODS, "p", { metadata: { finalizers: null } });
		expect(await listed(plane, PODS)).toEqual([]);
	});
});

describe("addresses of Pods", () => {
	test("are of both families on a node that has both, the primary one first", async () => {
		const plane = await started({ clusterCIDRs: ["fd00:244::/56", "10.244.0.0/16"] });
		await createPod(plane, "p");
		await plane.advance(1_000);
		expect((await get(plane, "p")).status).toMatchObject({
			podIP: "fd00:244::2",
			podIPs: [{ ip: "fd00:244::2" }, { ip: "10.244.0.2" }],
			hostIPs: [{ ip: "fd00:192:168::1" }, { ip: "192.168.0.1" }],
		});
	});

	test("are the node's for a Pod in the host's network", async () => {
		const plane = await started();
		await createPod(plane, "host", { hostNetwork: true });
		await createPod(plane, "pod");
		await plane.advance(1_000);
		expect(await addresses(plane)).toEqual(["host=192.168.0.1", "pod=10.244.0.2"]);
		await remove(plane, "host");
		await plane.advance(60_000);
		await createPod(plane, "host-again", { hostNetwork: true });
		await plane.advance(1_000);
		expect(await addresses(plane)).toEqual(["host-again=192.168.0.1", "pod=10.244.0.2"]);
	});

	test("are free once the Pod has ended, though it still tells the one that it had", async () => {
		const plane = await started({ clusterCIDRs: ["10.244.0.0/29"], nodeCIDRMaskSizes: [29, 64] });
		await createPod(plane, "done", { restartPolicy: "Never" }, annotated({ "exit-after": "1s" }));
		await plane.advance(5_000);
		for (const name of ["a", "b", "c", "d", "e"]) await createPod(plane, name);
		await plane.advance(1_000);
		expect(await addresses(plane)).toEqual([
			"a=10.244.0.3",
			"b=10.244.0.4",
			"c=10.244.0.5",
			"d=10.244.0.6",
			"done=10.244.0.2",
			"e=10.244.0.2",
		]);
	});

	test("are waited for when the node has none, and a Warning says so", async () => {
		const plane = await started({ clusterCIDRs: ["10.244.0.0/30"], nodeCIDRMaskSizes: [30, 64] });
		await createPod(plane, "first");
		await plane.advance(1_000);
		await createPod(plane, "second");
		await plane.advance(10_000);
		expect(await addresses(plane)).toEqual(["first=10.244.0.2", "second=-"]);
		expect((await get(plane, "second")).status?.phase).toBe("Pending");
		expect(await eventTexts(plane)).toContain("Warning FailedCreatePodSandBox no free address in the range of node n1");
		await remove(plane, "first");
		await plane.advance(5_000);
		expect(await addresses(plane)).toEqual(["second=10.244.0.2"]);
	});

	test("are given up by a Pod that is deleted while it waits for one", async () => {
		const plane = await started({ clusterCIDRs: ["10.244.0.0/30"], nodeCIDRMaskSizes: [30, 64] });
		for (const name of ["first", "second", "third"]) await createPod(plane, name);
		await plane.advance(1_000);
		await remove(plane, "second");
		await remove(plane, "first");
		await plane.advance(5_000);
		expect(await addresses(plane)).toEqual(["third=10.244.0.2"]);
	});

	test("are unique among many Pods that come and go", async () => {
		const plane = await started({ nodes: 2, clusterCIDRs: ["10.244.0.0/26"], nodeCIDRMaskSizes: [28, 64] });
		for (let round = 0; round < 6; round++) {
			for (let i = 0; i < 15; i++) await createPod(plane, `p${round}-${i}`);
			await plane.advance(500);
			const pods = (await listed(plane, PODS)).filter(({ status }) => status?.phase === "Running");
			expect(new Set(pods.map(({ status }) => status?.podIP)).size).toBe(pods.length);
			expect(pods.length).toBeGreaterThan(14);
			for (const { metadata } of pods) await remove(plane, metadata.name);
			await plane.advance(700);
		}
	});
});

describe("a fleet that is started anew", () => {
	test("writes nothing about Pods that are as they should be, and they keep their addresses", async () => {
		const first = await started({ nodes: 2 });
		for (const name of ["c", "b", "a"]) {
			await createPod(first, name, {}, annotated({ "ready-after": "1s" }));
			await first.advance(333);
		}
		await first.advance(5_000);
		const before = await listed(first, PODS);
		await first.stop();
		const second = await started({ nodes: 2, over: first });
		await second.advance(60_000);
		expect(await listed(second, PODS)).toEqual(before);
	});

	test("gives new Pods only addresses that no Pod has, in whatever order it sees them", async () => {
		const first = await started();
		for (const name of ["x", "y", "z"]) await createPod(first, name);
		await first.advance(1_000);
		await first.stop();
		const between = await started({ nodes: 0, over: first });
		for (const name of ["a", "b"]) await createPod(between, name, { nodeName: "n1" });
		await between.stop();
		const second = await started({ over: first });
		await second.advance(1_000);
		const all = (await addresses(second)).map((text) => text.split("=")[1]);
		expect(new Set(all).size).toBe(5);
		expect((await addresses(second)).slice(2)).toEqual(["x=10.244.0.2", "y=10.244.0.3", "z=10.244.0.4"]);
	});

	test("ends Pods whose deadline passed meanwhile, and removes those that had ended already", async () => {
		const first = await started();
		await createPod(first, "slow", {}, annotated({ "stop-time": "1h" }));
		await createPod(first, "held", {}, { ...annotated({}), finalizers: ["example.com/f"] });
		await first.advance(1_000);
		await remove(first, "slow");
		await remove(first, "held");
		await first.advance(2_000);
		await first.stop();
		await first.advance(300_000);
		await patched(first, PODS, "held", { metadata: { finalizers: null } });
		const second = await started({ over: first });
		await second.advance(2_000);
		expect(await listed(second, PODS)).toEqual([]);
	});
});

test("a fleet makes the Nodes that are not there, and leaves those that are", async () => {
	const first = await started({ nodes: 1 });
	await first.client.patch(
		NODES,
		{ namespace: "", name: "n1" },
		{ type: "merge", body: { metadata: { labels: { mine: "1" } } } },
	);
	await first.stop();
	const second = await started({ nodes: 2, over: first });
	const { items } = await second.client.list(NODES, {});
	expect(items.map(({ metadata }) => `${metadata.name} ${metadata.labels?.["mine"]}`)).toEqual([
		"n1 1",
		"n2 undefined",
	]);
});
