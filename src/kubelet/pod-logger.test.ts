import { afterEach, describe, expect, test } from "vitest";
import { PODS } from "../api/resource-names.ts";
import type { Pod } from "../api/types/core.ts";
import { ContainerLogs } from "../machinery/container-logs.ts";
import { pod } from "../testing/builders.ts";
import { createPod, listed } from "../testing/plane-steps.ts";
import { silentMetrics } from "../testing/silent.ts";
import { startTestPlane, type TestPlane } from "../testing/test-plane.ts";
import { WatchLog } from "../testing/watch-log.ts";
import { PodLogger } from "./pod-logger.ts";

test.each([
	{ port: 9090, container: "side" },
	{ port: 8080, container: "app" },
	{ port: 1234, container: "app" },
])("a request to port $port is in the log of $container", ({ port, container }) => {
	const logs = new ContainerLogs(silentMetrics);
	const containers = [
		{ name: "app", image: "app:1", ports: [{ containerPort: 8080 }] },
		{ name: "side", image: "side:1", ports: [{ containerPort: 9090 }] },
	];
	const web = pod("web", { spec: { containers } });
	new PodLogger(logs).answered(web, port, 5, "GET / 200");
	expect(logs.lines(web.metadata.uid, container)).toEqual([{ atMs: 5, text: "GET / 200" }]);
});

const planes: TestPlane[] = [];

async function started(): Promise<TestPlane> {
	const plane = await startTestPlane({ nodes: 1, controllers: ["scheduler"] });
	planes.push(plane);
	return plane;
}

afterEach(async () => {
	for (const plane of planes.splice(0)) await plane.stop();
});

describe("the logs of containers", () => {
	const containers = [
		{ name: "app", image: "app:1", ports: [{ containerPort: 8080 }] },
		{ name: "side", image: "side:1", ports: [{ containerPort: 9090 }] },
	];

	test("say when each started and how it ended, and go with the Pod", async () => {
		const plane = await started();
		const log = new WatchLog(plane);
		await createPod(plane, "p", { containers });
		await plane.advance(5_000);
		const [pod] = await listed(plane, PODS);
		const uid = pod?.metadata.uid ?? "";
		const lines = (container: string): readonly string[] => plane.logs.lines(uid, container).map(({ text }) => text);
		expect(lines("app")).toEqual(["started, answers on every port of 10.244.0.2"]);
		expect(lines("side")).toEqual(lines("app"));
		let isOver = false;
		plane.logs.follow(uid, "app", (line) => {
			isOver ||= line === undefined;
		});
		await plane.client.delete(PODS, { namespace: "default", name: "p" }, { gracePeriodSeconds: 2 });
		await plane.advance(5_000);
		expect(isOver).toBe(true);
		expect(lines("app")).toEqual([]);
		expect(log.of<Pod>(PODS, "default/p").at(-1)?.type).toBe("DELETED");
	});

	test("of one that ends by itself keep its exit code", async () => {
		const plane = await started();
		const once = { containers, restartPolicy: "Never" } as const;
		await createPod(plane, "p", once, {
			annotations: { "sliceplane.dev/exit-after": "1s", "sliceplane.dev/exit-code": "3" },
		});
		await plane.advance(5_000);
		const [pod] = await listed(plane, PODS);
		expect(plane.logs.lines(pod?.metadata.uid ?? "", "side").map(({ text }) => text)).toEqual([
			"started, answers on every port of 10.244.0.2",
			"ended with exit code 3",
		]);
	});
});
