import { describe, expect, test } from "vitest";
import type { Service } from "../../api/types/core.ts";
import type { Endpoint, EndpointSlice } from "../../api/types/discovery.ts";
import { type HintsMemory, type HintsPlan, NO_HINTS, planHints } from "./hints.ts";
import type { ZoneRatios } from "./zone-ratios.ts";

const ZONES = ["a", "b", "c"];

function ratios(...cpu: number[]): ZoneRatios {
	const total = cpu.reduce((sum, part) => sum + part, 0);
	return new Map(cpu.map((part, index) => [ZONES[index] ?? "", part / total]));
}

function endpoint(index: number, zone: string | undefined, overrides: Partial<Endpoint> = {}): Endpoint {
	return {
		addresses: [`10.0.0.${index}`],
		conditions: { ready: true, serving: true, terminating: false },
		nodeName: `n${index}`,
		...(zone === undefined ? {} : { zone }),
		...overrides,
	};
}

/** So many ready endpoints in zones a, b and c. */
function endpoints(...counts: number[]): Endpoint[] {
	const zones = counts.flatMap((count, index) => Array.from({ length: count }, () => ZONES[index]));
	return zones.map((zone, index) => endpoint(index + 1, zone));
}

function slice(name: string, list: readonly Endpoint[]): EndpointSlice {
	const metadata = { name, namespace: "default", uid: name, resourceVersion: "1", creationTimestamp: "" };
	return { apiVersion: "", kind: "", metadata, addressType: "IPv4", endpoints: list, ports: [] };
}

function service(annotations: Record<string, string>, trafficDistribution?: string): Service {
	const metadata = {
		name: "web",
		namespace: "default",
		uid: "u",
		resourceVersion: "1",
		creationTimestamp: "",
		annotations,
	};
	return {
		apiVersion: "v1",
		kind: "Service",
		metadata,
		spec: trafficDistribution === undefined ? {} : { trafficDistribution },
	};
}

const auto = service({ "service.kubernetes.io/topology-mode": "Auto" });

function plan(
	created: readonly Endpoint[],
	zones: ZoneRatios,
	options: { service?: Service; memory?: HintsMemory } = {},
): HintsPlan {
	const slices = { creates: [slice("new", created)], updates: [], unchanged: [] };
	return planHints(slices, {
		service: options.service ?? auto,
		family: "IPv4",
		memory: options.memory ?? NO_HINTS,
		ratios: zones,
	});
}

function zoneHints({ slices }: HintsPlan): string {
	const counts = new Map<string, number>();
	for (const { hints } of slices.creates.flatMap((created) => created.endpoints ?? [])) {
		for (const { name } of hints?.forZones ?? []) counts.set(name, (counts.get(name) ?? 0) + 1);
	}
	return [...counts]
		.sort()
		.map(([zone, count]) => `${zone}:${count}`)
		.join(" ");
}

describe("topology-mode: Auto", () => {
	test.each<{ cpu: number[]; eps: number[]; hints: string; why?: string }>([
		{ cpu: [20, 16, 14], eps: [20, 16, 14], hints: "a:20 b:16 c:14" },
		{
			cpu: [1, 1, 1],
			eps: [2, 1, 1],
			hints: "",
			why: "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (4 endpoints, 3 zones)",
		},
		{ cpu: [1, 1, 1], eps: [1, 1, 0], hints: "", why: "Insufficient number of endpoints (2 endpoints, 3 zones)" },
		{ cpu: [1, 1, 1], eps: [1, 1, 1], hints: "a:1 b:1 c:1" },
		{ cpu: [1, 1, 1], eps: [4, 1, 1], hints: "a:2 b:2 c:2" },
		{ cpu: [1, 1, 1], eps: [5, 4, 0], hints: "a:3 b:3 c:3" },
		{ cpu: [1, 1, 1], eps: [3, 2, 2], hints: "a:3 b:2 c:2" },
		{ cpu: [50, 30, 20], eps: [5, 5, 0], hints: "a:5 b:3 c:2" },
		{ cpu: [1, 1], eps: [2, 0], hints: "a:1 b:1" },
		{
			cpu: [1, 1],
			eps: [2, 1],
			hints: "",
			why: "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (3 endpoints, 2 zones)",
		},
		{ cpu: [4, 8], eps: [3, 3], hints: "a:2 b:4" },
	])("shares endpoints $eps out over CPU $cpu as [$hints]", ({ cpu, eps, hints, why }) => {
		const result = plan(endpoints(...eps), ratios(...cpu));
		expect(zoneHints(result)).toBe(hints);
		const message = why ?? "Topology Aware Hints has been enabled";
		expect(result.events.map((event) => event.message)).toEqual([`${message}, addressType: IPv4`]);
	});

	test.each<{ when: string; zones: ZoneRatios; why: string }>([
		{
			when: "nodes do not tell",
			zones: undefined,
			why: "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes",
		},
		{ when: "nodes were not looked at yet", zones: new Map(), why: "Nodes only ready in one zone" },
	])("gives no hints when $when, and says so every time", ({ zones, why }) => {
		expect(plan(endpoints(3, 3), zones).events.map(({ message }) => message)).toEqual([`${why}, addressType: IPv4`]);
	});

	test("gives no hints when a ready endpoint has no zone", () => {
		const result = plan([...endpoints(3, 2), endpoint(9, undefined)], ratios(1, 1));
		expect(result.events).toMatchObject([
			{ message: "One or more endpoints do not have a zone specified, addressType: IPv4" },
		]);
	});

	test("says that it is enabled once, and that it was disabled once", () => {
		const first = plan(endpoints(2, 2), ratios(1, 1));
		const second = plan(endpoints(2, 2), ratios(1, 1), { memory: first.memory });
		const off = plan(endpoints(2, 2), ratios(1, 1), { memory: second.memory, service: service({}) });
		const still = plan(endpoints(2, 2), ratios(1, 1), { memory: off.memory, service: service({}) });
		expect([first, second, off, still].map(({ events }) => events.map(({ reason }) => reason).join())).toEqual([
			"TopologyAwareHintsEnabled",
			"",
			"TopologyAwareHintsDisabled",
			"",
		]);
	});

	test("leaves a slice unwritten whose hints still fit, and rewrites one that has too many for a zone", () => {
		const hinted = (zone: string, count: number): Endpoint[] =>
			Array.from({ length: count }, (_, index) => endpoint(index + 1, zone, { hints: { forZones: [{ name: zone }] } }));
		const unchanged = [slice("fits", [...hinted("a", 2), ...hinted("b", 2)]), slice("too-many", hinted("a", 4))];
		const { slices } = planHints(
			{ creates: [], updates: [], unchanged },
			{ service: auto, family: "IPv4", memory: NO_HINTS, ratios: ratios(1, 1) },
		);
		expect(slices.unchanged.map(({ metadata }) => metadata.name)).toEqual(["fits"]);
		expect(slices.updates.map(({ metadata }) => metadata.name)).toEqual(["too-many"]);
	});

	test("is off when the old annotation is there and says something else", () => {
		const mixed = service({
			"service.kubernetes.io/topology-aware-hints": "disabled",
			"service.kubernetes.io/topology-mode": "Auto",
		});
		expect(zoneHints(plan(endpoints(2, 2), ratios(1, 1), { service: mixed }))).toBe("");
	});
});

describe("trafficDistribution", () => {
	const bare = { conditions: { ready: true } };
	test.each<{ has: Partial<Endpoint>; prefers: string; hints: Endpoint["hints"] }>([
		{ has: { zone: "a", nodeName: "n1" }, prefers: "PreferSameZone", hints: { forZones: [{ name: "a" }] } },
		{ has: { zone: "a", nodeName: "n1" }, prefers: "PreferClose", hints: { forZones: [{ name: "a" }] } },
		{
			has: { zone: "a", nodeName: "n1" },
			prefers: "PreferSameNode",
			hints: { forZones: [{ name: "a" }], forNodes: [{ name: "n1" }] },
		},
		{ has: { zone: "a" }, prefers: "PreferSameNode", hints: { forZones: [{ name: "a" }] } },
		{ has: { nodeName: "n1" }, prefers: "PreferSameZone", hints: undefined },
		{ has: { nodeName: "n1" }, prefers: "PreferSameNode", hints: { forNodes: [{ name: "n1" }] } },
		{ has: {}, prefers: "PreferSameNode", hints: undefined },
		{ has: { zone: "a", conditions: { ready: false } }, prefers: "PreferSameZone", hints: undefined },
	])("$prefers for $has gives $hints", ({ has, prefers, hints }) => {
		const { slices } = plan([{ addresses: ["10.0.0.1"], ...bare, ...has }], undefined, {
			service: service({}, prefers),
		});
		expect(slices.creates[0]?.endpoints?.[0]?.hints).toEqual(hints);
	});

	test("writes an unchanged slice only when a ready endpoint's hints are wrong", () => {
		const right = slice("right", [endpoint(1, "a", { hints: { forZones: [{ name: "a" }] } })]);
		const wrong = slice("wrong", [endpoint(1, "a", { hints: { forZones: [{ name: "b" }] } })]);
		const world = {
			service: service({}, "PreferSameZone"),
			family: "IPv4",
			memory: NO_HINTS,
			ratios: undefined,
		} as const;
		const { slices } = planHints({ creates: [], updates: [], unchanged: [right, wrong] }, world);
		expect(slices.unchanged).toEqual([right]);
		expect(slices.updates[0]?.endpoints?.[0]?.hints).toEqual({ forZones: [{ name: "a" }] });
	});

	test("taken away, or not known, takes the hints away", () => {
		const hinted = slice("hinted", [endpoint(1, "a", { hints: { forZones: [{ name: "a" }] } })]);
		const world = { service: service({}), family: "IPv4", memory: NO_HINTS, ratios: undefined } as const;
		const { slices } = planHints({ creates: [], updates: [], unchanged: [hinted] }, world);
		expect(slices.updates[0]?.endpoints?.[0]?.hints).toBeUndefined();
	});
});
