import { expect, test } from "vitest";
import { DEPLOYMENTS, PODS, REPLICA_SETS, SERVICES } from "../api/resource-names.ts";
import { startTestPlane } from "./test-plane.ts";
import { WatchLog } from "./watch-log.ts";

async function rollout(seed: number): Promise<string> {
	const plane = await startTestPlane({ seed, zones: ["a", "b"] });
	const log = new WatchLog(plane);
	const template = {
		metadata: { labels: { app: "web" } },
		spec: { containers: [{ name: "c", image: "app:1" }] },
	};
	await plane.client.create(SERVICES, "default", {
		metadata: { name: "web" },
		spec: { selector: { app: "web" }, ports: [{ port: 80 }] },
	});
	const web = await plane.client.create(DEPLOYMENTS, "default", {
		metadata: { name: "web" },
		spec: { replicas: 5, selector: { matchLabels: { app: "web" } }, template },
	});
	await plane.advance(3_000);
	const spec = { ...web.spec, template: { ...template, spec: { containers: [{ name: "c", image: "app:2" }] } } };
	await plane.client.update(DEPLOYMENTS, { ...web, metadata: { ...web.metadata, resourceVersion: "" }, spec });
	await plane.advance(10_000);
	await plane.client.delete(DEPLOYMENTS, { namespace: "default", name: "web" }, { propagationPolicy: "Foreground" });
	await plane.until("the last Pod goes", () => plane.informers.of(PODS).size === 0);
	await plane.stop();
	expect(plane.warnings).toEqual([]);
	return log.dump();
}

test("gives the same history, to the byte, for the same seed and the same steps", async () => {
	const first = await rollout(7);
	expect(first.split("\n").length).toBeGreaterThan(100);
	expect(await rollout(7)).toBe(first);
	expect(await rollout(8)).not.toBe(first);
});

test("says what did not come true in time", async () => {
	const plane = await startTestPlane({ nodes: 0, controllers: [] });
	await expect(plane.until("a miracle", () => false, 5_000)).rejects.toThrow("a miracle: not within 5000 ms");
	expect(plane.clock.monotonicMs()).toBe(5_000);
	await plane.stop();
});

test("runs only the controllers that it was told to, and goes on over the objects of another plane", async () => {
	const first = await startTestPlane({ nodes: 0, controllers: ["replicaset-controller"] });
	const labels = { app: "web" };
	const spec = {
		replicas: 2,
		selector: { matchLabels: labels },
		template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "app:1" }] } },
	};
	await first.client.create(REPLICA_SETS, "default", { metadata: { name: "web" }, spec });
	await first.advance(10_000);
	expect(
		first.informers
			.of(PODS)
			.list()
			.map(({ spec: { nodeName } }) => nodeName),
	).toEqual([undefined, undefined]);
	await first.stop();
	const second = await startTestPlane({ over: first, nodes: 1, controllers: ["scheduler"] });
	await second.advance(1_000);
	expect(second.clock.monotonicMs()).toBe(11_000);
	expect(
		second.informers
			.of(PODS)
			.list()
			.map(({ status }) => status?.phase),
	).toEqual(["Running", "Running"]);
	await second.stop();
});
