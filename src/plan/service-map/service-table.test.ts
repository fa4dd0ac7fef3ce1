import { describe, expect, test } from "vitest";
import type { Service } from "../../api/types/core.ts";
import type { Endpoint, EndpointSlice } from "../../api/types/discovery.ts";
import { meta, service } from "../../testing/builders.ts";
import { planServiceTable } from "./service-table.ts";
import { endpointText, serviceKeyOfSlice } from "./slice-endpoints.ts";

const HTTP = { name: "http", protocol: "TCP", port: 8080 } as const;

function slice(name: string, endpoints: readonly Endpoint[], more: Partial<EndpointSlice> = {}): EndpointSlice {
	return {
		apiVersion: "discovery.k8s.io/v1",
		kind: "EndpointSlice",
		metadata: meta(name, { labels: { "kubernetes.io/service-name": "web" }, generation: 1 }),
		addressType: "IPv4",
		endpoints,
		ports: [HTTP],
		...more,
	};
}

const at = (address: string, more: Partial<Endpoint> = {}): Endpoint => ({
	addresses: [address],
	conditions: { ready: true },
	...more,
});

/** `http IPv4 10.96.0.10:80 -> 10.0.0.1:8080 ...` for every port of the table. */
function shown(owner: Service, ...slices: EndpointSlice[]): string[] {
	return planServiceTable(owner, slices).ports.map(({ name, family, clusterIP, port, cluster }) =>
		`${name} ${family} ${clusterIP}:${port} -> ${cluster.map(endpointText).join(" ")}`.trimEnd(),
	);
}

describe("planServiceTable()", () => {
	test("joins all slices of the Service, in order of the text, each endpoint once", () => {
		const both = [slice("b", [at("10.0.0.2"), at("10.0.0.10")]), slice("a", [at("10.0.0.10"), at("10.0.0.1")])];
		expect(shown(service("web"), ...both)).toEqual([
			"http IPv4 10.96.0.10:80 -> 10.0.0.10:8080 10.0.0.1:8080 10.0.0.2:8080",
		]);
	});

	test.each<{ rule: string; slice: EndpointSlice }>([
		{
			rule: "another Service's name",
			slice: slice("a", [at("10.0.0.1")], { metadata: meta("a", { labels: { "kubernetes.io/service-name": "api" } }) }),
		},
		{ rule: "no Service's name", slice: slice("a", [at("10.0.0.1")], { metadata: meta("a") }) },
		{
			rule: "another namespace",
			slice: slice("a", [at("10.0.0.1")], {
				metadata: meta("a", { namespace: "other", labels: { "kubernetes.io/service-name": "web" } }),
			}),
		},
		{
			rule: "the headless label",
			slice: slice("a", [at("10.0.0.1")], {
				metadata: meta("a", { labels: { "kubernetes.io/service-name": "web", "service.kubernetes.io/headless": "" } }),
			}),
		},
		{
			rule: "another proxy's label",
			slice: slice("a", [at("10.0.0.1")], {
				metadata: meta("a", {
					labels: { "kubernetes.io/service-name": "web", "service.kubernetes.io/service-proxy-name": "x" },
				}),
			}),
		},
		{ rule: "addresses that are names", slice: slice("a", [at("example.org")], { addressType: "FQDN" }) },
		{ rule: "the other family's addresses", slice: slice("a", [at("fd00::1")], { addressType: "IPv6" }) },
		{
			rule: "an IPv4-mapped address in an IPv6 slice",
			slice: slice("a", [at("::ffff:10.0.0.1")], { addressType: "IPv6" }),
		},
		{ rule: "a port of another name", slice: slice("a", [at("10.0.0.1")], { ports: [{ ...HTTP, name: "" }] }) },
		{
			rule: "a port without a name",
			slice: slice("a", [at("10.0.0.1")], { ports: [{ protocol: "TCP", port: 8080 }] }),
		},
		{
			rule: "a port of another protocol",
			slice: slice("a", [at("10.0.0.1")], { ports: [{ ...HTTP, protocol: "UDP" }] }),
		},
		{
			rule: "a port without a number",
			slice: slice("a", [at("10.0.0.1")], { ports: [{ name: "http", protocol: "TCP", port: null }] }),
		},
		{ rule: "no addresses", slice: slice("a", [{ addresses: [], conditions: {} }]) },
		{ rule: "no endpoints", slice: slice("a", [], { endpoints: null, ports: null }) },
	])("takes nothing from a slice with $rule", (row) => {
		expect(shown(service("web"), row.slice)).toEqual(["http IPv4 10.96.0.10:80 ->"]);
	});

	test("takes the first address only, unset conditions as good, and odd forms of an address as one", () => {
		const endpoints = [{ addresses: ["10.0.0.1", "10.0.0.9"], conditions: {} }, at("10.0.0.01")];
		expect(shown(service("web"), slice("a", endpoints))).toEqual(["http IPv4 10.96.0.10:80 -> 10.0.0.1:8080"]);
	});

	test("keeps two ports of one address apart", () => {
		const slices = [slice("a", [at("10.0.0.1")]), slice("b", [at("10.0.0.1")], { ports: [{ ...HTTP, port: 9090 }] })];
		expect(shown(service("web"), ...slices)).toEqual(["http IPv4 10.96.0.10:80 -> 10.0.0.1:8080 10.0.0.1:9090"]);
	});

	test.each<{ rule: string; first: Endpoint; second: Endpoint; node: string | undefined }>([
		{
			rule: "one that is not terminating over one that is, even if it is not ready",
			first: at("10.0.0.1", { nodeName: "old", conditions: { ready: true, terminating: true } }),
			second: at("10.0.0.1", { nodeName: "new", conditions: { ready: false } }),
			node: undefined,
		},
		{
			rule: "a ready one over one that is not",
			first: at("10.0.0.1", { nodeName: "n2", conditions: { ready: false } }),
			second: at("10.0.0.1", { nodeName: "n1" }),
			node: "n1",
		},
		{
			rule: "one on the own node",
			first: at("10.0.0.1", { nodeName: "n1" }),
			second: at("10.0.0.1", { nodeName: "n0" }),
			node: "n0",
		},
		{
			rule: "the one of the slice that is first by name, when nothing else differs",
			first: at("10.0.0.1", { nodeName: "n1" }),
			second: at("10.0.0.1", { nodeName: "n2" }),
			node: "n1",
		},
	])("of two copies takes $rule, in whatever order they come", ({ first, second, node }) => {
		const slices = [slice("a", [first]), slice("b", [second])];
		for (const order of [slices, slices.toReversed()]) {
			const table = planServiceTable(service("web"), order, { nodeName: "n0" });
			expect(table.ports[0]?.cluster[0]?.nodeName).toBe(node);
		}
	});

	test.each<{ rule: string; spec: Partial<Service["spec"]>; labels?: Record<string, string> }>([
		{ rule: "without a cluster IP", spec: { clusterIP: "", clusterIPs: [] } },
		{ rule: "that is headless", spec: { clusterIP: "None", clusterIPs: ["None"] } },
		{ rule: "of type ExternalName", spec: { type: "ExternalName" } },
		{ rule: "of another proxy", spec: {}, labels: { "service.kubernetes.io/service-proxy-name": "x" } },
		{ rule: "of a headless label", spec: {}, labels: { "service.kubernetes.io/headless": "" } },
	])("has no ports for a Service $rule", ({ spec, labels = {} }) => {
		expect(shown(service("web", spec, { labels }), slice("a", [at("10.0.0.1")]))).toEqual([]);
	});

	test("gives each family its own cluster IP and endpoints, whichever comes first", () => {
		const owner = service("web", {
			clusterIP: "fd00:96::b",
			clusterIPs: ["fd00:96::B", "10.96.0.11"],
			ipFamilies: ["IPv6", "IPv4"],
		});
		const slices = [slice("a", [at("10.0.0.1")]), slice("b", [at("FD00::0:1")], { addressType: "IPv6" })];
		expect(shown(owner, ...slices)).toEqual([
			"http IPv4 10.96.0.11:80 -> 10.0.0.1:8080",
			"http IPv6 fd00:96::b:80 -> [fd00::1]:8080",
		]);
	});

	test("carries addresses and policies, leaving out what a proxy must not take over", () => {
		const owner: Service = {
			...service("web", {
				type: "LoadBalancer",
				ports: [{ name: "http", port: 80, nodePort: 30080 }],
				externalIPs: ["203.0.113.1", "127.0.0.1", "0.0.0.0", "2001:db8::1"],
				externalTrafficPolicy: "Local",
				internalTrafficPolicy: "Local",
				sessionAffinity: "ClientIP",
				healthCheckNodePort: 32000,
				loadBalancerSourceRanges: [" 192.0.2.0/24 ", "2001:db8::/32", "junk"],
			}),
			status: {
				loadBalancer: {
					ingress: [{ ip: "198.51.100.1" }, { ip: "198.51.100.2", ipMode: "Proxy" }, { hostname: "lb.example.org" }],
				},
			},
		};
		expect(planServiceTable(owner, [], { asOf: "42" })).toEqual({
			key: "default/web",
			asOf: "42",
			createdAt: "2026-01-01T00:00:00Z",
			ports: [
				{
					name: "http",
					protocol: "TCP",
					family: "IPv4",
					clusterIP: "10.96.0.10",
					port: 80,
					nodePort: 30080,
					externalIPs: ["203.0.113.1"],
					loadBalancerVIPs: ["198.51.100.1"],
					loadBalancerSourceRanges: ["192.0.2.0/24"],
					hasSourceRanges: true,
					isInternalLocal: true,
					isExternalLocal: true,
					affinitySeconds: 10_800,
					healthCheckNodePort: 32000,
					cluster: [],
					local: [],
					hasAny: false,
					hints: { mode: "none" },
					skipped: [],
					servingIPs: [],
				},
			],
			localReady: 0,
		});
	});

	test("counts the addresses that are ready on this node, whatever their ports", () => {
		const two = { ports: [HTTP, { name: "metrics", protocol: "TCP", port: 9100 } as const] };
		const ends = [
			at("10.0.0.1", { nodeName: "n1" }),
			at("10.0.0.2", { nodeName: "n1", conditions: { ready: false, serving: true, terminating: true } }),
			at("10.0.0.3", { nodeName: "n2" }),
		];
		const owner = service("web", {
			ports: [
				{ name: "http", port: 80 },
				{ name: "metrics", port: 9100 },
			],
		});
		expect(planServiceTable(owner, [slice("a", ends, two)], { nodeName: "n1" }).localReady).toBe(1);
	});

	test("says which endpoints get nothing new, and why, and what became of the hints", () => {
		const zone = (name: string): Partial<Endpoint> => ({ hints: { forZones: [{ name }] } });
		const leaving = { ready: false, serving: true, terminating: true };
		const ends = [
			at("10.0.0.1", zone("za")),
			at("10.0.0.2", zone("zb")),
			at("10.0.0.3", { conditions: { ready: false } }),
			at("10.0.0.4", { conditions: leaving }),
			at("10.0.0.5", { conditions: { ...leaving, serving: false } }),
		];
		const table = (place: object) => planServiceTable(service("web"), [slice("a", ends)], place).ports[0];
		expect(table({ zone: "za" })?.skipped.map(({ ip, why }) => `${ip} ${why}`)).toEqual([
			"10.0.0.2 hinted at other zones",
			"10.0.0.3 not ready",
			"10.0.0.4 terminating, and others are ready",
			"10.0.0.5 terminating, and not serving",
		]);
		expect([table({ zone: "za" })?.hints, table({ zone: "zx" })?.hints, table({})?.hints]).toEqual([
			{ mode: "PreferSameZone" },
			{ mode: "none", ignored: "no hint names this zone" },
			{ mode: "none", ignored: "this node has no zone" },
		]);
	});

	test("says which Pod and node a target is on", () => {
		const endpoint = at("10.0.0.1", {
			nodeName: "n1",
			targetRef: { kind: "Pod", namespace: "default", name: "web-1" },
		});
		expect(planServiceTable(service("web"), [slice("a", [endpoint])]).ports[0]?.cluster).toEqual([
			{ ip: "10.0.0.1", port: 8080, nodeName: "n1", podKey: "default/web-1" },
		]);
	});
});

describe("serviceKeyOfSlice()", () => {
	test("does not take the prototype for a label", () => {
		expect(serviceKeyOfSlice(slice("a", [], { metadata: meta("a", { labels: {} }) }))).toBeUndefined();
		expect(serviceKeyOfSlice(slice("a", []))).toBe("default/web");
	});
});
