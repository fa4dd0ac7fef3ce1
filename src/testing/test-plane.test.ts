import { expect, test } from "vitest";
import { DEPLOYMENTS, PODS, SERVICES } from "../api/resource-names.ts";
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
