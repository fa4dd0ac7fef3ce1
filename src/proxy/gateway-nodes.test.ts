import { describe, expect, test } from "vitest";
import { Zone } from "../plan/dns-records/zone.ts";
import { servedService } from "../plan/service-map/served-service.ts";
import { service } from "../testing/builders.ts";
import { FakeNetwork } from "../testing/fake-network.ts";
import { SeededRandom } from "../testing/seeded.ts";
import { silentLogger } from "../testing/silent.ts";
import { podRange, sliceOf } from "../testing/slice-worlds.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { Gateway } from "./gateway.ts";
import { NodeProxies } from "./node-proxies.ts";

/** Nodes n1, with the Service's only Pod, and n2; policy Local. */
function harness(options: { readonly terminatingFallback?: boolean } = {}, isTerminating = false) {
	const net = new FakeNetwork();
	const clock = new VirtualClock();
	const random = new SeededRandom(1);
	const proxies = new NodeProxies(
		{ clock, random },
		{ clusterCIDRs: [], serviceCIDRs: [], ownAddresses: [], ...options },
	);
	for (const [name, ip] of Object.entries({ n1: "172.18.0.2", n2: "172.18.0.3" })) {
		proxies.putNode({ name, zone: "", addresses: [ip] });
	}
	const owner = service("web", {
		type: "LoadBalancer",
		externalTrafficPolicy: "Local",
		healthCheckNodePort: 32_000,
		ports: [{ name: "http", port: 80, targetPort: 8080, nodePort: 30_080 }],
	});
	const made = sliceOf("web-a", podRange(1, 2));
	const conditions = { ready: !isTerminating, serving: true, terminating: isTerminating };
	const endpoints = (made.endpoints ?? []).map((each) => ({ ...each, nodeName: "n1", conditions }));
	const slice = { ...made, endpoints, ports: [{ name: "http", protocol: "TCP", port: 8080 } as const] };
	proxies.putService(servedService(owner, [slice], "1"));
	const told: string[] = [];
	const gateway = new Gateway<string>({
		proxies,
		asNode: "",
		names: { clusterDomain: "cluster.local", namespace: "default", zone: new Zone({ name: "cluster.local.", ttl: 5 }) },
		dialer: net,
		dialName: (host, port) => net.dial({ ip: host, port }, new AbortController().signal),
		clock,
		random,
		log: silentLogger,
		healthChecks: net,
		decided: ({ node, route, chosen }) => told.push(`${node} ${route.kind} ${chosen?.by ?? ""}`.trimEnd()),
	});
	return { gateway, told };
}

describe("a node's address", () => {
	test.each([
		{ node: "with the Pod", ip: "172.18.0.2", port: 32_000, result: { kind: "connected", stream: "health 200" } },
		{ node: "without one", ip: "172.18.0.3", port: 32_000, result: { kind: "connected", stream: "health 503" } },
	])("has its own answer to health checks: the node $node", async ({ ip, port, result }) => {
		expect(await harness().gateway.connect(ip, port, "127.0.0.1")).toEqual(result);
	});

	test("gives external clients local Pods only, and says why to those who follow decisions", async () => {
		const { gateway, told } = harness();
		expect(await gateway.connect("172.18.0.2", 30_080, "127.0.0.1")).toMatchObject({ kind: "connected" });
		expect(await gateway.connect("172.18.0.3", 30_080, "127.0.0.1")).toMatchObject({ kind: "silent" });
		expect(told).toEqual(["n1 forward the only one", "n2 drop"]);
	});

	test.each([
		{ terminatingFallback: true, kind: "connected" },
		{ terminatingFallback: false, kind: "silent" },
	])("with a terminating Pod is $kind with terminatingFallback $terminatingFallback, and not healthy", async (row) => {
		const { gateway } = harness({ terminatingFallback: row.terminatingFallback }, true);
		expect(await gateway.connect("172.18.0.2", 30_080, "127.0.0.1")).toMatchObject({ kind: row.kind });
		expect(await gateway.connect("172.18.0.2", 32_000, "127.0.0.1")).toMatchObject({ stream: "health 503" });
	});
});

test("an address of no Service is the endpoint itself, and tried once", async () => {
	const { gateway, told } = harness();
	expect(await gateway.connect("10.9.9.9", 80, "127.0.0.1")).toEqual({ kind: "connected", stream: "10.9.9.9:80" });
	expect(told).toEqual([" absent the only one"]);
});
