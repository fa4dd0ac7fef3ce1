import { expect, test } from "vitest";
import { PODS } from "../api/resource-names.ts";
import { startTestPlane } from "../testing/test-plane.ts";
import { WatchLog } from "../testing/watch-log.ts";

const container = { name: "c", image: "i" };

test("a Pod of a node that is gone is told as failed, and removed, by what the controller may do", async () => {
	const plane = await startTestPlane({ nodes: 1 });
	const log = new WatchLog(plane);
	await plane.client.create(PODS, "default", {
		metadata: { name: "lost" },
		spec: { nodeName: "n99", containers: [container] },
	});
	await plane.client.create(PODS, "default", {
		metadata: { name: "kept" },
		spec: { nodeName: "n1", containers: [container] },
	});
	await plane.advance(120_000);
	const [deleted, ...others] = log.of(PODS).filter(({ type }) => type === "DELETED");
	expect(others).toEqual([]);
	expect(deleted).toMatchObject({
		key: "default/lost",
		object: { status: { phase: "Failed", conditions: [{ type: "DisruptionTarget", reason: "DeletionByPodGC" }] } },
	});
	await plane.stop();
});
