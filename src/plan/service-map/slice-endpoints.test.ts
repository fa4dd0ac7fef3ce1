import { expect, test } from "vitest";
import type { EndpointSlice } from "../../api/types/discovery.ts";
import { meta } from "../../testing/builders.ts";
import { ignoredParts } from "./slice-endpoints.ts";

const SERVICE = { "kubernetes.io/service-name": "web" };

function slice(changes: Partial<EndpointSlice>, labels: Readonly<Record<string, string>> = SERVICE): EndpointSlice {
	return {
		apiVersion: "discovery.k8s.io/v1",
		kind: "EndpointSlice",
		metadata: meta("web-1", { labels }),
		addressType: "IPv4",
		endpoints: [{ addresses: ["10.244.0.1"], conditions: {} }],
		ports: [{ name: "", port: 80, protocol: "TCP" }],
		...changes,
	};
}

test.each<readonly [string, EndpointSlice, readonly string[]]>([
	["a slice that is used whole", slice({}), []],
	["a slice of no Service", slice({}, {}), ["no Service: label kubernetes.io/service-name is missing or empty"]],
	["a headless Service's", slice({ addressType: "FQDN" }, { "service.kubernetes.io/headless": "" }), []],
	["names for addresses", slice({ addressType: "FQDN" }), ["addressType FQDN: want IPv4 or IPv6"]],
	["a port without a number", slice({ ports: [{ name: "a" }] }), ["ports[0] a: no number"]],
	["a port without a name", slice({ ports: [{ port: 1 }] }), ["ports[0]: no name"]],
	[
		"an endpoint of no address",
		slice({ endpoints: [{ addresses: [], conditions: {} }] }),
		["endpoints[0]: no addresses"],
	],
])("of %s says what is ignored", (_, made, why) => {
	expect(ignoredParts(made)).toEqual(why);
});
