/** Sequences: what a watcher of the pods sees while a StatefulSet lives on simulated nodes. */
import { afterEach, describe, expect, test } from "vitest";
import { CONTROLLER_REVISIONS, ENDPOINT_SLICES, PODS, SERVICES, STATEFUL_SETS } from "../api/resource-names.ts";
import type { StatefulSet } from "../api/types/apps.ts";
import type { Pod } from "../api/types/core.ts";
import { createPod, eventTexts, listed, patched } from "../testing/plane-steps.ts";
import { startTestPlane, type TestPlane } from "../testing/test-plane.ts";
import { WatchLog } from "../testing/watch-log.ts";
import { template } from "../testing/workloads.ts";

const planes: TestPlane[] = [];

async function started(): Promise<TestPlane> {
	const plane = await startTestPlane({ nodes: 2 });
	planes.push(plane);
	return plane;
}

afterEach(async () => {
	const used = planes.splice(0);
	for (const plane of used) await plane.stop();
	expect(used.flatMap(({ warnings }) => warnings)).toEqual([]);
});

function create(plane: TestPlane, spec: Partial<StatefulSet["spec"]> = {}): Promise<StatefulSet> {
	const selector = { matchLabels: { app: "web" } };
	return plane.client.create(STATEFUL_SETS, "default", {
		metadata: { name: "web" },
		spec: { replicas: 3, selector, template: template(), serviceName: "svc", ...spec },
	});
}

const get = (plane: TestPlane): Promise<StatefulSet> =>
	plane.client.get(STATEFUL_SETS, { namespace: "default", name: "web" });

/** `+0 make 0`, `+100 ready 0`, `+200 stop 2`, `+1200 gone 2`: one word for each turn in a pod's life. */
function turns(log: WatchLog): readonly string[] {
	const ready = new Set<string>();
	const stopping = new Set<string>();
	return log.of<Pod>(PODS).flatMap(({ atMs, type, key, object: { metadata, status } }) => {
		const ordinal = key.slice(key.lastIndexOf("-") + 1);
		const told = (word: string): string[] => [`+${atMs} ${word} ${ordinal}`];
		if (type === "ADDED") return told("make");
		if (type === "DELETED") return told("gone");
		if (metadata.deletionTimestamp !== undefined) {
			if (stopping.has(metadata.uid)) return [];
			stopping.add(metadata.uid);
			return told("stop");
		}
		const isReady = status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True");
		if (!isReady || ready.has(metadata.uid)) return [];
		ready.add(metadata.uid);
		return told("ready");
	});
}

describe("a StatefulSet on a plane", () => {
	test("that takes over from one that left its pods behind goes on with their revision", async () => {
		const plane = await started();
		const made = await create(plane);
		await plane.advance(10_000);
		const before = await listed(plane, PODS);
		const options = { propagationPolicy: "Orphan" } as const;
		await plane.client.delete(STATEFUL_SETS, { namespace: "default", name: made.metadata.name }, options);
		await plane.advance(1_000);
		await create(plane);
		await plane.advance(10_000);
		const uids = (pods: readonly Pod[]): readonly string[] => pods.map(({ metadata }) => metadata.uid);
		expect(uids(await listed(plane, PODS))).toEqual(uids(before));
		const revisions = await listed(plane, CONTROLLER_REVISIONS);
		expect(revisions.map(({ metadata }) => metadata.ownerReferences?.[0]?.uid)).toEqual([
			(await get(plane)).metadata.uid,
		]);
	});

	test("comes up pod by pod, and goes down from the top", async () => {
		const plane = await started();
		const log = new WatchLog(plane);
		await create(plane);
		await plane.advance(10_000);
		await patched(plane, STATEFUL_SETS, "web", { spec: { replicas: 0 } });
		await plane.advance(10_000);
		expect(turns(log)).toEqual([
			"+0 make 0",
			"+100 ready 0",
			"+100 make 1",
			"+200 ready 1",
			"+200 make 2",
			"+300 ready 2",
			"+10000 stop 2",
			"+11000 gone 2",
			"+11000 stop 1",
			"+12000 gone 1",
			"+12000 stop 0",
			"+13000 gone 0",
		]);
		expect((await get(plane)).status).toMatchObject({ replicas: 0, availableReplicas: 0, observedGeneration: 2 });
	});

	test("gives each pod its name as host name, which slices show", async () => {
		const plane = await started();
		const ports = [{ port: 80 }];
		await plane.client.create(SERVICES, "default", {
			metadata: { name: "svc" },
			spec: { clusterIP: "None", selector: { app: "web" }, ports },
		});
		await create(plane);
		await plane.advance(5_000);
		const slice = (await listed(plane, ENDPOINT_SLICES)).find(({ metadata }) => metadata.name.startsWith("svc-"));
		expect(slice?.endpoints?.map(({ hostname }) => hostname)).toEqual(["web-0", "web-1", "web-2"]);
	});

	test("replaces one pod at a time, the last first, under the same names", async () => {
		const plane = await started();
		await create(plane);
		await plane.advance(10_000);
		const before = await get(plane);
		const log = new WatchLog(plane);
		await patched(plane, STATEFUL_SETS, "web", { spec: { template: template("app:2") } });
		await plane.advance(10_000);
		expect(turns(log)).toEqual(
			[2, 1, 0].flatMap((ordinal, index) => {
				const atMs = index * 1_100;
				return [
					`+${atMs} stop ${ordinal}`,
					`+${atMs + 1_000} gone ${ordinal}`,
					`+${atMs + 1_000} make ${ordinal}`,
					`+${atMs + 1_100} ready ${ordinal}`,
				];
			}),
		);
		const { status } = await get(plane);
		expect(status).toMatchObject({ replicas: 3, readyReplicas: 3, currentReplicas: 3, updatedReplicas: 3 });
		expect(status?.currentRevision).toBe(status?.updateRevision);
		expect(status?.currentRevision).not.toBe(before.status?.currentRevision);
		expect((await listed(plane, CONTROLLER_REVISIONS)).map(({ revision }) => revision).sort()).toEqual([1, 2]);
	});

	test("going back renumbers the old revision instead of making a third", async () => {
		const plane = await started();
		await create(plane, { replicas: 1 });
		await plane.advance(5_000);
		for (const image of ["app:2", "app:1"]) {
			await patched(plane, STATEFUL_SETS, "web", { spec: { template: template(image) } });
			await plane.advance(5_000);
		}
		expect((await listed(plane, CONTROLLER_REVISIONS)).map(({ revision }) => revision).sort()).toEqual([2, 3]);
	});

	test("holds back what is below the partition", async () => {
		const plane = await started();
		const updateStrategy = { type: "RollingUpdate", rollingUpdate: { partition: 2 } } as const;
		await create(plane, { updateStrategy });
		await plane.advance(10_000);
		await patched(plane, STATEFUL_SETS, "web", { spec: { template: template("app:2") } });
		await plane.advance(10_000);
		const images = (await listed(plane, PODS)).map(({ spec }) => spec.containers[0]?.image);
		expect(images).toEqual(["app:1", "app:1", "app:2"]);
		expect((await get(plane)).status).toMatchObject({ currentReplicas: 2, updatedReplicas: 1 });
	});

	test("in parallel everything starts and stops at once", async () => {
		const plane = await started();
		const log = new WatchLog(plane);
		await create(plane, { podManagementPolicy: "Parallel" });
		await plane.advance(1_000);
		await patched(plane, STATEFUL_SETS, "web", { spec: { replicas: 1 } });
		await plane.advance(5_000);
		expect(turns(log).map((turn) => turn.split(" ").slice(0, 2).join(" "))).toEqual([
			...Array(3).fill("+0 make"),
			...Array(3).fill("+100 ready"),
			...Array(2).fill("+1000 stop"),
			...Array(2).fill("+2000 gone"),
		]);
	});

	test("made again under its name, it waits for the pods of the one before", async () => {
		const plane = await started();
		await create(plane, { replicas: 1 });
		await plane.advance(5_000);
		const log = new WatchLog(plane);
		await plane.client.delete(STATEFUL_SETS, { namespace: "default", name: "web" });
		await create(plane, { replicas: 1 });
		await plane.advance(10_000);
		expect(turns(log).map((turn) => turn.split(" ")[1])).toEqual(["stop", "gone", "make", "ready"]);
		planes.splice(0);
		// The refused creation was logged, and tried again.
		expect(plane.warnings.join()).toContain("already exists");
		await plane.stop();
	});

	test("takes over a pod of its name that matches", async () => {
		const plane = await started();
		await createPod(plane, "web-0", {}, { labels: { app: "web" } });
		await plane.advance(1_000);
		const set = await create(plane, { replicas: 1 });
		await plane.advance(1_000);
		const owner = async () => (await listed(plane, PODS))[0]?.metadata.ownerReferences?.[0]?.uid;
		expect(await owner()).toBe(set.metadata.uid);
	});

	test("tells what it did", async () => {
		const plane = await started();
		await create(plane, { replicas: 1 });
		await plane.advance(1_000);
		await patched(plane, STATEFUL_SETS, "web", { spec: { replicas: 0 } });
		await plane.advance(5_000);
		expect(await eventTexts(plane, "StatefulSet")).toEqual([
			"Normal SuccessfulCreate Create Pod web-0 in StatefulSet web successful",
			"Normal SuccessfulDelete Delete Pod web-0 in StatefulSet web successful",
		]);
	});

	test("goes with its pods and revisions when it is deleted", async () => {
		const plane = await started();
		await create(plane);
		await plane.advance(5_000);
		await plane.client.delete(STATEFUL_SETS, { namespace: "default", name: "web" });
		await plane.advance(10_000);
		expect([...(await listed(plane, PODS)), ...(await listed(plane, CONTROLLER_REVISIONS))]).toEqual([]);
	});
});
