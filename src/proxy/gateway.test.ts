import { describe, expect, test } from "vitest";
import { parseCIDR } from "../api/ip.ts";
import type { Service } from "../api/types/core.ts";
import { assertDefined } from "../kernel/assert.ts";
import { Zone } from "../plan/dns-records/zone.ts";
import { meta, service } from "../testing/builders.ts";
import { FakeNetwork } from "../testing/fake-network.ts";
import { SeededRandom } from "../testing/seeded.ts";
import { silentLogger } from "../testing/silent.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { Gateway } from "./gateway.ts";
import { NodeProxies } from "./node-proxies.ts";

const cidr = (text: string) => assertDefined(parseCIDR(text), text);

function harness(asNode = "") {
	const clock = new VirtualClock();
	const random = new SeededRandom(1);
	const net = new FakeNetwork();
	const zone = new Zone({ name: "cluster.local.", ttl: 5 });
	const options = {
		clusterCIDRs: [cidr("10.244.0.0/16")],
		serviceCIDRs: [cidr("10.96.0.0/16")],
		ownAddresses: ["127.0.0.1"],
	};
	const proxies = new NodeProxies({ clock, random }, options);
	for (const n of [1, 2]) proxies.putNode({ name: `n${n}`, zone: "", addresses: [`192.168.0.${n}`] });
	const put = (made: Service, pods: readonly (readonly [ip: string, node: string])[]): void => {
		const endpoints = pods.map(([ip, nodeName]) => ({ addresses: [ip], nodeName, conditions: { ready: true } }));
		const labels = { "kubernetes.io/service-name": made.metadata.name };
		const ports = [{ name: "http", protocol: "TCP", port: 8080 } as const];
		const metadata = meta(`${made.metadata.name}-1`, { labels });
		const slice = {
			apiVersion: "discovery.k8s.io/v1",
			kind: "EndpointSlice",
			metadata,
			addressType: "IPv4",
			endpoints,
			ports,
		} as const;
		const served = { key: `default/${made.metadata.name}`, asOf: "1", service: made, slices: [slice] };
		proxies.putService(served);
		zone.putService(served, 0);
	};
	const names = { clusterDomain: "cluster.local", namespace: "default", zone };
	const gateway = new Gateway<string>({
		proxies,
		asNode,
		names,
		dialer: net,
		dialName: async (host, port) =>
			host === "no.example.com"
				? { kind: "failed", message: "getaddrinfo ENOTFOUND", isUnknownHost: true }
				: { kind: "connected", stream: `outside ${host}:${port}` },
		clock,
		random,
		log: silentLogger,
		healthChecks: net,
	});
	const reach = async (host: string, port: number): Promise<string> => {
		const result = await gateway.connect(host, port, "127.0.0.1");
		return result.kind === "connected" ? result.stream : result.kind;
	};
	return { net, put, reach, clock };
}

const WEB = [
	["10.244.0.1", "n1"],
	["10.244.0.2", "n2"],
] as const;

describe("Gateway", () => {
	test.each([
		["a name", "web", 80, /^10\.244\.0\.[12]:8080$/],
		["a cluster IP", "10.96.0.10", 80, /^10\.244\.0\.[12]:8080$/],
		["a Pod's address", "10.244.0.2", 9999, /^10\.244\.0\.2:9999$/],
		["a node port at a node's address", "192.168.0.2", 30_080, /^10\.244\.0\.[12]:8080$/],
		["another port of a cluster IP", "10.96.0.10", 81, /^refused$/],
		["a cluster IP that nobody has", "10.96.9.9", 80, /^silent$/],
		["a name that the cluster would have", "nope.default.svc", 80, /^unknown-host$/],
		["a host of the outside world", "www.example.com", 443, /^outside www\.example\.com:443$/],
		["no host of that name in the outside world", "no.example.com", 443, /^unknown-host$/],
		["an address of the outside world", "192.0.2.1", 443, /^192\.0\.2\.1:443$/],
	])("reaches %s", async (_, host, port, stream) => {
		const { put, reach } = harness();
		put(service("web", { type: "NodePort", ports: [{ name: "http", port: 80, nodePort: 30_080 }] }), WEB);
		expect(await reach(host, port)).toMatch(stream);
	});

	test("goes to another endpoint when one refuses, and says so when all do", async () => {
		const { net, put, reach } = harness();
		put(service("web", { ports: [{ name: "http", port: 80 }] }), WEB);
		net.refusing.add("10.244.0.1:8080");
		expect(new Set([await reach("web", 80), await reach("web", 80)])).toEqual(new Set(["10.244.0.2:8080"]));
		net.refusing.add("10.244.0.2:8080");
		expect(await reach("web", 80)).toBe("refused");
	});

	test("sees Services as the node does that it was told", async () => {
		const local = { internalTrafficPolicy: "Local", ports: [{ name: "http", port: 80 }] } as const;
		for (const [node, stream] of [
			["n1", "10.244.0.1:8080"],
			["n2", "silent"],
		] as const) {
			const { put, reach } = harness(node);
			put(service("web", local), [["10.244.0.1", "n1"]]);
			expect(await reach("web", 80)).toBe(stream);
		}
	});

	test("an external policy Local holds at each node's address for itself", async () => {
		const { put, reach } = harness();
		const spec = {
			type: "NodePort",
			externalTrafficPolicy: "Local",
			ports: [{ name: "http", port: 80, nodePort: 30_080 }],
		} as const;
		put(service("web", spec), [["10.244.0.1", "n1"]]);
		expect([await reach("192.168.0.1", 30_080), await reach("192.168.0.2", 30_080)]).toEqual([
			"10.244.0.1:8080",
			"silent",
		]);
	});

	test("spreads over the addresses of a headless Service, and leaves out those that refuse", async () => {
		const { net, put, reach } = harness();
		put(service("web", { clusterIP: "None" }), WEB);
		const seen = new Set<string>();
		for (let i = 0; i < 20; i++) seen.add(await reach("web", 8080));
		expect(seen).toEqual(new Set(["10.244.0.1:8080", "10.244.0.2:8080"]));
		net.refusing.add("10.244.0.1:8080");
		for (let i = 0; i < 5; i++) expect(await reach("web", 8080)).toBe("10.244.0.2:8080");
	});

	test("ExternalNames that point at each other end", async () => {
		const { put, reach } = harness();
		const alias = (name: string, externalName: string): void =>
			put(service(name, { type: "ExternalName", externalName, clusterIP: "" }), []);
		alias("a", "b.default.svc.cluster.local");
		alias("b", "a.default.svc.cluster.local");
		alias("c", "www.example.com");
		expect([await reach("a", 80), await reach("c", 80)]).toEqual(["unknown-host", "outside www.example.com:80"]);
	});
});
