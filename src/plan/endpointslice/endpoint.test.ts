import { describe, expect, test } from "vitest";
import type { Service } from "../../api/types/core.ts";
import type { Endpoint } from "../../api/types/discovery.ts";
import { node, pod, service } from "../../testing/builders.ts";
import { endpointOf, identityOf, sameEndpoint } from "./endpoint.ts";

const web = service("web");
const n1 = node("n1", "za");
const v4 = { node: n1, family: "IPv4" as const };

describe("endpointOf()", () => {
	test.each<[boolean, boolean, boolean, string]>([
		[true, false, false, "ready serving"],
		[false, false, false, ""],
		[true, true, false, "serving terminating"],
		[false, true, false, "terminating"],
		[true, false, true, "ready serving"],
		[false, false, true, "ready"],
		[true, true, true, "ready serving terminating"],
		[false, true, true, "ready terminating"],
	])(
		"Pod ready %s, terminating %s, all published %s: %s",
		(isReady, isTerminating, publishNotReadyAddresses, words) => {
			const of = service("web", { publishNotReadyAddresses });
			const conditions = endpointOf(pod("a", { ip: "10.0.0.1", isReady, isTerminating }), of, v4)?.conditions ?? {};
			const held = Object.entries(conditions).flatMap(([name, value]) => (value === true ? [name] : []));
			expect(Object.keys(conditions)).toHaveLength(3);
			expect(held.join(" ")).toBe(words);
		},
	);

	test("tells where the Pod is and what it is", () => {
		const spec = { hostname: "h", subdomain: "web" };
		expect(endpointOf(pod("a", { ip: "10.0.0.1", spec }), web, v4)).toEqual({
			addresses: ["10.0.0.1"],
			conditions: { ready: true, serving: true, terminating: false },
			hostname: "h",
			targetRef: { kind: "Pod", namespace: "default", name: "a", uid: "uid-a" },
			nodeName: "n1",
			zone: "za",
		});
	});

	const headless = service("web", { clusterIP: "None" });
	test.each<[string, Service, { hostname?: string; subdomain?: string }, string | undefined]>([
		["a hostname under the Service's name is shown", headless, { hostname: "h", subdomain: "web" }, "h"],
		["also when the Service has a cluster IP", web, { hostname: "h", subdomain: "web" }, "h"],
		["a hostname under another name is not", headless, { hostname: "h", subdomain: "db" }, undefined],
		["a hostname alone is not", headless, { hostname: "h" }, undefined],
		["a subdomain alone gives none", headless, { subdomain: "web" }, undefined],
		["an empty hostname gives none", headless, { hostname: "", subdomain: "web" }, undefined],
	])("%s", (_, of, spec, hostname) => {
		expect(endpointOf(pod("a", { ip: "10.0.0.1", spec }), of, v4)?.hostname).toBe(hostname);
	});

	test.each<[string, readonly string[], string, string]>([
		["one of each family", ["10.0.0.1", "fd00::1"], "10.0.0.1", "fd00::1"],
		["the other family first", ["fd00::1", "10.0.0.1"], "10.0.0.1", "fd00::1"],
		["leading zeros, capitals and zero groups", ["010.0.0.01", "FD00:0::1"], "10.0.0.1", "fd00::1"],
		["IPv4 written as IPv6", ["::ffff:10.0.0.1"], "10.0.0.1", ""],
		["what is no address", ["pod-a"], "<nil>", ""],
		["an address with a zone of an interface", ["fe80::1%eth0"], "<nil>", ""],
		["an empty text", [""], "<nil>", ""],
		["two of a family, in the order of their texts", ["10.0.0.9", "10.0.0.10"], "10.0.0.10 10.0.0.9", ""],
	])("addresses of %s", (_, ips, ofIPv4, ofIPv6) => {
		const has = pod("a", { status: { podIPs: ips.map((ip) => ({ ip })) } });
		const addresses = (family: "IPv4" | "IPv6"): string =>
			(endpointOf(has, web, { node: n1, family })?.addresses ?? []).join(" ");
		expect([addresses("IPv4"), addresses("IPv6")]).toEqual([ofIPv4, ofIPv6]);
	});

	test("takes no notice of the old annotation that asked for endpoints that are not ready", () => {
		const annotations = { "service.alpha.kubernetes.io/tolerate-unready-endpoints": "true" };
		const of = service("web", {}, { annotations });
		expect(endpointOf(pod("a", { ip: "10.0.0.1", isReady: false }), of, v4)?.conditions.ready).toBe(false);
	});
});

const target = { kind: "Pod", namespace: "default", name: "a", uid: "u" };
const endpoint: Endpoint = {
	addresses: ["10.0.0.1"],
	conditions: { ready: true, serving: true, terminating: false },
	targetRef: target,
	nodeName: "n1",
	zone: "za",
};
const conditions = { ready: true, serving: true };
const { targetRef: _target, zone: _zone, ...rest } = endpoint;

describe("two endpoints", () => {
	test.each<[string, Partial<Endpoint>, boolean, boolean]>([
		["another address", { addresses: ["10.0.0.2"] }, false, true],
		["another hostname", { hostname: "h" }, false, true],
		["another Pod", { targetRef: { ...endpoint.targetRef, name: "b" } }, false, false],
		["the Pod's successor of the same name", { targetRef: { ...endpoint.targetRef, uid: "v" } }, true, false],
		["another resourceVersion of the Pod", { targetRef: { ...endpoint.targetRef, resourceVersion: "9" } }, true, true],
		["another Node", { nodeName: "n2" }, true, false],
		["another zone", { zone: "zb" }, true, false],
		["an absent condition", { conditions }, true, false],
		["readiness", { conditions: { ...endpoint.conditions, ready: false } }, true, false],
		["whether it serves", { conditions: { ...endpoint.conditions, serving: false } }, true, false],
		["whether it terminates", { conditions: { ...endpoint.conditions, terminating: true } }, true, false],
		["the Pod's namespace", { targetRef: { ...target, namespace: "other" } }, false, false],
		["the target's kind", { targetRef: { ...target, kind: "VM" } }, true, false],
		["the target's apiVersion", { targetRef: { ...target, apiVersion: "v1" } }, true, false],
		["the target's fieldPath", { targetRef: { ...target, fieldPath: "spec" } }, true, false],
		["the old topology", { deprecatedTopology: { a: "b" } }, true, true],
		["hints", { hints: { forZones: [{ name: "za" }] } }, true, true],
	])("that differ by %s: same identity %s, equal in the rest %s", (_, difference, isSameOne, isEqual) => {
		const other = { ...endpoint, ...difference };
		expect(identityOf(other) === identityOf(endpoint)).toBe(isSameOne);
		expect(sameEndpoint(endpoint, other)).toBe(isEqual);
	});

	test.each<[string, Endpoint, Endpoint, boolean]>([
		[
			"in the order of their addresses alone",
			{ ...rest, addresses: ["a", "b"] },
			{ ...rest, addresses: ["b", "a"] },
			true,
		],
		["in that one has a zone, are one", endpoint, { ...rest, targetRef: target }, true],
		["in that one is of no Pod, are two", endpoint, rest, false],
	])("that differ %s", (_, a, b, isSameOne) => {
		expect(identityOf(a) === identityOf(b)).toBe(isSameOne);
	});

	test("that differ in that one has no zone, or no target, are not equal", () => {
		expect(sameEndpoint(endpoint, { ...rest, targetRef: target })).toBe(false);
		expect(sameEndpoint(endpoint, { ...rest, zone: "za" })).toBe(false);
	});
});
