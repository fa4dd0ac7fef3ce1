import { describe, expect, test } from "vitest";
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

	test("has no hostname unless the subdomain is the Service's name, and no zone without a Node", () => {
		const other = pod("a", { ip: "10.0.0.1", spec: { hostname: "h", subdomain: "db" } });
		expect(endpointOf(other, web, { ...v4, node: undefined })).not.toMatchObject({ hostname: "h" });
		expect(endpointOf(other, web, { ...v4, node: undefined })?.zone).toBeUndefined();
	});

	test("writes addresses in the one canonical form, and none of the other family", () => {
		const both = pod("a", { ips: ["010.0.0.1", "FD00:0::1"] });
		expect(endpointOf(both, web, v4)?.addresses).toEqual(["10.0.0.1"]);
		expect(endpointOf(both, web, { ...v4, family: "IPv6" })?.addresses).toEqual(["fd00::1"]);
		expect(endpointOf(pod("a", { ip: "10.0.0.1" }), web, { ...v4, family: "IPv6" })).toBeUndefined();
		expect(endpointOf(pod("a", { status: { podIP: "10.0.0.1" } }), web, v4)).toBeUndefined();
	});
});

const endpoint: Endpoint = {
	addresses: ["10.0.0.1"],
	conditions: { ready: true, serving: true, terminating: false },
	targetRef: { kind: "Pod", namespace: "default", name: "a", uid: "u" },
	nodeName: "n1",
	zone: "za",
};
const conditions = { ready: true, serving: true };

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
		["hints", { hints: { forZones: [{ name: "za" }] } }, true, true],
	])("that differ by %s: same identity %s, equal in the rest %s", (_, difference, isSameOne, isEqual) => {
		const other = { ...endpoint, ...difference };
		expect(identityOf(other) === identityOf(endpoint)).toBe(isSameOne);
		expect(sameEndpoint(endpoint, other)).toBe(isEqual);
	});
});
