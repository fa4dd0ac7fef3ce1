import { expect, test } from "vitest";
import { ContainerLogs } from "../machinery/container-logs.ts";
import { pod } from "../testing/builders.ts";
import { silentMetrics } from "../testing/silent.ts";
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
