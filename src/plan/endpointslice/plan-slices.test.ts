import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Pod, Service } from "../../api/types/core.ts";
import type { EndpointSlice } from "../../api/types/discovery.ts";
import { TRIGGER_TIME_ANNOTATION } from "../../api/well-known.ts";
import { service } from "../../testing/builders.ts";
import {
	applied,
	endpointFor,
	numberedPod,
	podRange,
	sizesOf,
	sliceOf,
	stored,
	web,
	zoneNodes,
} from "../../testing/slice-worlds.ts";
import { identityOf } from "./endpoint.ts";
import { planEndpointSlices, type SlicePlan } from "./plan-slices.ts";
import { RememberedEntries } from "./pod-entry.ts";
import { renderSlicePlan } from "./render.ts";
import { newSlice } from "./slice-metadata.ts";

function plan(pods: readonly Pod[], existing: readonly EndpointSlice[], of: Service = web, max = 100): SlicePlan {
	return planEndpointSlices({ service: of, pods, nodes: zoneNodes, existing }, { endpointsPerSliceMax: max });
}

const placeholder = (of: Service = web, family: "IPv4" | "IPv6" = "IPv4"): EndpointSlice =>
	stored(newSlice(of, family, { endpoints: [], ports: [] }), "empty");
const a = sliceOf("a", podRange(0, 100));
const b = sliceOf("b", podRange(100, 200));
const c = sliceOf("c", podRange(200, 205));
const of205 = [a, b, c];
const without = (pods: readonly Pod[], ...gone: number[]): readonly Pod[] => {
	const names = new Set(gone.map((n) => numberedPod(n).metadata.name));
	return pods.filter((pod) => !names.has(pod.metadata.name));
};
const named = service("web", { ports: [{ name: "http", port: 80, targetPort: "http", protocol: "TCP" }] });
const listensOn = (port: number) => ({
	spec: { containers: [{ name: "c", ports: [{ name: "http", containerPort: port, protocol: "TCP" as const }] }] },
});
const labelled = service("web", {}, { labels: { team: "red" } });
const dual = service("web", { ipFamilies: ["IPv4", "IPv6"] });
const unready = numberedPod(3, { isReady: false });

interface Rule {
	rule: string;
	writes: string;
	pods: readonly Pod[];
	existing: EndpointSlice[];
	of?: Service;
	max?: number;
}

const rules: readonly Rule[] = [
	{
		rule: "a new Service gets full slices and one for the rest",
		pods: podRange(0, 205),
		existing: [],
		writes: "create 100 100 5",
	},
	{
		rule: "the last of the new slices takes the placeholder's name",
		pods: podRange(0, 205),
		existing: [placeholder()],
		writes: "create 100 100; update empty=5",
	},
	{
		rule: "newcomers are not split over slices that are untouched",
		pods: podRange(0, 200),
		existing: [sliceOf("a", podRange(0, 95)), sliceOf("b", podRange(95, 190))],
		writes: "create 10",
	},
	{
		rule: "a replaced Pod is one write, where the old one was",
		pods: [...without(podRange(0, 205), 7), numberedPod(900)],
		existing: of205,
		writes: "update a=100",
	},
	{
		rule: "a replaced Pod of the last slice likewise",
		pods: [...without(podRange(0, 205), 202), numberedPod(900)],
		existing: of205,
		writes: "update c=5",
	},
	{
		rule: "a surge goes into the fullest slice that takes it",
		pods: podRange(0, 206),
		existing: of205,
		writes: "update c=6",
	},
	{
		rule: "nothing is rebalanced when the old Pod of a surge goes",
		pods: without(podRange(0, 206), 7),
		existing: [a, b, sliceOf("c", podRange(200, 206))],
		writes: "update a=99",
	},
	{
		rule: "scaling to zero leaves one placeholder under an old name",
		pods: [],
		existing: of205,
		writes: "update a=0; delete b c",
	},
	{ rule: "a placeholder that is there is kept without a write", pods: [], existing: [placeholder()], writes: "" },
	{
		rule: "gone and new at once: largest slices are filled first",
		pods: [...without(podRange(0, 205), ...range(0, 25), ...range(100, 125), 200), ...podRange(300, 351)],
		existing: of205,
		writes: "update a=100 b=100 c=5",
	},
	{
		rule: "when most Pods are replaced, totals are right and packing is not",
		pods: [
			...podRange(75, 100),
			...podRange(175, 200),
			...podRange(204, 205),
			...podRange(500, 552),
			...podRange(600, 702),
		],
		existing: [a, b, sliceOf("c", [...podRange(200, 205), ...podRange(500, 552)])],
		writes: "update a=80 b=25 c=100",
	},
	{
		rule: "97 more than fit make a slice of their own",
		pods: podRange(0, 302),
		existing: of205,
		writes: "create 97",
	},
	{ rule: "95 more fill the last slice exactly", pods: podRange(0, 300), existing: of205, writes: "update c=100" },
	{
		rule: "105 more make a full slice first, the rest fits",
		pods: podRange(0, 310),
		existing: of205,
		writes: "create 100; update c=10",
	},
	{ rule: "best fit: an exact one wins", pods: podRange(0, 220), existing: threeSlices(), writes: "update n90=100" },
	{
		rule: "best fit: else the fullest that can take all",
		pods: podRange(0, 230),
		existing: threeSlices(),
		writes: "update n70=90",
	},
	{
		rule: "a full slice that is written anyway takes none of the new ones",
		pods: [unready, ...without(podRange(0, 208), 3)],
		existing: of205,
		writes: "update a=100 c=8",
	},
	{
		rule: "the slice that is written anyway is filled before new ones are made",
		pods: [...without(podRange(0, 325), 203), numberedPod(203, { isReady: false })],
		existing: of205,
		writes: "create 25; update c=100",
	},
	{
		rule: "a new label of the Service is a write of every slice",
		pods: podRange(0, 205),
		existing: of205,
		of: labelled,
		writes: "update a=100 b=100 c=5",
	},
	{
		rule: "slices that are relabelled are filled like other written ones",
		pods: podRange(0, 215),
		existing: of205,
		of: labelled,
		writes: "update a=100 b=100 c=15",
	},
	{
		rule: "Pods with different numbers for a named port get slices of their own",
		pods: [...podRange(0, 10), ...podRange(10, 15, listensOn(9090))],
		existing: [],
		of: named,
		writes: "create 10 5",
	},
	{
		rule: "a slice of ports that are gone lends its name to one that is needed",
		pods: podRange(0, 1, listensOn(9090)),
		existing: [sliceOf("old", podRange(5, 6), { service: named })],
		of: named,
		writes: "update old=1",
	},
	{
		rule: "a slice of ports that are gone is deleted when none is needed",
		pods: podRange(0, 1, listensOn(9090)),
		existing: [
			sliceOf("new", podRange(0, 1, listensOn(9090)), { service: named }),
			sliceOf("old", podRange(5, 6), { service: named }),
		],
		of: named,
		writes: "delete old",
	},
	{
		rule: "the first Pod takes the placeholder's name",
		pods: podRange(0, 1),
		existing: [placeholder()],
		writes: "update empty=1",
	},
	{
		rule: "without ports the placeholder is an ordinary slice and is filled",
		pods: podRange(0, 1),
		existing: [placeholder(service("web", { ports: [], clusterIP: "None" }))],
		of: service("web", { ports: [], clusterIP: "None" }),
		writes: "update empty=1",
	},
	{
		rule: "with one endpoint per slice each gets a new one",
		pods: podRange(0, 3),
		existing: [],
		max: 1,
		writes: "create 1 1 1",
	},
	{
		rule: "dual stack to single: slices of the other family go",
		pods: podRange(0, 2),
		existing: [sliceOf("v4", podRange(0, 2)), sliceOf("v6", podRange(0, 2), { family: "IPv6" })],
		writes: "delete v6",
	},
	{
		rule: "single stack to dual: the new family gets its own",
		pods: podRange(0, 2),
		existing: [sliceOf("v4", podRange(0, 2))],
		of: dual,
		writes: "create 2",
	},
	{
		rule: "a slice that lost all is deleted, one that lost some takes the newcomer",
		pods: [...without(podRange(0, 200), 7), numberedPod(900)],
		existing: of205,
		writes: "update a=100; delete c",
	},
	{
		rule: "a slice of an earlier Service of that name is replaced, not recycled",
		pods: podRange(0, 1),
		existing: [sliceOf("a", podRange(0, 1), { service: service("web", {}, { uid: "old" }) })],
		writes: "create 1; delete a",
	},
	{
		rule: "a second copy of an endpoint is dropped",
		pods: podRange(0, 2),
		existing: [sliceOf("a", podRange(0, 2)), sliceOf("b", podRange(0, 1))],
		writes: "delete b",
	},
	{
		rule: "a slice with too many keeps them until it shrinks",
		pods: podRange(0, 5),
		existing: [sliceOf("a", podRange(0, 5))],
		max: 3,
		writes: "",
	},
	{
		rule: "without a selector nothing is touched",
		pods: podRange(0, 2),
		existing: of205,
		of: service("web", { selector: {} }),
		writes: "",
	},
	{
		rule: "an ExternalName is not touched",
		pods: [],
		existing: of205,
		of: service("web", { type: "ExternalName" }),
		writes: "",
	},
	{
		rule: "a Service that is being deleted gets nothing new",
		pods: podRange(0, 2),
		existing: [],
		of: service("web", {}, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
		writes: "",
	},
];

describe("planEndpointSlices()", () => {
	test.each(rules.map((row) => [row.rule, row] as const))("%s", (_, { pods, existing, of, max, writes }) => {
		expect(sizesOf(plan(pods, existing, of, max))).toBe(writes);
	});

	test("keeps hints of stored endpoints when only labels change, and takes them away when nothing asks for them", () => {
		const [first] = podRange(0, 1);
		const hints = { forZones: [{ name: "za" }] };
		const hinted = { ...sliceOf("a", podRange(0, 1)), endpoints: [{ ...endpointFor(first as Pod), hints }] };
		const asking = service("web", { trafficDistribution: "PreferClose" }, { labels: { team: "red" } });
		expect(plan(podRange(0, 1), [hinted], asking).families[0]?.updates[0]?.endpoints?.[0]?.hints).toEqual(hints);
		const updates = plan(podRange(0, 1), [hinted]).families[0]?.updates;
		expect(updates?.map((slice) => slice.endpoints?.[0]?.hints)).toEqual([undefined]);
	});

	test("a recycled slice keeps nothing of the old one but its name", () => {
		const old = { ...placeholder(), metadata: { ...placeholder().metadata, annotations: { note: "mine" } } };
		const [update] = plan(podRange(0, 1), [old]).families[0]?.updates ?? [];
		expect(update?.metadata).toMatchObject({ name: "empty", annotations: {} });
		expect(update?.metadata.resourceVersion).toBeUndefined();
	});

	test("annotates what it writes with the trigger time, and takes it away when there is none", () => {
		const old = { ...c, metadata: { ...c.metadata, annotations: { [TRIGGER_TIME_ANNOTATION]: "old", note: "mine" } } };
		const world = { service: web, pods: podRange(200, 206), nodes: zoneNodes, existing: [old] };
		const annotations = (triggerTime?: string): unknown =>
			planEndpointSlices({ ...world, triggerTime }, { endpointsPerSliceMax: 100 }).families[0]?.updates[0]?.metadata
				.annotations;
		expect(annotations("2026-01-02T03:04:05Z")).toEqual({
			note: "mine",
			[TRIGGER_TIME_ANNOTATION]: "2026-01-02T03:04:05Z",
		});
		expect(annotations()).toEqual({ note: "mine" });
	});
});

function range(from: number, to: number): number[] {
	return Array.from({ length: to - from }, (_, i) => from + i);
}

function threeSlices(): EndpointSlice[] {
	return [sliceOf("n50", podRange(0, 50)), sliceOf("n70", podRange(50, 120)), sliceOf("n90", podRange(120, 210))];
}

const MAX = 4;
const anyWorld = fc
	.record({
		held: fc.array(fc.nat(40), { maxLength: 30 }),
		wanted: fc.uniqueArray(fc.nat(40), { maxLength: 30 }),
		cut: fc.integer({ min: 1, max: MAX }),
		flipped: fc.uniqueArray(fc.nat(40), { maxLength: 5 }),
		odd: fc.uniqueArray(fc.nat(40), { maxLength: 5 }),
		isRelabelled: fc.boolean(),
		isDual: fc.boolean(),
	})
	.map(({ held, wanted, cut, flipped, odd, isRelabelled, isDual }) => {
		const families = isDual ? (["IPv4", "IPv6"] as const) : (["IPv4"] as const);
		const of = service("web", { ...named.spec, ipFamilies: families }, isRelabelled ? { labels: { team: "red" } } : {});
		const traits = (n: number) => (odd.includes(n) ? listensOn(9090) : {});
		const existing: EndpointSlice[] = [];
		for (let i = 0; i < held.length; i += cut) {
			const pods = [...new Set(held.slice(i, i + cut))].map((n) => numberedPod(n));
			existing.push(sliceOf(`s-${i}`, pods, { service: named, family: i % 2 === 0 ? "IPv4" : "IPv6" }));
		}
		const pods = wanted.map((n) => numberedPod(n, { ...traits(n), isReady: !flipped.includes(n) }));
		return { service: of, pods, existing, families };
	});

describe("planEndpointSlices() always", () => {
	const limits = { endpointsPerSliceMax: MAX };
	const contents = (slices: readonly EndpointSlice[]): string[] =>
		slices.flatMap((s) => (s.endpoints ?? []).map((e) => `${JSON.stringify(s.ports)} ${JSON.stringify(e)}`)).sort();

	test("is complete and bounded: every endpoint once, as it should be, and no slice too full", () => {
		fc.assert(
			fc.property(anyWorld, (world) => {
				const after = applied(world.existing, planEndpointSlices({ ...world, nodes: zoneNodes }, limits));
				const fresh = applied([], planEndpointSlices({ ...world, existing: [], nodes: zoneNodes }, limits));
				expect(contents(after)).toEqual(contents(fresh));
				expect(after.flatMap((s) => s.endpoints ?? [])).toHaveLength(world.pods.length * world.families.length);
				expect(Math.max(0, ...after.map((s) => s.endpoints?.length ?? 0))).toBeLessThanOrEqual(MAX);
				for (const family of world.families) expect(after.some((s) => s.addressType === family)).toBe(true);
			}),
		);
	});

	test("is settled: planning over its own result changes nothing", () => {
		fc.assert(
			fc.property(anyWorld, (world) => {
				const existing = applied(world.existing, planEndpointSlices({ ...world, nodes: zoneNodes }, limits));
				expect(sizesOf(planEndpointSlices({ ...world, nodes: zoneNodes, existing }, limits))).toBe("");
			}),
		);
	});

	test("is free of order, and of what it remembers of earlier Pods", () => {
		fc.assert(
			fc.property(anyWorld, (world) => {
				const entries = new RememberedEntries(world.service);
				const straight = { ...world, nodes: zoneNodes, entries };
				const reversed = { ...straight, pods: world.pods.toReversed(), existing: world.existing.toReversed() };
				const expected = renderSlicePlan(planEndpointSlices({ ...world, nodes: zoneNodes }, limits));
				expect(renderSlicePlan(planEndpointSlices(straight, limits))).toBe(expected);
				expect(renderSlicePlan(planEndpointSlices(reversed, limits))).toBe(expected);
			}),
		);
	});

	test("says what it added and removed", () => {
		fc.assert(
			fc.property(anyWorld, (world) => {
				const [family] = planEndpointSlices({ ...world, nodes: zoneNodes }, limits).families;
				const held = new Set(
					world.existing.filter((s) => s.addressType === "IPv4").flatMap((s) => (s.endpoints ?? []).map(identityOf)),
				);
				const isOdd = (p: Pod): boolean => p.spec.containers[0]?.ports?.[0]?.containerPort === 9090;
				const newcomers = world.pods.filter((p) => isOdd(p) || !held.has(identityOf(endpointFor(p))));
				expect(family?.counts.added).toBe(newcomers.length);
				expect(family?.counts.endpoints).toBe(world.pods.length);
			}),
		);
	});
});
