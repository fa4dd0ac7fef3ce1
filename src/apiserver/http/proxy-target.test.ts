import { describe, expect, test } from "vitest";
import type { Endpoints } from "../../api/types/core.ts";
import { meta, pod, service } from "../../testing/builders.ts";
import { SeededRandom } from "../../testing/seeded.ts";
import { podTarget, proxiedName, serviceTarget } from "./proxy-target.ts";

describe("proxiedName()", () => {
	test.each([
		["web", { scheme: "http", name: "web", port: "" }],
		["web:80", { scheme: "http", name: "web", port: "80" }],
		["http:web:metrics", { scheme: "http", name: "web", port: "metrics" }],
		["https:web:", { scheme: "https", name: "web", port: "" }],
		["https:web", { scheme: "http", name: "https", port: "web" }],
	])("reads %s", (id, name) => {
		expect(proxiedName(id, "service")).toEqual(name);
	});

	test.each(["ftp:web:80", "a:b:c:d", ":"])("refuses %s", (id) => {
		expect(() => proxiedName(id, "pod")).toThrow(`invalid pod request "${id}"`);
	});
});

describe("serviceTarget()", () => {
	const endpoints: Endpoints = {
		apiVersion: "v1",
		kind: "Endpoints",
		metadata: meta("web"),
		subsets: [{ addresses: [{ ip: "10.244.0.1" }], ports: [{ name: "http", port: 8080, protocol: "TCP" }] }],
	};
	const at = (port: string, given: Endpoints | undefined = endpoints) =>
		serviceTarget(service("web"), given, { id: `web:${port}`, port }, new SeededRandom(1));

	test.each(["http", "80"])("finds the endpoint's port by the Service's port %s", (port) => {
		expect(at(port)).toEqual({ ip: "10.244.0.1", port: 8080 });
	});

	test("says as a real server does that there are no endpoints, or no such port", () => {
		expect(() => at("http", { ...endpoints, subsets: [] })).toThrow('no endpoints available for service "web"');
		expect(() => at("81")).toThrow('no service port 81 found for service "web"');
		expect(() => at("other")).toThrow('no endpoints available for service "web:other"');
	});
});

describe("podTarget()", () => {
	test("takes the port that was asked for, else 80", () => {
		const one = pod("p", { ips: ["10.244.0.1"] });
		expect(podTarget(one, "81")).toEqual({ ip: "10.244.0.1", port: 81 });
		expect(podTarget({ ...one, spec: { containers: [{ name: "main" }] } }, "").port).toBe(80);
		expect(() => podTarget(one, "x")).toThrow('invalid port "x"');
		expect(() => podTarget({ ...one, status: {} }, "")).toThrow("address not allowed");
	});
});
