/** The rules of mirroring, a row for each; what plan-mirror.test.ts shows is not repeated. */
import { describe, expect, test } from "vitest";
import type { EndpointAddress, EndpointSubset, Endpoints, Service } from "../../api/types/core.ts";
import type { Endpoint, EndpointSlice } from "../../api/types/discovery.ts";
import type { ObjectMeta } from "../../api/types/meta.ts";
import {
	ENDPOINTSLICEMIRRORING_CONTROLLER,
	SERVICE_NAME_LABEL,
	SLICE_MANAGED_BY_LABEL,
	TRIGGER_TIME_ANNOTATION,
} from "../../api/well-known.ts";
import { meta, service } from "../../testing/builders.ts";
import { stored } from "../../testing/slice-worlds.ts";
import { mayBeMirrored, wantsMirror } from "./eligibility.ts";
import { type MirrorPlan, planMirror } from "./plan-mirror.ts";
import { renderMirrorPlan } from "./render.ts";

const LIMITS = { addressesPerSubsetMax: 1000 };
const http = { name: "http", port: 80, protocol: "TCP" as const };
const https = { name: "https", port: 443, protocol: "TCP" as const };

function endpoints(subsets: readonly EndpointSubset[], metadata: Partial<ObjectMeta> = {}): Endpoints {
	return { apiVersion: "v1", kind: "Endpoints", metadata: meta("db", metadata), subsets };
}

const at = (ip: string, more: Partial<EndpointAddress> = {}): EndpointAddress => ({ ip, ...more });
const one = [{ addresses: [at("10.0.0.1")], ports: [http] }];

function planOf(source: Endpoints, existing: readonly EndpointSlice[] = [], limits = LIMITS): MirrorPlan {
	return planMirror({ endpoints: source, existing }, limits);
}

/** The slices of Endpoints that were mirrored before: `s1`, `s2` and on. */
function mirrorOf(source: Endpoints): readonly EndpointSlice[] {
	return planOf(source).creates.map((draft, index) => stored(draft, `s${index + 1}`));
}

describe("which Endpoints are mirrored:", () => {
	const { selector: _, ...withoutSelector } = service("db").spec;
	test.each<[string, Partial<Service["spec"]>, boolean]>([
		["those of a Service without selector", {}, true],
		["of whatever type", { type: "ExternalName", externalName: "example.com" }, true],
		["headless or not", { clusterIP: "None" }, true],
		["with ports or without", { ports: [] }, true],
		["not those of a Service with a selector", { selector: { app: "db" } }, false],
	])("%s", (_rule, spec, wants) => {
		expect(wantsMirror({ ...service("db"), spec: { ...withoutSelector, ...spec } })).toBe(wants);
	});

	test.each<[string, Partial<ObjectMeta>, boolean]>([
		["also those that the Endpoints controller made", { labels: { "endpoints.kubernetes.io/managed-by": "x" } }, true],
		["also those that are being deleted", { deletionTimestamp: "2026-01-01T00:00:00Z" }, true],
		[
			"also those labelled to be skipped in other words",
			{ labels: { "endpointslice.kubernetes.io/skip-mirror": "yes" } },
			true,
		],
	])("%s", (_rule, metadata, may) => {
		expect(mayBeMirrored(endpoints([], metadata))).toBe(may);
	});
});

describe("an endpoint says", () => {
	const targetRef = { kind: "Pod", namespace: "default", name: "p", uid: "u", resourceVersion: "7" };
	test.each<[string, EndpointAddress, Endpoint]>([
		[
			"ready, and nothing of serving and terminating",
			at("10.0.0.1"),
			{ addresses: ["10.0.0.1"], conditions: { ready: true } },
		],
		[
			"its target, whole",
			at("10.0.0.1", { targetRef }),
			{ addresses: ["10.0.0.1"], conditions: { ready: true }, targetRef },
		],
		[
			"its node, and no zone",
			at("10.0.0.1", { nodeName: "n1" }),
			{ addresses: ["10.0.0.1"], conditions: { ready: true }, nodeName: "n1" },
		],
		[
			"its hostname",
			at("10.0.0.1", { hostname: "h" }),
			{ addresses: ["10.0.0.1"], conditions: { ready: true }, hostname: "h" },
		],
		[
			"no hostname that is empty",
			at("10.0.0.1", { hostname: "" }),
			{ addresses: ["10.0.0.1"], conditions: { ready: true } },
		],
	])("%s", (_, address, endpoint) => {
		expect(planOf(endpoints([{ addresses: [address], ports: [http] }])).creates[0]?.endpoints).toEqual([endpoint]);
	});

	test("not ready of what is listed as not ready", () => {
		const source = endpoints([{ notReadyAddresses: [at("10.0.0.1")], ports: [http] }]);
		expect(planOf(source).creates[0]?.endpoints?.[0]?.conditions).toEqual({ ready: false });
	});
});

describe("ports and groups:", () => {
	const grpc = { name: "grpc", port: 9090, protocol: "TCP" as const, appProtocol: "kubernetes.io/h2c" };
	const sub = (ip: string, ...ports: EndpointSubset["ports"] & object): EndpointSubset => ({
		addresses: [at(ip)],
		ports,
	});
	test.each<[string, readonly EndpointSubset[], string]>([
		[
			"subsets are repacked first",
			[sub("10.0.0.1", http), sub("10.0.0.2", http)],
			"create db-* IPv4 [http:80/TCP] [10.0.0.1 10.0.0.2]",
		],
		[
			"ports are in the order of their hash",
			[sub("10.0.0.1", http, https)],
			"create db-* IPv4 [https:443/TCP http:80/TCP] [10.0.0.1]",
		],
		[
			"addresses without ports have a slice without ports",
			[{ addresses: [at("10.0.0.1")] }],
			"create db-* IPv4 [] [10.0.0.1]",
		],
		[
			"a subset of which nothing can be read has no slice",
			[sub("foo", http)],
			"skip 1 addresses, 1 of them not readable",
		],
		[
			"an IPv4 address in IPv6 form is an IPv4 address",
			[sub("::ffff:10.0.0.7", http)],
			"create db-* IPv4 [http:80/TCP] [10.0.0.7]",
		],
		[
			"subsets with equal ports of an appProtocol share a slice",
			[sub("10.0.0.1", grpc), sub("10.0.0.2", grpc)],
			"create db-* IPv4 [grpc:9090/TCP] [10.0.0.2 10.0.0.1]",
		],
	])("%s", (_, subsets, text) => {
		expect(renderMirrorPlan(planOf(endpoints(subsets)))).toBe(text);
	});

	test("a port without a name has an empty one, and an appProtocol comes along", () => {
		const [unnamed] = planOf(
			endpoints([{ addresses: [at("10.0.0.1")], ports: [{ port: 80, protocol: "TCP" }] }]),
		).creates;
		const [named] = planOf(endpoints([{ addresses: [at("10.0.0.1")], ports: [grpc] }])).creates;
		expect([unnamed?.ports, named?.ports]).toEqual([[{ name: "", port: 80, protocol: "TCP" }], [grpc]]);
	});

	test("a slice that subsets share holds no more than the limit of one", () => {
		const ips = (from: number): readonly EndpointAddress[] => [at(`10.0.0.${from}`), at(`10.0.0.${from + 1}`)];
		const subsets = [1, 3].map((from) => ({ addresses: ips(from), ports: [grpc] }));
		const [slice] = planOf(endpoints(subsets), [], { addressesPerSubsetMax: 3 }).creates;
		expect(slice?.endpoints).toHaveLength(3);
	});

	test("of one identity the last form counts, and both count against the limit", () => {
		const first = at("10.0.0.1", {
			targetRef: { kind: "Pod", namespace: "default", name: "p", uid: "1" },
			nodeName: "n1",
		});
		const second = { ...first, targetRef: { ...first.targetRef, uid: "2" }, nodeName: "n2" };
		const source = endpoints([{ addresses: [first, second, at("10.0.0.2")], ports: [http] }]);
		const plan = planOf(source, [], { addressesPerSubsetMax: 2 });
		expect(plan.creates[0]?.endpoints?.map(({ nodeName }) => nodeName)).toEqual(["n2"]);
		expect(plan.counts).toMatchObject({ skipped: 1, invalid: 0 });
	});

	test("skipped counts the invalid ones, subset by subset", () => {
		const source = endpoints([
			{ addresses: [at("10.0.0.1"), at("10.0.0.2"), at("foo")], ports: [http] },
			{ addresses: [at("10.0.1.1"), at("10.0.1.2"), at("10.0.1.3")], ports: [https] },
		]);
		const { counts } = planOf(source, [], { addressesPerSubsetMax: 2 });
		// Of the first subset the limit is reached before `foo` is looked at.
		expect(counts).toMatchObject({ invalid: 0, skipped: 2 });
	});
});

describe("what is written:", () => {
	const before = endpoints(one);
	const labels = { team: "red", [SERVICE_NAME_LABEL]: "other" };
	const twin = (slice: EndpointSlice, name: string): EndpointSlice => ({
		...slice,
		metadata: { ...slice.metadata, name },
	});
	const [mirrored] = mirrorOf(before);
	const six = { addresses: [at("fd00::1")], ports: [http] };
	test.each<[string, readonly EndpointSlice[], Endpoints, string]>([
		["nothing when all is right", mirrorOf(before), before, ""],
		[
			"not the trigger time of the Endpoints",
			mirrorOf(before),
			endpoints(one, { annotations: { [TRIGGER_TIME_ANNOTATION]: "x" } }),
			"",
		],
		[
			"a new annotation, though nothing else changes",
			mirrorOf(before),
			endpoints(one, { annotations: { note: "x" } }),
			"update s1 IPv4 [http:80/TCP] [10.0.0.1]",
		],
		[
			"one that is gone",
			mirrorOf(endpoints(one, { annotations: { note: "x" } })),
			before,
			"update s1 IPv4 [http:80/TCP] [10.0.0.1]",
		],
		[
			"a label that is gone",
			mirrorOf(endpoints(one, { labels: { team: "red" } })),
			before,
			"update s1 IPv4 [http:80/TCP] [10.0.0.1]",
		],
		[
			"an address that turned not ready",
			mirrorOf(before),
			endpoints([{ notReadyAddresses: [at("10.0.0.1")], ports: [http] }]),
			"update s1 IPv4 [http:80/TCP] [10.0.0.1(not-ready)]",
		],
		[
			"an address that is gone, with all that stay",
			mirrorOf(endpoints([{ addresses: [at("10.0.0.1"), at("10.0.0.2")], ports: [http] }])),
			before,
			"update s1 IPv4 [http:80/TCP] [10.0.0.1]",
		],
		[
			"again at every sync, when the Endpoints carry a reserved label",
			mirrorOf(endpoints(one, { labels })),
			endpoints(one, { labels }),
			"update s1 IPv4 [http:80/TCP] [10.0.0.1]",
		],
		[
			"one slice a group: others of it go",
			mirrored === undefined ? [] : [mirrored, twin(mirrored, "s2"), twin(mirrored, "s3")],
			before,
			"delete s2\ndelete s3",
		],
		["a group that is not wanted goes", mirrorOf(endpoints([...one, six])), before, "delete s2"],
		[
			"all of them, when only what cannot be read is listed",
			mirrorOf(before),
			endpoints([{ addresses: [at("foo")], ports: [http] }]),
			"delete s1\nskip 1 addresses, 1 of them not readable",
		],
		[
			"creates and deletes are paired in order, by family",
			mirrorOf(endpoints([...one, six])),
			endpoints([{ addresses: [at("10.0.0.1"), at("fd00::1")], ports: [https] }]),
			"update s1 IPv4 [https:443/TCP] [10.0.0.1]\nupdate s2 IPv6 [https:443/TCP] [fd00::1]",
		],
		[
			"updates and deletes also for Endpoints that are going",
			mirrorOf(before),
			endpoints([], { deletionTimestamp: "2026-01-01T00:00:00Z" }),
			"delete s1",
		],
		[
			"slices that are being deleted are taken for there",
			mirrored === undefined
				? []
				: [{ ...mirrored, metadata: { ...mirrored.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }],
			before,
			"",
		],
	])("%s", (_, existing, now, text) => {
		expect(renderMirrorPlan(planOf(now, existing))).toBe(text);
	});

	test("in an empty group all of its endpoints count as removed", () => {
		expect(planOf(endpoints([]), mirrorOf(before)).counts).toMatchObject({
			added: 0,
			updated: 0,
			removed: 1,
			endpoints: 0,
		});
	});
});

describe("metadata of a mirrored slice:", () => {
	const source = endpoints(one, {
		labels: {
			team: "red",
			[SLICE_MANAGED_BY_LABEL]: "me",
			"endpoints.kubernetes.io/managed-by": "x",
			"service.kubernetes.io/headless": "",
		},
		annotations: {
			note: "mine",
			[TRIGGER_TIME_ANNOTATION]: "t",
			"kubectl.kubernetes.io/last-applied-configuration": "{}",
		},
	});
	test("is the Endpoints' own, with the two labels overwritten, two annotations left out, and the Endpoints as owner", () => {
		const [draft] = planOf(source).creates;
		expect(draft?.metadata).toEqual({
			generateName: "db-",
			namespace: "default",
			labels: {
				team: "red",
				"endpoints.kubernetes.io/managed-by": "x",
				"service.kubernetes.io/headless": "",
				[SERVICE_NAME_LABEL]: "db",
				[SLICE_MANAGED_BY_LABEL]: ENDPOINTSLICEMIRRORING_CONTROLLER,
			},
			annotations: { note: "mine" },
			ownerReferences: [
				{ apiVersion: "v1", kind: "Endpoints", name: "db", uid: "uid-db", controller: true, blockOwnerDeletion: true },
			],
		});
	});

	test("without annotations they are an empty map", () => {
		expect(planOf(endpoints(one)).creates[0]?.metadata.annotations).toEqual({});
	});

	test("of a slice that is written again: its name, and no resourceVersion", () => {
		const [update] = planOf(endpoints(one, { labels: { a: "b" } }), mirrorOf(endpoints(one))).updates;
		expect([update?.metadata.name, update?.metadata.resourceVersion]).toEqual(["s1", undefined]);
	});

	test.each([
		["a name of the greatest length", 253, "-"],
		["one that makes no prefix", 254, ""],
	])("generated names begin with the name and a dash, if that fits: %s", (_, length, dash) => {
		const name = "a".repeat(length);
		const [draft] = planOf({ ...endpoints(one), metadata: meta(name) }).creates;
		expect(draft?.metadata.generateName).toBe(`${name}${dash}`);
	});
});
