import { expect, test } from "vitest";
import { parseCIDR } from "../api/ip.ts";
import { assertDefined } from "../kernel/assert.ts";
import { dnsEndpointSlice, dnsService } from "./dns-service.ts";

const ranges = ["10.96.0.0/16", "fd00:96::/112"].map((text) => assertDefined(parseCIDR(text), text));

test.each([
	{ count: 1, clusterIPs: ["10.96.0.10"], ipFamilyPolicy: "SingleStack" },
	{ count: 2, clusterIPs: ["10.96.0.10", "fd00:96::a"], ipFamilyPolicy: "RequireDualStack" },
])("DNS has the tenth address of each of $count ranges", ({ count, ...spec }) => {
	expect(dnsService(ranges.slice(0, count))).toMatchObject({ spec });
});

test("its endpoint is where DNS is served, over UDP and TCP", () => {
	const { endpoints, ports } = dnsEndpointSlice("IPv4", "192.168.255.254");
	expect(endpoints?.map(({ addresses }) => addresses)).toEqual([["192.168.255.254"]]);
	expect(ports?.map(({ protocol, port }) => `${protocol}/${port}`)).toEqual(["UDP/53", "TCP/53"]);
});
