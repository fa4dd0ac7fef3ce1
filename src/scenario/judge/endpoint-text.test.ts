import { expect, test } from "vitest";
import type { EndpointSlice } from "../../api/types/discovery.ts";
import { metadataOf } from "../../testing/api-objects.ts";
import { endpointsOf, endpointText, fitsEndpoint, parsedEndpoint, portsOf } from "./endpoint-text.ts";

const SLICE: EndpointSlice = {
	apiVersion: "discovery.k8s.io/v1",
	kind: "EndpointSlice",
	metadata: metadataOf("web-1"),
	addressType: "IPv4",
	endpoints: [
		{
			addresses: ["10.1.0.1", "10.1.0.2"],
			conditions: { ready: true, serving: false, terminating: true },
			targetRef: { kind: "Pod", name: "a" },
			nodeName: "n1",
			zone: "z1",
			hostname: "h",
			hints: { forZones: [{ name: "z1" }, { name: "z2" }] },
		},
		{ addresses: ["10.1.0.3"], conditions: { ready: false } },
		{ addresses: ["10.1.0.4"], conditions: {} },
	],
	ports: [{ name: "http", port: 80, protocol: "TCP" }, { port: 53, protocol: "UDP" }, {}],
};

test("every address is a line, with each thing that there is to say", () => {
	expect(endpointsOf(SLICE).map(endpointText)).toEqual([
		"10.1.0.1 RsT pod=a node=n1 zone=z1 hostname=h hints=z1,z2",
		"10.1.0.2 RsT pod=a node=n1 zone=z1 hostname=h hints=z1,z2",
		"10.1.0.3 r--",
		"10.1.0.4 ---",
	]);
});

test("ports are NAME:PORT/PROTO, and what is absent has no name and is TCP", () => {
	expect(portsOf(SLICE)).toEqual(["http:80/TCP", ":53/UDP", ":/TCP"]);
	expect(portsOf({ ...SLICE, ports: null })).toEqual([]);
});

test.each([
	["10.1.0.1 RsT", true],
	["10.1.0.1 RsT pod=a hints=z1,z2", true],
	["10.1.0.1 RST", false],
	["10.1.0.1 Rs-", false],
	["10.1.0.1 RsT pod=b", false],
	["10.1.0.1 RsT pod=-", false],
	["10.1.0.1 RsT hints=z1", false],
	["10.1.0.9 RsT", false],
])("%s fits the first: %s", (text, fits) => {
	const [first] = endpointsOf(SLICE);
	expect(first !== undefined && fitsEndpoint(parsedEndpoint(text), first)).toBe(fits);
});

test("a key that is wanted absent fits where it is", () => {
	const last = endpointsOf(SLICE).at(-1);
	expect(last !== undefined && fitsEndpoint(parsedEndpoint("10.1.0.4 --- pod=- zone=-"), last)).toBe(true);
});
