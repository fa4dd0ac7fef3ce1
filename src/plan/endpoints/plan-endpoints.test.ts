import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EndpointSubset, Endpoints, Pod, Service, SubsetPort } from "../../api/types/core.ts";
import { meta, pod, service } from "../../testing/builders.ts";
import { type EndpointsPlan, planEndpoints } from "./plan-endpoints.ts";
import { subsetHash, subsetPortHash } from "./subset-hash.ts";
import { truncated } from "./truncate.ts";

const web = service("web");
const a = pod("a", { ip: "10.0.0.2" });
const b = pod("b", { ip: "10.0.0.10" });
const numbered = (n: number, isReady = true): Pod => pod(`p${n}`, { ip: `10.1.${n >> 8}.${n & 255}`, isReady });
const listensOn = (port: number) => ({
	containers: [{ name: "c", ports: [{ name: "http", containerPort: port, protocol: "TCP" as const }] }],
});
const named = service("web", { ports: [{ name: "http", port: 80, targetPort: "http", protocol: "TCP" }] });

/** `10.0.0.1 !10.0.0.2 :8080`: an address that is not ready has a mark. */
function shown(subsets: readonly EndpointSubset[] | undefined): string[] {
	return (subsets ?? []).map(({ addresses = [], notReadyAddresses = [], ports = [] }) =>
		[
			...addresses.map(({ ip }) => ip),
			...notReadyAddresses.map(({ ip }) => `!${ip}`),
			...ports.map(({ port }) => `:${port}`),
		].join(" "),
	);
}

function subsetsFor(of: Service, ...pods: readonly Pod[]): string[] {
	const plan = planEndpoints({ service: of, pods, existing: undefined });
	return plan.kind === "create" ? shown(plan.endpoints.subsets) : [plan.kind];
}

function stored(plan: EndpointsPlan): Endpoints {
	if (plan.kind === "update") return plan.endpoints;
	if (plan.kind !== "create") throw new Error(plan.kind);
	return {
		...plan.endpoints,
		apiVersion: "v1",
		kind: "Endpoints",
		metadata: { ...meta("web"), ...plan.endpoints.metadata },
	};
}

describe("planEndpoints()", () => {
	test.each<[string, string[], Service, Pod[]]>([
		["addresses are sorted as text", ["10.0.0.10 10.0.0.2 :8080"], web, [a, b]],
		[
			"a Pod that is not ready is listed apart",
			["10.0.0.2 !10.0.0.10 :8080"],
			web,
			[a, { ...b, status: { ...b.status, conditions: [] } }],
		],
		[
			"a terminating Pod is gone at once",
			["10.0.0.10 :8080"],
			web,
			[pod("a", { ip: "10.0.0.2", isTerminating: true }), b],
		],
		[
			"but not when all are published",
			["10.0.0.2 :8080"],
			service("web", { publishNotReadyAddresses: true }),
			[pod("a", { ip: "10.0.0.2", isReady: false, isTerminating: true })],
		],
		[
			"a Pod without the port is absent",
			["10.0.0.10 :9090"],
			named,
			[
				pod("a", { ip: "10.0.0.2", spec: { containers: [{ name: "c" }] } }),
				pod("b", { ip: "10.0.0.10", spec: listensOn(9090) }),
			],
		],
		["headless without ports: addresses only", ["10.0.0.2"], service("web", { clusterIP: "None", ports: [] }), [a]],
		["no ports and not headless: nothing", [], service("web", { ports: [] }), [a]],
		[
			"only the first family",
			["fd00::1 :8080"],
			service("web", { ipFamilies: ["IPv6", "IPv4"] }),
			[pod("a", { ips: ["10.0.0.2", "fd00::1"] })],
		],
		["an ended Pod is absent", [], web, [pod("a", { ip: "10.0.0.2", status: { phase: "Succeeded" } })]],
	])("%s", (_, subsets, of, pods) => {
		expect(subsetsFor(of, ...pods)).toEqual(subsets);
	});

	test("Pods with different numbers for a named port are in subsets of their own", () => {
		const pods = [numbered(1), numbered(2), pod("x", { ip: "10.9.0.1", spec: listensOn(9090) })];
		expect(subsetsFor(named, ...pods).sort()).toEqual(["10.1.0.1 10.1.0.2 :8080", "10.9.0.1 :9090"]);
	});

	test("deletes what is there when the Service is gone, and leaves it when there is no selector", () => {
		expect(planEndpoints({ service: undefined, pods: [], existing: undefined }).kind).toBe("delete");
		expect(planEndpoints({ service: service("web", { selector: {} }), pods: [a], existing: undefined }).kind).toBe(
			"none",
		);
	});

	const existing = stored(planEndpoints({ service: web, pods: [a, b], existing: undefined }));
	const relabelled = (labels: Record<string, string>): Endpoints => ({
		...existing,
		metadata: { ...existing.metadata, labels: { ...existing.metadata.labels, ...labels } },
	});
	const split: EndpointSubset[] = (existing.subsets ?? []).flatMap(({ addresses = [], ports = [] }) =>
		addresses.map((address) => ({ addresses: [address], ports })),
	);
	test.each<[string, Endpoints, "none" | "update"]>([
		["it is right", existing, "none"],
		["it says the same in other words", { ...existing, subsets: split }, "none"],
		["somebody has added a label", relabelled({ mine: "yes" }), "update"],
		["the headless label is missing or too much", relabelled({ "service.kubernetes.io/headless": "" }), "none"],
		["it names no manager", { ...existing, metadata: { ...existing.metadata, labels: {} } }, "update"],
		["an address is missing", { ...existing, subsets: split.slice(1) }, "update"],
	])("when %3$s: %s", (_, there, kind) => {
		expect(planEndpoints({ service: web, pods: [a, b], existing: there }).kind).toBe(kind);
	});

	test("keeps annotations of others, and the labels are exactly the Service's and its own", () => {
		const there = { ...relabelled({ mine: "yes" }), subsets: [] };
		const annotated = { ...there, metadata: { ...there.metadata, annotations: { note: "mine" } } };
		const labels = { team: "red" };
		const plan = planEndpoints({
			service: service("web", { clusterIP: "None" }, { labels }),
			pods: [a],
			existing: annotated,
			triggerTime: "2026-01-01T00:00:00Z",
		});
		expect(stored(plan).metadata).toMatchObject({
			annotations: { note: "mine", "endpoints.kubernetes.io/last-change-trigger-time": "2026-01-01T00:00:00Z" },
			resourceVersion: "1",
		});
		expect(stored(plan).metadata.labels).toEqual({
			team: "red",
			"service.kubernetes.io/headless": "",
			"endpoints.kubernetes.io/managed-by": "endpoint-controller",
		});
	});

	test("a truncated object is not written again while what it lists stays the same, unless asked to be", () => {
		const pods = Array.from({ length: 1_200 }, (_, n) => numbered(n));
		const there = stored(planEndpoints({ service: web, pods, existing: undefined }));
		expect(there.metadata.annotations?.["endpoints.kubernetes.io/over-capacity"]).toBe("truncated");
		const sorted = pods.toSorted((x, y) => ((x.status?.podIP ?? "") < (y.status?.podIP ?? "") ? -1 : 1));
		const world = { service: web, existing: there, triggerTime: "2026-02-01T00:00:00Z" };
		expect(planEndpoints({ ...world, pods: sorted.slice(0, 1_100) }).kind).toBe("none");
		expect(planEndpoints({ ...world, pods: sorted.slice(0, 1_100) }, { rewritesUnchanged: true }).kind).toBe("update");
		expect(planEndpoints({ ...world, pods: sorted.slice(1) }).kind).toBe("update");
		const few = stored(planEndpoints({ ...world, pods: sorted.slice(0, 2) }));
		expect(few.metadata.annotations).toEqual({ "endpoints.kubernetes.io/last-change-trigger-time": world.triggerTime });
	});
});

describe("truncated()", () => {
	const subset = (ready: number, notReady = 0): EndpointSubset => ({
		addresses: Array.from({ length: ready }, (_, n) => ({ ip: `r${n}` })),
		notReadyAddresses: Array.from({ length: notReady }, (_, n) => ({ ip: `n${n}` })),
	});
	test.each<[string, EndpointSubset[], string]>([
		["ready ones go first", [subset(1200, 100)], "1000+0"],
		["those that are not ready get the room that is left", [subset(900, 300)], "900+100"],
		["subsets get shares, rounded up while there is room", [subset(700), subset(500)], "584+0 416+0"],
		["the last subset gets what is left", [subset(400), subset(400), subset(400)], "334+0 334+0 332+0"],
		["a thousand is not too many", [subset(999, 1)], "999+1"],
	])("%s", (_, subsets, sizes) => {
		const lengths = truncated(subsets).map((s) => `${s.addresses?.length ?? 0}+${s.notReadyAddresses?.length ?? 0}`);
		expect(lengths.join(" ")).toBe(sizes);
	});
});

describe("hashes are upstream's", () => {
	const tcp = (name: string, port: number, appProtocol?: string): SubsetPort => ({
		name,
		port,
		protocol: "TCP",
		...(appProtocol === undefined ? {} : { appProtocol }),
	});
	test.each<[SubsetPort, string]>([
		[tcp("http", 80), "754b003f50f133a539c60d18cfb30a55"],
		[tcp("https", 443), "a1d3cd184f85589179025a8360efcc75"],
		[{ port: 8080, protocol: "TCP" }, "b09ff368df0fc81442c7b7a3ab2dbca5"],
		[{ name: "dns", port: 53, protocol: "UDP" }, "cf684d8c2a0def1ba31f64600b9051ae"],
		[tcp("grpc", 9090, "kubernetes.io/h2c"), "9e14b1366e902def1e42b1a55f645e26"],
	])("%j", (port, hash) => {
		expect(subsetPortHash(port)).toBe(hash);
	});

	test("of a whole subset", () => {
		const targetRef = { kind: "Pod", namespace: "ns", name: "pod-a", uid: "u-a" };
		const addresses = [{ ip: "10.0.0.1", nodeName: "node-1", targetRef }];
		expect(subsetHash({ addresses, ports: [tcp("http", 80)] })).toBe("b278370867e32a7331ad7e60c20da801");
	});
});

const anyPods = fc
	.uniqueArray(fc.record({ n: fc.nat(60), port: fc.constantFrom(8080, 9090, 7070), isReady: fc.boolean() }), {
		selector: ({ n }) => n,
		maxLength: 30,
	})
	.map((list) =>
		list.map(({ n, port, isReady }) => pod(`p${n}`, { ip: `10.0.0.${n}`, isReady, spec: listensOn(port) })),
	);

describe("planEndpoints() always", () => {
	test("is settled: planning over its own result changes nothing, in any order of Pods", () => {
		fc.assert(
			fc.property(anyPods, (pods) => {
				const first = planEndpoints({ service: named, pods, existing: undefined });
				const reversed = planEndpoints({ service: named, pods: pods.toReversed(), existing: undefined });
				expect(reversed).toEqual(first);
				expect(planEndpoints({ service: named, pods: pods.toReversed(), existing: stored(first) })).toEqual({
					kind: "none",
				});
			}),
		);
	});

	test("is complete: every Pod's address is listed once, with its port and readiness", () => {
		fc.assert(
			fc.property(anyPods, (pods) => {
				const { subsets = [] } = stored(planEndpoints({ service: named, pods, existing: undefined }));
				const listed = subsets.flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }) => [
					...addresses.map(({ ip }) => `${ip} ${ports.map((p) => p.port).join()} ready`),
					...notReadyAddresses.map(({ ip }) => `${ip} ${ports.map((p) => p.port).join()} not`),
				]);
				const wanted = pods.map((p) => {
					const ready = p.status?.conditions?.[0]?.status === "True" ? "ready" : "not";
					return `${p.status?.podIP} ${p.spec.containers[0]?.ports?.[0]?.containerPort} ${ready}`;
				});
				expect(listed.sort()).toEqual(wanted.sort());
			}),
		);
	});
});
