import { afterEach, describe, expect, test } from "vitest";
import { DEPLOYMENTS, PODS, REPLICA_SETS } from "../api/resource-names.ts";
import { forbiddenFor } from "../api/status.ts";
import type { Deployment, ReplicaSet } from "../api/types/apps.ts";
import type { Pod } from "../api/types/core.ts";
import { isReady } from "../plan/pod-facts.ts";
import { newReplicaSet } from "../plan/workloads/deployment-replica-sets.ts";
import { isActive } from "../plan/workloads/pod-state.ts";
import { rollingNumbers } from "../plan/workloads/rolling-numbers.ts";
import { FaultyClient } from "../testing/faulty-client.ts";
import { deploy, eventTexts, listed, patched } from "../testing/plane-steps.ts";
import { startTestPlane, type TestPlane, type TestPlaneOptions } from "../testing/test-plane.ts";
import { WatchLog } from "../testing/watch-log.ts";
import { template } from "../testing/workloads.ts";

let plane: TestPlane;

afterEach(() => plane.stop());

async function started(options: TestPlaneOptions = {}): Promise<TestPlane> {
	plane = await startTestPlane(options);
	return plane;
}

function web(): Promise<Deployment> {
	return plane.client.get(DEPLOYMENTS, { namespace: "default", name: "web" });
}

function image(text: string): object {
	return { spec: { template: { spec: { containers: [{ name: "c", image: text }] } } } };
}

/** Deployment `web` with every Pod ready. */
async function running(spec: Partial<Deployment["spec"]>): Promise<void> {
	await deploy(plane, "web", spec);
	await plane.advance(5_000);
	expect((await web()).status?.availableReplicas).toBe(spec.replicas);
}

function shown({ status }: Deployment): readonly string[] {
	return (status?.conditions ?? []).map(({ type, reason }) => `${type} ${reason}`);
}

describe("a new Deployment", () => {
	test("gets a ReplicaSet, Pods, a revision and a status, and keeps the generation that its user made", async () => {
		await started();
		await running({ replicas: 3 });
		const { metadata, status } = await web();
		expect(metadata).toMatchObject({ generation: 1, annotations: { "deployment.kubernetes.io/revision": "1" } });
		expect(status).toMatchObject({
			observedGeneration: 1,
			replicas: 3,
			updatedReplicas: 3,
			readyReplicas: 3,
			availableReplicas: 3,
			terminatingReplicas: 0,
		});
		expect(status?.unavailableReplicas).toBeUndefined();
		expect(shown(await web())).toEqual(["Available MinimumReplicasAvailable", "Progressing NewReplicaSetAvailable"]);
		const [set] = await listed(plane, REPLICA_SETS);
		expect(await eventTexts(plane, "Deployment")).toEqual([
			`Normal ScalingReplicaSet Scaled up replica set ${set?.metadata.name} from 0 to 3`,
		]);
		expect(plane.warnings).toEqual([]);
	});

	test("is complete at once when it wants no Pods", async () => {
		await started();
		await deploy(plane, "web", { replicas: 0 });
		await plane.settle();
		expect(shown(await web())).toContain("Progressing NewReplicaSetAvailable");
		expect(await eventTexts(plane)).toEqual([]);
	});
});

describe("a rollout", () => {
	/** Sizes of the two ReplicaSets over time: `+0 new 1`, `+0 old 3`. */
	function sizes(log: WatchLog): readonly string[] {
		const seen = new Map<string, number>();
		return log.of<ReplicaSet>(REPLICA_SETS).flatMap(({ atMs, key, object }) => {
			const { replicas = 0, template: made } = object.spec;
			if (seen.get(key) === replicas) return [];
			seen.set(key, replicas);
			return [`+${atMs} ${made?.spec.containers[0]?.image === "app:2" ? "new" : "old"} ${replicas}`];
		});
	}

	test("moves as Pods become ready, in the order of its steps", async () => {
		await started();
		await running({ replicas: 4 });
		const log = new WatchLog(plane);
		await patched(plane, DEPLOYMENTS, "web", image("app:2"));
		await plane.advance(60_000);
		expect(sizes(log)).toEqual(["+0 new 1", "+0 old 3", "+0 new 2", "+100 old 1", "+100 new 4", "+200 old 0"]);
		const { metadata, status } = await web();
		expect(metadata).toMatchObject({ generation: 2, annotations: { "deployment.kubernetes.io/revision": "2" } });
		expect(status).toMatchObject({ observedGeneration: 2, replicas: 4, updatedReplicas: 4, availableReplicas: 4 });
		expect(plane.warnings).toEqual([]);
	});

	test("tells of every scaling", async () => {
		await started();
		await running({ replicas: 1 });
		await patched(plane, DEPLOYMENTS, "web", image("app:2"));
		await plane.advance(60_000);
		const names = new Map(
			(await listed(plane, REPLICA_SETS)).map(({ metadata }) => [
				metadata.annotations?.["deployment.kubernetes.io/revision"],
				metadata.name,
			]),
		);
		expect(await eventTexts(plane, "Deployment")).toEqual([
			`Normal ScalingReplicaSet Scaled up replica set ${names.get("1")} from 0 to 1`,
			`Normal ScalingReplicaSet Scaled up replica set ${names.get("2")} from 0 to 1`,
			`Normal ScalingReplicaSet Scaled down replica set ${names.get("1")} from 1 to 0`,
		]);
	});

	test("of 205 Pods keeps 154 available all the time, and has no more than 257 that are active", {
		timeout: 30_000,
	}, async () => {
		await started({ nodes: 6 });
		await running({ replicas: 205 });
		await patched(plane, DEPLOYMENTS, "web", image("app:2"));
		const bounds = { available: 205, active: 205 };
		const done = (): boolean => {
			const pods = plane.informers.of(PODS).list().filter(isActive);
			const ready = pods.filter(isReady);
			bounds.available = Math.min(bounds.available, ready.length);
			bounds.active = Math.max(bounds.active, pods.length);
			return ready.length === 205 && pods.every(({ spec }) => spec.containers[0]?.image === "app:2");
		};
		await plane.until("205 new Pods", done, 300);
		expect(bounds).toEqual({ available: 154, active: 257 });
	});

	test("with Recreate makes the first new Pod when the last old one is gone", async () => {
		await started();
		await running({ replicas: 3, strategy: { type: "Recreate" } });
		const log = new WatchLog(plane);
		await patched(plane, DEPLOYMENTS, "web", image("app:2"));
		await plane.advance(60_000);
		const events = log.of<Pod>(PODS).map(({ type }) => type);
		expect(events.lastIndexOf("DELETED")).toBeLessThan(events.indexOf("ADDED"));
		expect((await web()).status).toMatchObject({ replicas: 3, updatedReplicas: 3, availableReplicas: 3 });
		expect((await listed(plane, PODS)).map(({ spec }) => spec.containers[0]?.image)).toEqual([
			"app:2",
			"app:2",
			"app:2",
		]);
	});

	test("that gets stuck says so when its deadline has passed, by time alone", async () => {
		await started();
		await running({ replicas: 2, progressDeadlineSeconds: 30 });
		const stuck = { template: { metadata: { annotations: { "sliceplane.dev/never-ready": "true" } } } };
		await patched(plane, DEPLOYMENTS, "web", { spec: stuck });
		await plane.advance(29_000);
		expect(shown(await web())).toContain("Progressing ReplicaSetUpdated");
		await plane.advance(5_000);
		expect(shown(await web())).toContain("Progressing ProgressDeadlineExceeded");
		await patched(plane, DEPLOYMENTS, "web", { spec: { template: { metadata: { annotations: null } } } });
		await plane.advance(5_000);
		expect(shown(await web())).toContain("Progressing NewReplicaSetAvailable");
	});

	test("that is undone goes back to the ReplicaSet of the old template", async () => {
		await started();
		await running({ replicas: 2 });
		const before = await listed(plane, REPLICA_SETS);
		for (const text of ["app:2", "app:1"]) {
			await patched(plane, DEPLOYMENTS, "web", image(text));
			await plane.advance(10_000);
		}
		const sets = await listed(plane, REPLICA_SETS);
		expect(sets).toHaveLength(2);
		const first = sets.find(({ metadata }) => metadata.uid === before[0]?.metadata.uid);
		expect(first?.spec.replicas).toBe(2);
		expect(first?.metadata.annotations).toMatchObject({
			"deployment.kubernetes.io/revision": "3",
			"deployment.kubernetes.io/revision-history": "1",
		});
	});

	test("keeps no more old ReplicaSets than the history limit", async () => {
		await started();
		await running({ replicas: 1, revisionHistoryLimit: 1 });
		for (const text of ["app:2", "app:3", "app:4"]) {
			await patched(plane, DEPLOYMENTS, "web", image(text));
			await plane.advance(10_000);
		}
		const images = (await listed(plane, REPLICA_SETS)).map(({ spec }) => spec.template?.spec.containers[0]?.image);
		expect(images.sort()).toEqual(["app:3", "app:4"]);
	});
});

describe("scaling", () => {
	test("changes the size, and says nothing of progress", async () => {
		await started();
		await running({ replicas: 2 });
		const log = new WatchLog(plane);
		await patched(plane, DEPLOYMENTS, "web", { spec: { replicas: 5 } });
		await plane.advance(5_000);
		await patched(plane, DEPLOYMENTS, "web", { spec: { replicas: 1 } });
		await plane.advance(60_000);
		const reasons = new Set(log.of<Deployment>(DEPLOYMENTS).flatMap(({ object }) => shown(object)));
		expect([...reasons].filter((text) => text.startsWith("Progressing"))).toEqual([
			"Progressing NewReplicaSetAvailable",
		]);
		expect(await listed(plane, PODS)).toHaveLength(1);
	});
});

describe("ReplicaSets of others", () => {
	test("that have the name lead to another hash", async () => {
		await started();
		const draft = { spec: { replicas: 1, selector: { matchLabels: { app: "web" } }, template: template() } };
		const deployment = await plane.client.create(DEPLOYMENTS, "default", {
			metadata: { name: "web" },
			spec: { ...draft.spec, paused: true },
		});
		const { metadata } = newReplicaSet(deployment, rollingNumbers(deployment), { size: 0, revision: 1 });
		const labels = { app: "other" };
		await plane.client.create(REPLICA_SETS, "default", {
			metadata: { name: metadata.name ?? "", labels },
			spec: { replicas: 0, selector: { matchLabels: labels }, template: { ...template(), metadata: { labels } } },
		});
		await patched(plane, DEPLOYMENTS, "web", { spec: { paused: false } });
		await plane.advance(5_000);
		expect((await web()).status).toMatchObject({ collisionCount: 1, availableReplicas: 1 });
		expect(await listed(plane, REPLICA_SETS)).toHaveLength(2);
	});

	test("that lost their Deployment are taken over by one that matches, with their Pods", async () => {
		await started();
		await running({ replicas: 2 });
		const before = (await listed(plane, PODS)).map(({ metadata }) => metadata.uid);
		const [set] = await listed(plane, REPLICA_SETS);
		await plane.client.delete(DEPLOYMENTS, { namespace: "default", name: "web" }, { propagationPolicy: "Orphan" });
		await plane.advance(5_000);
		expect((await listed(plane, REPLICA_SETS))[0]?.metadata.ownerReferences).toBeUndefined();
		await running({ replicas: 2 });
		const sets = await listed(plane, REPLICA_SETS);
		expect(sets.map(({ metadata }) => metadata.uid)).toEqual([set?.metadata.uid]);
		expect(sets[0]?.metadata.ownerReferences?.[0]).toMatchObject({ kind: "Deployment", name: "web", controller: true });
		expect((await listed(plane, PODS)).map(({ metadata }) => metadata.uid)).toEqual(before);
	});
});

describe("a refused ReplicaSet", () => {
	test("is told as an Event and a condition, and tried again", async () => {
		let isRefusing = true;
		const why = forbiddenFor(REPLICA_SETS, "x", "no");
		await started({
			wrapClient: (client) =>
				new FaultyClient(client, {
					call: ({ verb, resource }, send) =>
						isRefusing && verb === "create" && resource === REPLICA_SETS ? Promise.reject(why) : send(),
				}),
		});
		await deploy(plane, "web", { replicas: 1 });
		await plane.settle();
		expect(shown(await web())).toEqual(["Progressing ReplicaSetCreateError"]);
		const [text] = await eventTexts(plane);
		expect(text).toMatch(/^Warning ReplicaSetCreateError Failed to create new replica set "web-[4-9b-df]+": /);
		isRefusing = false;
		await plane.advance(10_000);
		expect(shown(await web())).toContain("Progressing NewReplicaSetAvailable");
	});
});
