import { describe, expect, test } from "vitest";
import { errorTexts, metadataOf } from "../../testing/api-objects.ts";
import type { EndpointSubset, Endpoints } from "../types/core.ts";
import type { Endpoint, EndpointPort, EndpointSlice } from "../types/discovery.ts";
import { ENDPOINT_SLICE } from "./endpoint-slice.ts";
import { ENDPOINTS_TYPE } from "./endpoints.ts";

function endpoints(subsets: readonly EndpointSubset[], labels = {}): Endpoints {
	return { apiVersion: "v1", kind: "Endpoints", metadata: metadataOf("web", { labels }), subsets };
}

const SUBSET: EndpointSubset = { addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80, protocol: "TCP" }] };

describe("Endpoints", () => {
	test("a port's protocol is TCP", () => {
		const made = ENDPOINTS_TYPE.withDefaults(endpoints([{ ...SUBSET, ports: [{ port: 80 }] }]));
		expect(made).toEqual(endpoints([SUBSET]));
	});

	test.each<{ rule: string; subset: EndpointSubset; errors: readonly string[] }>([
		{ rule: "a good subset", subset: SUBSET, errors: [] },
		{
			rule: "addresses are required",
			subset: {},
			errors: ["subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"],
		},
		{
			rule: "a text that is no address breaks two rules",
			subset: { notReadyAddresses: [{ ip: "x" }] },
			errors: [
				'subsets[0].notReadyAddresses[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
				'subsets[0].notReadyAddresses[0].ip: Invalid value: "x": must be a valid IP address',
			],
		},
		{
			rule: "leading zeros are refused",
			subset: { addresses: [{ ip: "010.1.0.6" }] },
			errors: ['subsets[0].addresses[0].ip: Invalid value: "010.1.0.6": must not have leading 0s'],
		},
		{
			rule: "several ports have names, not needfully different ones",
			subset: {
				...SUBSET,
				ports: [
					{ port: 0, protocol: "TCP" },
					{ port: 1, name: "a", protocol: "TCP" },
					{ port: 2, name: "a", protocol: "TCP" },
				],
			},
			errors: [
				"subsets[0].ports[0].name: Required value",
				"subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
			],
		},
	])("$rule", ({ subset, errors }) => {
		expect(errorTexts(ENDPOINTS_TYPE.validate(endpoints([subset])))).toEqual(errors);
	});

	test("what did not change is not checked again", () => {
		const odd = endpoints([{ addresses: [{ ip: "010.1.0.5" }] }]);
		expect(ENDPOINTS_TYPE.validateUpdate({ ...odd, metadata: metadataOf("web", { labels: { a: "b" } }) }, odd)).toEqual(
			[],
		);
		expect(ENDPOINTS_TYPE.validateUpdate(odd, endpoints([]))).toHaveLength(1);
	});

	test("odd forms are warned of, but not to the controller", () => {
		const odd = [{ addresses: [{ ip: "FD00::1" }] }];
		expect(ENDPOINTS_TYPE.warnings(endpoints(odd), undefined)).toEqual([
			'subsets[0].addresses[0].ip: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")',
		]);
		const labels = { "endpoints.kubernetes.io/managed-by": "endpoint-controller" };
		expect(ENDPOINTS_TYPE.warnings(endpoints(odd, labels), undefined)).toEqual([]);
	});
});

function slice(parts: Partial<EndpointSlice>): EndpointSlice {
	return {
		apiVersion: "discovery.k8s.io/v1",
		kind: "EndpointSlice",
		metadata: metadataOf("web-1"),
		addressType: "IPv4",
		endpoints: null,
		ports: null,
		...parts,
	};
}

function endpoint(...addresses: string[]): Endpoint {
	return { addresses, conditions: {} };
}

const defaulted = (parts: Partial<EndpointSlice>): EndpointSlice =>
	ENDPOINT_SLICE.withDefaults(slice(parts)) as EndpointSlice;

describe("EndpointSlice", () => {
	test("ports get an explicit name and protocol, empty lists become null", () => {
		const ports: EndpointPort[] = [{ port: 80 }];
		expect(defaulted({ ports, endpoints: [] })).toEqual(slice({ ports: [{ port: 80, name: "", protocol: "TCP" }] }));
	});

	test.each<{ rule: string; parts: Partial<EndpointSlice>; errors: readonly string[] }>([
		{ rule: "a good slice", parts: { endpoints: [endpoint("10.0.0.1")], ports: [{ port: 80 }] }, errors: [] },
		{
			rule: "an address type is required",
			parts: { addressType: "" as "IPv4" },
			errors: ["addressType: Required value"],
		},
		{
			rule: "there are three address types",
			parts: { addressType: "IPX" as "IPv4" },
			errors: ['addressType: Unsupported value: "IPX": supported values: "FQDN", "IPv4", "IPv6"'],
		},
		{
			rule: "two ports without a name clash, and the number is free",
			parts: { ports: [{ port: 99_999 }, {}] },
			errors: ['ports[1].name: Duplicate value: ""'],
		},
		{
			rule: "each endpoint has an address",
			parts: { endpoints: [endpoint()] },
			errors: ["endpoints[0].addresses: Required value: must contain at least 1 address"],
		},
		{
			rule: "at most 100 addresses",
			parts: { endpoints: [endpoint(...Array.from({ length: 101 }, () => "10.0.0.1"))] },
			errors: ["endpoints[0].addresses: Too many: 101: must have at most 100 items"],
		},
		{
			rule: "at most 1000 endpoints, whatever they are",
			parts: { endpoints: Array.from({ length: 1001 }, () => endpoint("x")) },
			errors: ["endpoints: Too many: 1001: must have at most 1000 items"],
		},
		{
			rule: "IPv4 addresses of an IPv4 slice",
			parts: { endpoints: [endpoint("10.0.0.01", "fd00::1", "169.254.0.1")] },
			errors: [
				'endpoints[0].addresses[0]: Invalid value: "10.0.0.01": must not have leading 0s',
				'endpoints[0].addresses: Invalid value: "fd00::1": must be an IPv4 address',
				'endpoints[0].addresses[2]: Invalid value: "169.254.0.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
			],
		},
		{
			rule: "IPv6 addresses are canonical",
			parts: { addressType: "IPv6", endpoints: [endpoint("FD00::1", "10.0.0.1")] },
			errors: [
				'endpoints[0].addresses[0]: Invalid value: "FD00::1": must be in canonical form ("fd00::1")',
				'endpoints[0].addresses: Invalid value: "10.0.0.1": must be an IPv6 address',
			],
		},
		{
			rule: "names have two segments",
			parts: { addressType: "FQDN", endpoints: [endpoint("a.example.", "example")] },
			errors: [
				'endpoints[0].addresses[1]: Invalid value: "example": should be a domain with at least two segments separated by dots',
			],
		},
		{
			rule: "at most eight hints, each once",
			parts: {
				endpoints: [
					{ ...endpoint("10.0.0.1"), hints: { forZones: [{ name: "a" }, { name: "a" }] } },
					{ ...endpoint("10.0.0.1"), hints: { forNodes: Array.from({ length: 9 }, () => ({ name: "n" })) } },
				],
			},
			errors: [
				'endpoints[0].hints.forZones[1].name: Duplicate value: "a"',
				"endpoints[1].hints.forNodes: Too many: 9: must have at most 8 items",
			],
		},
	])("$rule", ({ parts, errors }) => {
		expect(errorTexts(ENDPOINT_SLICE.validate(defaulted(parts)))).toEqual(errors);
	});

	test("the address type stays, unchanged endpoints are not checked again", () => {
		const odd = slice({ endpoints: [endpoint("010.0.0.1")] });
		expect(ENDPOINT_SLICE.validateUpdate(odd, odd)).toEqual([]);
		expect(errorTexts(ENDPOINT_SLICE.validateUpdate(slice({ addressType: "IPv6" }), slice({})))).toEqual([
			'addressType: Invalid value: "IPv6": field is immutable',
		]);
	});

	test("the topology of v1beta1 goes when endpoints change, and leaves the node's name behind", () => {
		const old = { ...endpoint("10.0.0.1"), deprecatedTopology: { "kubernetes.io/hostname": "n1" } };
		const stored = slice({ endpoints: [old] });
		expect(ENDPOINT_SLICE.prepareCreate(stored, { nowMs: 0 })).toMatchObject({ endpoints: [endpoint("10.0.0.1")] });
		expect(ENDPOINT_SLICE.prepareUpdate(stored, stored)).toBe(stored);
		const next = slice({ endpoints: [old, endpoint("10.0.0.2")] });
		expect(ENDPOINT_SLICE.prepareUpdate(next, stored)).toEqual(
			slice({ endpoints: [{ ...endpoint("10.0.0.1"), nodeName: "n1" }, endpoint("10.0.0.2")] }),
		);
	});

	test("warns of names on create, and of odd forms of foreign writers", () => {
		const names = slice({ addressType: "FQDN" });
		expect(ENDPOINT_SLICE.warnings(names, undefined)).toEqual(["spec.addressType: FQDN endpoints are deprecated"]);
		expect(ENDPOINT_SLICE.warnings(names, names)).toEqual([]);
		const odd = slice({ addressType: "IPv6", endpoints: [endpoint("FD00::1")] });
		expect(ENDPOINT_SLICE.warnings(odd, undefined)).toHaveLength(1);
		const labels = { "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io" };
		expect(ENDPOINT_SLICE.warnings({ ...odd, metadata: metadataOf("a", { labels }) }, undefined)).toEqual([]);
	});
});
