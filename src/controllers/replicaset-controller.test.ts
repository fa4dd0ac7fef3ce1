import { afterEach, describe, expect, test } from "vitest";
import { PODS, REPLICA_SETS } from "../api/resource-names.ts";
import { forbiddenFor } from "../api/status.ts";
import type { ReplicaSet } from "../api/types/apps.ts";
import type { Pod } from "../api/types/core.ts";
import { type ClientCall, FaultyClient } from "../testing/faulty-client.ts";
import { createPod, eventTexts, listed, patched } from "../testing/plane-steps.ts";
import { startTestPlane, type TestPlane, type TestPlaneOptions } from "../testing/test-plane.ts";
import { WatchLog } from "../testing/watch-log.ts";
import { template } from "../testing/workloads.ts";

let plane: TestPlane;

afterEach(() => plane.stop());

const LABELS = { app: "web" };

async function started(options: TestPlaneOptions = {}): Promise<TestPlane> {
	plane = await startTestPlane(options);
	return plane;
}

function create(spec: Partial<ReplicaSet["spec"]>): Promise<ReplicaSet> {
	return plane.client.create(REPLICA_SETS, "default", {
		metadata: { name: "web" },
		spec: { selector: { matchLabels: LABELS }, template: template(), ...spec },
	});
}

function web(): Promise<ReplicaSet> {
	return plane.client.get(REPLICA_SETS, { namespace: "default", name: "web" });
}

async function names(): Promise<readonly string[]> {
	return (await listed(plane, PODS)).map(({ metadata }) => metadata.name);
}

/** ReplicaSet `web` of so many ready Pods. */
async function running(replicas: number, spec: Partial<ReplicaSet["spec"]> = {}): Promise<readonly Pod[]> {
	await create({ replicas, ...spec });
	await plane.advance(2_000);
	const pods = await listed(plane, PODS);
	expect(pods).toHaveLength(replicas);
	return pods;
}

describe("a ReplicaSet", () => {
	test("makes as many Pods as it wants, and counts them", async () => {
		await started();
		const pods = await running(3);
		for (const { metadata } of pods) {
			expect(metadata.name).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
			expect(metadata.generateName).toBe("web-");
			expect(metadata.labels).toMatchObject(LABELS);
			expect(metadata.ownerReferences).toMatchObject([{ kind: "ReplicaSet", name: "web", controller: true }]);
		}
		expect((await web()).status).toEqual({
			replicas: 3,
			fullyLabeledReplicas: 3,
			readyReplicas: 3,
			availableReplicas: 3,
			terminatingReplicas: 0,
			observedGeneration: 1,
		});
		const texts = pods.map(({ metadata }) => `Normal SuccessfulCreate Created pod: ${metadata.name}`);
		expect([...(await eventTexts(plane, "ReplicaSet"))].sort()).toEqual(texts.sort());
		expect(plane.warnings).toEqual([]);
	});

	test("makes each Pod once, though it is called while its cache is behind", async () => {
		await started();
		const log = new WatchLog(plane);
		await running(70);
		const added = log.of(PODS).filter(({ type }) => type === "ADDED");
		expect(added).toHaveLength(70);
	});

	test("gives up the surplus, and tells which", async () => {
		await started();
		await running(3);
		await patched(plane, REPLICA_SETS, "web", { spec: { replicas: 1 } });
		await plane.settle();
		expect((await web()).status).toMatchObject({ replicas: 1, terminatingReplicas: 2, observedGeneration: 2 });
		await plane.advance(5_000);
		expect((await web()).status).toMatchObject({ replicas: 1, terminatingReplicas: 0 });
		const deletes = (await eventTexts(plane, "ReplicaSet")).filter((text) => text.includes("SuccessfulDelete"));
		expect(deletes).toHaveLength(2);
		expect(deletes[0]).toMatch(/^Normal SuccessfulDelete Deleted pod: web-.{5}$/);
	});

	test("gives up Pods on the fuller node first", async () => {
		await started({ nodes: 2 });
		for (const [index, nodeName] of ["n1", "n2", "n2", "n2"].entries()) {
			await createPod(plane, `p${index}`, { nodeName }, { labels: LABELS });
		}
		await create({ replicas: 4 });
		await plane.advance(5_000);
		await patched(plane, REPLICA_SETS, "web", { spec: { replicas: 1 } });
		await plane.advance(60_000);
		expect(await names()).toEqual(["p0"]);
	});

	test("replaces a Pod as soon as it is being deleted", async () => {
		await started();
		const [first] = await running(1);
		await plane.client.delete(PODS, { namespace: "default", name: first?.metadata.name ?? "" });
		await plane.settle();
		expect(await names()).toHaveLength(2);
		await plane.advance(5_000);
		expect(await names()).toHaveLength(1);
		expect(await names()).not.toContain(first?.metadata.name);
	});

	test("neither counts nor deletes Pods that have ended", async () => {
		await started();
		const [first] = await running(1);
		const status = { status: { phase: "Failed" } };
		const key = { namespace: "default", name: first?.metadata.name ?? "" };
		await plane.client.patch(PODS, key, { type: "merge", body: status }, { subresource: "status" });
		await plane.advance(5_000);
		expect(await names()).toHaveLength(2);
		expect(await names()).toContain(first?.metadata.name);
		expect((await web()).status).toMatchObject({ replicas: 1, terminatingReplicas: 0 });
	});

	test("counts a Pod as available after minReadySeconds, by time alone", async () => {
		await started();
		await create({ replicas: 1, minReadySeconds: 10 });
		await plane.advance(9_900);
		expect((await web()).status?.availableReplicas).toBeUndefined();
		await plane.advance(300);
		expect((await web()).status?.availableReplicas).toBe(1);
	});

	test("makes and deletes nothing while it is being deleted", async () => {
		await started({ controllers: ["*", "-garbage-collector-controller"] });
		const [first] = await running(2);
		await plane.client.delete(REPLICA_SETS, { namespace: "default", name: "web" }, { propagationPolicy: "Foreground" });
		await plane.client.delete(PODS, { namespace: "default", name: first?.metadata.name ?? "" });
		await plane.advance(60_000);
		expect(await names()).toHaveLength(1);
		expect((await web()).status?.replicas).toBe(1);
	});
});

describe("Pods", () => {
	test("without an owner that match are taken over", async () => {
		await started();
		const mine = await createPod(plane, "mine", {}, { labels: LABELS });
		await createPod(plane, "other", {}, { labels: { app: "other" } });
		await create({ replicas: 2 });
		await plane.advance(2_000);
		expect(await names()).toHaveLength(3);
		const { metadata } = await plane.client.get(PODS, { namespace: "default", name: "mine" });
		expect(metadata.uid).toBe(mine.metadata.uid);
		expect(metadata.ownerReferences).toMatchObject([
			{ kind: "ReplicaSet", name: "web", controller: true, blockOwnerDeletion: true },
		]);
	});

	test("that come to match later are taken over, and one is too many", async () => {
		await started();
		await running(1);
		await createPod(plane, "late", {}, { labels: LABELS });
		await plane.advance(60_000);
		expect(await names()).toHaveLength(1);
	});

	test("that no longer match are let go, and replaced", async () => {
		await started();
		const [first] = await running(1);
		const name = first?.metadata.name ?? "";
		await patched(plane, PODS, name, { metadata: { labels: { app: "debug" } } });
		await plane.advance(2_000);
		expect(await names()).toHaveLength(2);
		const released = await plane.client.get(PODS, { namespace: "default", name });
		expect(released.metadata.ownerReferences).toBeUndefined();
		expect(released.metadata.deletionTimestamp).toBeUndefined();
		expect((await web()).status).toMatchObject({ replicas: 1, readyReplicas: 1 });
	});

	test("of a ReplicaSet that orphans them are not taken back by it", async () => {
		await started();
		await running(2);
		await plane.client.delete(REPLICA_SETS, { namespace: "default", name: "web" }, { propagationPolicy: "Orphan" });
		await plane.advance(60_000);
		expect(await listed(plane, REPLICA_SETS)).toEqual([]);
		const pods = await listed(plane, PODS);
		expect(pods.map(({ metadata }) => metadata.ownerReferences)).toEqual([undefined, undefined]);
	});
});

describe("refused Pods", () => {
	/** A plane that takes `accepted` Pods, and then no more; writes down every try. */
	async function refusing(accepted: { left: number }): Promise<readonly ClientCall[]> {
		const tries: ClientCall[] = [];
		await started({
			wrapClient: (client) =>
				new FaultyClient(client, {
					async call(about, send) {
						if (about.verb !== "create" || about.resource !== PODS) return send();
						tries.push(about);
						if (accepted.left-- <= 0) throw forbiddenFor(PODS, "x", "exceeded quota");
						return send();
					},
				}),
		});
		return tries;
	}

	test("are asked for in batches of 1, 2, 4, and one at a time after the first refusal", async () => {
		const tries = await refusing({ left: 3 });
		await create({ replicas: 200 });
		await plane.settle();
		expect(tries.length).toBeGreaterThanOrEqual(1 + 2 + 4);
		const before = tries.length;
		// Back-off from 5 ms, doubled each time: 11 tries in 12 seconds, and a few for events.
		await plane.advance(12_000);
		expect(tries.length - before).toBeLessThan(20);
		expect(await names()).toHaveLength(3);
	});

	test("are told as an Event and a condition, until they are accepted", async () => {
		const accepted = { left: 0 };
		await refusing(accepted);
		await create({ replicas: 2 });
		await plane.settle();
		const why = 'pods "x" is forbidden: exceeded quota';
		expect((await web()).status?.conditions).toMatchObject([
			{ type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: why },
		]);
		expect(await eventTexts(plane)).toEqual([`Warning FailedCreate Error creating: ${why} (x2)`]);
		accepted.left = 9;
		await plane.advance(5_000);
		expect((await web()).status).toMatchObject({ replicas: 2, readyReplicas: 2 });
		expect((await web()).status?.conditions).toBeUndefined();
	});
});
