/** How endpoints are packed, slices reused and writes counted: rules that the worked examples do not show. */
import { describe, expect, test } from "vitest";
import type { Pod, Service } from "../../api/types/core.ts";
import type { EndpointSlice } from "../../api/types/discovery.ts";
import type { ObjectMeta } from "../../api/types/meta.ts";
import { service } from "../../testing/builders.ts";
import { numberedPod, podRange, sizesOf, sliceOf, stored, web, zoneNodes } from "../../testing/slice-worlds.ts";
import { planEndpointSlices, type SlicePlan } from "./plan-slices.ts";
import { newSlice } from "./slice-metadata.ts";

const headless = service("web", { clusterIP: "None" });
const going = service("web", {}, { deletionTimestamp: "2026-01-02T00:00:00Z" });
const earlier = service("web", {}, { uid: "earlier" });
const named = service("web", { ports: [{ name: "http", port: 80, targetPort: "http", protocol: "TCP" }] });
const listensOn = (port: number) => ({
	spec: { containers: [{ name: "c", ports: [{ name: "http", containerPort: port, protocol: "TCP" as const }] }] },
});
const http = [{ name: "http", protocol: "TCP", port: 8080 }] as const;

function plan(pods: readonly Pod[], existing: readonly EndpointSlice[], of: Service = web, max = 100): SlicePlan {
	return planEndpointSlices({ service: of, pods, nodes: zoneNodes, existing }, { endpointsPerSliceMax: max });
}

function withMeta(slice: EndpointSlice, metadata: Partial<ObjectMeta>): EndpointSlice {
	return { ...slice, metadata: { ...slice.metadata, ...metadata } };
}

const empty = (name: string, of: Service = web, ports: EndpointSlice["ports"] = []): EndpointSlice =>
	stored(newSlice(of, "IPv4", { endpoints: [], ports }), name);
const some = (name: string, from: number, to: number, of: Service = web): EndpointSlice =>
	sliceOf(name, podRange(from, to), { service: of, ports: http });
const older = (slice: EndpointSlice): EndpointSlice => withMeta(slice, { creationTimestamp: "2025-01-01T00:00:00Z" });
const twice: EndpointSlice = {
	...some("a", 0, 2),
	endpoints: [0, 1, 0].flatMap((n) => some("a", n, n + 1).endpoints ?? []),
};

describe("endpoints and slices", () => {
	test.each<[string, readonly Pod[], EndpointSlice[], string, Service?, number?]>([
		["a second copy in the same slice is dropped", podRange(0, 2), [twice], "update a=2"],
		["slices that are half empty are not merged", podRange(0, 6), [some("a", 0, 3), some("b", 3, 6)], ""],
		["a slice is not deleted for being nearly empty", podRange(0, 1), [some("a", 0, 3)], "update a=1"],
		["a slice that is emptied takes no newcomers", podRange(3, 5), [some("a", 0, 3)], "update a=2"],
		[
			"a Pod with a new address under its name is another endpoint",
			[numberedPod(0, { ip: "10.9.9.9", ips: ["10.9.9.9"] })],
			[some("a", 0, 1)],
			"update a=1",
		],
		["a slice with too many that shrinks keeps what is left", podRange(0, 4), [some("a", 0, 5)], "update a=4", web, 3],
		[
			"a slice with too many takes no newcomers when it is written",
			[...podRange(1, 5), numberedPod(9)],
			[some("a", 0, 5)],
			"create 1; update a=4",
			web,
			3,
		],
		["as many newcomers as fill a slice make a new one", podRange(0, 3), [empty("a", web, http)], "create 3", web, 3],
		["one fewer go into an empty slice of the group", podRange(0, 2), [empty("a", web, http)], "update a=2", web, 3],
		[
			"with one endpoint per slice an empty one is never filled",
			podRange(0, 1),
			[empty("a", web, http)],
			"create 1",
			web,
			1,
		],
		["of equal slices the older is filled", podRange(0, 3), [some("a", 0, 1), older(some("b", 1, 2))], "update b=2"],
		[
			"with nothing free for all, one with room for a part is left alone",
			podRange(0, 6),
			[some("a", 0, 2), some("b", 2, 4)],
			"create 2",
			web,
			3,
		],
		[
			"slices that are written take a part",
			[...podRange(0, 1), ...podRange(2, 4), ...podRange(5, 9)],
			[some("a", 0, 2), some("b", 2, 4)],
			"create 2; update a=3",
			web,
			3,
		],
	])("%s", (_, pods, existing, writes, of, max) => {
		expect(sizesOf(plan(pods, existing, of, max))).toBe(writes);
	});

	test("endpoints keep their order in a slice, newcomers come after them", () => {
		const [update] =
			plan([numberedPod(0), numberedPod(2, { isReady: false }), numberedPod(5)], [some("a", 2, 4), some("b", 0, 1)])
				.families[0]?.updates ?? [];
		expect(update?.endpoints?.map(({ targetRef }) => targetRef?.name)).toEqual(["p00002", "p00005"]);
	});
});

describe("slices that are not needed", () => {
	const two = [...podRange(0, 1, listensOn(9090)), ...podRange(1, 2, listensOn(9091))];
	test.each<[string, readonly Pod[], EndpointSlice[], string, Service?]>([
		["are taken from the first on, by the last new ones", two, [some("x", 5, 6, named)], "create 1; update x=1", named],
		[
			"are passed over if they are another Service's",
			podRange(0, 1),
			[sliceOf("x", podRange(0, 1), { service: earlier }), { ...some("y", 3, 4), ports: [] }],
			"update y=1; delete x",
		],
		[
			"and are an earlier Service's are deleted",
			podRange(0, 1),
			[some("x", 0, 1), sliceOf("y", podRange(0, 1), { service: earlier })],
			"delete y",
		],
		[
			"are deleted when nothing is new",
			podRange(0, 1),
			[some("x", 0, 1), { ...some("y", 3, 5), ports: [] }],
			"delete y",
		],
		[
			"lend names while the Service is going, though it gets no new ones",
			two,
			[some("x", 5, 6, named)],
			"update x=1",
			{ ...named, metadata: going.metadata },
		],
		[
			"are deleted while the Service is going",
			podRange(0, 1),
			[some("x", 0, 1), { ...some("y", 3, 5), ports: [] }],
			"delete y",
			going,
		],
		["are written while the Service is going", podRange(0, 1), [some("x", 0, 2)], "update x=1", going],
		["of two placeholders one is written, one deleted", [], [empty("x"), empty("y")], "update x=0; delete y"],
		["a placeholder of an earlier Service is left alone", [], [empty("x", earlier)], ""],
		[
			"a placeholder with a label of somebody is written",
			[],
			[withMeta(empty("x"), { labels: { ...empty("x").metadata.labels, extra: "x" } })],
			"update x=0",
		],
		["a lone empty slice with ports makes room for the placeholder", [], [empty("x", web, http)], "update x=0"],
		[
			"a slice with Pods of an earlier Service alone gives way to a new placeholder",
			[],
			[some("x", 0, 1, earlier)],
			"create 0; delete x",
		],
		[
			"a placeholder is deleted when no new slice needs its name",
			podRange(0, 1),
			[empty("x"), some("y", 0, 1)],
			"delete x",
		],
	])("%s", (_, pods, existing, writes, of) => {
		expect(sizesOf(plan(pods, existing, of))).toBe(writes);
	});

	test("a slice that takes another's name may have other ports, and no generateName", () => {
		const [update] = plan(podRange(0, 1), [empty("x")]).families[0]?.updates ?? [];
		expect(update?.ports).toEqual(http);
		expect(update?.metadata).not.toHaveProperty("generateName");
		expect(update?.metadata.ownerReferences).toHaveLength(1);
	});
});

describe("what is kept of a slice that is written", () => {
	const note = { annotations: { note: "mine" }, finalizers: ["x/y"] };
	const updateOf = (pods: readonly Pod[], existing: EndpointSlice, of = web): EndpointSlice | undefined =>
		plan(pods, [existing], of).families[0]?.updates[0];

	test("annotations, finalizers and the version are, so that a conflict is seen", () => {
		expect(updateOf(podRange(0, 2), withMeta(some("a", 0, 1), note))?.metadata).toMatchObject({
			...note,
			resourceVersion: "1",
		});
	});

	test("labels are not, when an endpoint changes: the full set is written", () => {
		const edited = withMeta(some("a", 0, 2, headless), {
			labels: { team: "red", "kubernetes.io/service-name": "web" },
		});
		const of = { ...headless, metadata: { ...headless.metadata, labels: { team: "red" } } };
		expect(updateOf(podRange(0, 1), edited, of)?.metadata.labels).toEqual({
			team: "red",
			"endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
			"kubernetes.io/service-name": "web",
			"service.kubernetes.io/headless": "",
		});
	});

	test("labels are, when it only takes newcomers: they are compared and found right", () => {
		const { labels } = some("a", 0, 1).metadata;
		const update = updateOf(
			podRange(0, 2),
			withMeta(some("a", 0, 1), { labels: { ...labels, "service.kubernetes.io/headless": "" } }),
			web,
		);
		expect(update?.metadata.labels).toHaveProperty(["service.kubernetes.io/headless"]);
	});
});

describe("counts", () => {
	test.each<[string, readonly Pod[], EndpointSlice[], object, Service?]>([
		[
			"added and removed are endpoints, not slices",
			podRange(2, 7),
			[some("a", 0, 4)],
			{ added: 3, removed: 2, endpoints: 5 },
		],
		["a dropped copy is removed", podRange(0, 2), [twice], { added: 0, removed: 1 }],
		[
			"slices of ports that are gone are not counted as removed endpoints",
			podRange(0, 1),
			[{ ...some("a", 3, 5), ports: [] }],
			{ added: 1, removed: 0, changes: 1 },
		],
		[
			"the placeholder is a slice, and the least there is",
			[],
			[],
			{ endpoints: 0, slices: 1, slicesMin: 1, changes: 1 },
		],
		[
			"the fewest slices are counted by port group",
			[...podRange(0, 3), ...podRange(3, 4, listensOn(9090))],
			[],
			{ slices: 3, slicesMin: 3 },
			named,
		],
		["creates that a going Service is spared count as changes", podRange(0, 1), [], { changes: 1 }, going],
	])("%s", (_, pods, existing, counts, of) => {
		expect(plan(pods, existing, of, 2).families[0]?.counts).toMatchObject(counts);
	});
});
