import { describe, expect, test } from "vitest";
import type { ServicePort } from "../../api/types/core.ts";
import type { EndpointPort } from "../../api/types/discovery.ts";
import { pod, service } from "../../testing/builders.ts";
import { portGroupKey, portHash, portsOf, sortedPorts } from "./port-group.ts";

const tcp = (name: string, port: number, appProtocol?: string): EndpointPort => ({
	name,
	protocol: "TCP",
	port,
	...(appProtocol === undefined ? {} : { appProtocol }),
});
const names = (ports: readonly EndpointPort[]): string =>
	sortedPorts(ports)
		.map(({ name }) => name)
		.join(" ");

describe("portHash() is upstream's", () => {
	test.each<[EndpointPort, string]>([
		[tcp("http", 80), "b6c4d325122a5ba6f795b0bbffcebb6f"],
		[tcp("https", 443), "50852f610b5fbbf5129025d35e502185"],
		[tcp("", 8080), "3b28a02dcead55ad0b93f0014e194ac7"],
		[{ name: "dns", protocol: "UDP", port: 53 }, "1caf216365b57b5d2659d4ba9f662580"],
		[tcp("dns-tcp", 53), "8fa5f9e263f7f66112d31fc2ebea1e2a"],
		[tcp("metrics", 9153), "f17bf63bdbb003d0f2f8e0b73efa3324"],
		[tcp("grpc", 9090, "kubernetes.io/h2c"), "1fdbc42154e9ebd6db4993d21b99f4f0"],
		[tcp("admin", 9901), "d5c38b096d959738b1e0f80061f91b75"],
		[{ name: "sctp", protocol: "SCTP", port: 7777 }, "64456c288191518f561f739e6c909e82"],
	])("%j", (port, hash) => {
		expect(portHash(port)).toBe(hash);
	});
});

describe("sortedPorts() orders as upstream does", () => {
	const [http, https] = [tcp("http", 80), tcp("https", 443)];
	const dns: EndpointPort = { name: "dns", protocol: "UDP", port: 53 };
	test.each([
		[[http, https], "https http"],
		[[tcp("metrics", 9153), dns, tcp("dns-tcp", 53)], "dns dns-tcp metrics"],
		[[http, https, tcp("grpc", 9090, "kubernetes.io/h2c"), tcp("admin", 9901)], "grpc https http admin"],
		[[tcp("a", 1), tcp("b", 2), tcp("c", 3)], "b c a"],
	])("%j", (ports, order) => {
		expect(names(ports)).toBe(order);
	});
});

describe("portGroupKey()", () => {
	test("is free of order, and takes null for empty", () => {
		const [a, b] = [tcp("a", 1), tcp("b", 2)];
		expect(portGroupKey([a, b])).toBe(portGroupKey([b, a]));
		expect(portGroupKey(null)).toBe(portGroupKey([]));
	});

	test.each([
		["port", tcp("a", 2)],
		["name", tcp("b", 1)],
		["protocol", { name: "a", protocol: "UDP", port: 1 } as const],
		["appProtocol", tcp("a", 1, "http")],
	])("tells ports apart by %s", (_, other) => {
		expect(portGroupKey([tcp("a", 1)])).not.toBe(portGroupKey([other]));
	});
});

describe("portsOf()", () => {
	const target = (targetPort: number | string, protocol: "TCP" | "UDP" = "TCP") =>
		service("web", { ports: [{ name: "p", port: 80, targetPort, protocol }] });
	const container = (name: string, port: number, protocol: "TCP" | "UDP" = "TCP") => ({
		name,
		ports: [{ name: "http", containerPort: port, protocol }],
	});
	const sidecar = { ...container("proxy", 15001), restartPolicy: "Always" };
	const onlySidecar = pod("a", { spec: { containers: [{ name: "c" }], initContainers: [sidecar] } });
	const onlyInit = pod("a", { spec: { containers: [{ name: "c" }], initContainers: [container("init", 1)] } });
	const both = pod("a", { spec: { containers: [container("udp", 53, "UDP"), container("tcp", 54)] } });

	const first = { ...container("first", 1), ports: [{ name: "http", containerPort: 1, protocol: "TCP" as const }] };
	const manyNames = pod("a", { spec: { containers: [first, container("second", 2)], initContainers: [sidecar] } });
	const failing = pod("a", {
		spec: {
			containers: [{ name: "c" }],
			initContainers: [{ ...container("init", 1), restartPolicy: "OnFailure" }, sidecar],
		},
	});

	test.each([
		["the first container that has the name wins, sidecars last", manyNames, target("http"), [1]],
		["an init container that restarts on failure alone is no sidecar", failing, target("http"), [15001]],
		["a sidecar's port of another protocol is another port", onlySidecar, target("http", "UDP"), []],
		["a number written as a text is a name", pod("a"), target("8080"), []],
		["a number is taken as it is", pod("a"), target(9999), [9999]],
		["a name is the first container port of that name and protocol", both, target("http"), [54]],
		["a name with the other protocol is another port", both, target("http", "UDP"), [53]],
		["a sidecar's ports count", onlySidecar, target("http"), [15001]],
		["those of other init containers do not", onlyInit, target("http"), []],
		["a port that the Pod lacks is left out", pod("a"), target("metrics"), []],
	])("%s", (_, on, of, ports) => {
		expect(portsOf(on, of).map(({ port }) => port)).toEqual(ports);
	});

	test.each<[string, readonly ServicePort[], string]>([
		["a headless Service without ports has none", [], ""],
		["a port without name has an empty one", [{ port: 80, targetPort: 8080, protocol: "TCP" }], ":8080/TCP"],
		["SCTP is a protocol like others", [{ name: "s", port: 7, targetPort: 7777, protocol: "SCTP" }], "s:7777/SCTP"],
		[
			"one number in two protocols is two ports",
			[
				{ name: "dns-tcp", port: 53, targetPort: 53, protocol: "TCP" },
				{ name: "dns", port: 53, targetPort: 53, protocol: "UDP" },
			],
			"dns:53/UDP dns-tcp:53/TCP",
		],
		[
			"two ports of one number are two ports",
			[
				{ name: "a", port: 80, targetPort: 8080, protocol: "TCP" },
				{ name: "b", port: 81, targetPort: 8080, protocol: "TCP" },
			],
			"b:8080/TCP a:8080/TCP",
		],
		[
			"the application's protocol is the Service's",
			[{ name: "g", port: 80, targetPort: 9090, protocol: "TCP", appProtocol: "kubernetes.io/h2c" }],
			"g:9090/TCP/kubernetes.io/h2c",
		],
		[
			"only the port that is not found is left out",
			[
				{ name: "m", port: 90, targetPort: "metrics", protocol: "TCP" },
				{ name: "h", port: 80, targetPort: "http", protocol: "TCP" },
			],
			"h:8080/TCP",
		],
	])("%s", (_, ports, words) => {
		const found = portsOf(pod("a"), service("web", { ports, clusterIP: "None" }));
		const text = ({ name, port, protocol, appProtocol }: EndpointPort): string =>
			`${name}:${port}/${protocol}${appProtocol === undefined ? "" : `/${appProtocol}`}`;
		expect(found.map(text).join(" ")).toBe(words);
	});
});
