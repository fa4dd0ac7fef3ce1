/** The rules of the Endpoints controller, a row for each; what plan-endpoints.test.ts shows is not repeated. */
import { describe, expect, test } from "vitest";
import type { EndpointAddress, EndpointSubset, Endpoints, Pod, Service, ServicePort } from "../../api/types/core.ts";
import type { ObjectMeta } from "../../api/types/meta.ts";
import { ENDPOINTS_CONTROLLER, ENDPOINTS_MANAGED_BY_LABEL, HEADLESS_LABEL } from "../../api/well-known.ts";
import { meta, pod, service } from "../../testing/builders.ts";
import { planEndpoints } from "./plan-endpoints.ts";
import { subsetsOf } from "./pod-subsets.ts";
import { repacked } from "./repack.ts";
import { truncated } from "./truncate.ts";

const web = service("web");
const a = pod("a", { ip: "10.0.0.1" });
const MANAGED = { [ENDPOINTS_MANAGED_BY_LABEL]: ENDPOINTS_CONTROLLER };
const tcp = (name: string, port: number, targetPort: number | string = port): ServicePort => ({
	name,
	port,
	targetPort,
	protocol: "TCP",
});

function subsetsFor(of: Service, ...pods: readonly Pod[]): readonly EndpointSubset[] | undefined {
	const plan = planEndpoints({ service: of, pods, existing: undefined });
	return plan.kind === "create" ? plan.endpoints.subsets : undefined;
}

/** `10.0.0.1 !10.0.0.2 http:8080`: an address that is not ready has a mark. */
function text(subsets: readonly EndpointSubset[] = []): readonly string[] {
	return subsets.map(({ addresses = [], notReadyAddresses = [], ports = [] }) =>
		[
			...addresses.map(({ ip }) => ip),
			...notReadyAddresses.map(({ ip }) => `!${ip}`),
			...ports.map(({ name = "", port, protocol }) => `${name}:${port}${protocol === "UDP" ? "/UDP" : ""}`),
		].join(" "),
	);
}

describe("which Pods and addresses are listed:", () => {
	const dual = { ips: ["10.0.0.1", "fd00::1"] };
	const none = { ipFamilies: [], clusterIPs: [] };
	test.each<[string, Service, Pod, readonly string[]]>([
		["a failed Pod is not", web, pod("a", { ip: "10.0.0.1", status: { phase: "Failed" } }), []],
		[
			"an ended Pod is not, even when all are published",
			service("web", { publishNotReadyAddresses: true }),
			pod("a", { ip: "10.0.0.1", status: { phase: "Succeeded" } }),
			[],
		],
		["a Pod without an address is not", web, pod("a"), []],
		["a pending Pod with an address is", web, pod("a", { ip: "10.0.0.1", status: { phase: "Pending" } }), ["10.0.0.1"]],
		["a Pod of unknown phase is", web, pod("a", { ip: "10.0.0.1", status: { phase: "Unknown" } }), ["10.0.0.1"]],
		["a Pod on a Node that nobody knows is", web, pod("a", { ip: "10.0.0.1", node: "ghost" }), ["10.0.0.1"]],
		[
			"a Pod without the condition Ready is not ready",
			web,
			{ ...a, status: { ...a.status, conditions: [] } },
			["!10.0.0.1"],
		],
		[
			"one that is not ready counts as ready when all are published",
			service("web", { publishNotReadyAddresses: true }),
			pod("a", { ip: "10.0.0.1", isReady: false }),
			["10.0.0.1"],
		],
		[
			"the annotation that tolerated unready Pods up to 1.23 means nothing",
			service("web", {}, { annotations: { "service.alpha.kubernetes.io/tolerate-unready-endpoints": "true" } }),
			pod("a", { ip: "10.0.0.1", isReady: false }),
			["!10.0.0.1"],
		],
		["no address of the family: not listed", service("web", { ipFamilies: ["IPv6"] }), a, []],
		[
			"the family is the cluster IP's when none is named",
			service("web", { ...none, clusterIP: "fd00:96::1" }),
			pod("a", dual),
			["fd00::1"],
		],
		[
			"or the Pod's own, of a headless Service",
			service("web", { ...none, clusterIP: "None" }),
			pod("a", { ips: ["fd00::1", "10.0.0.1"] }),
			["fd00::1"],
		],
		["the first address of the family", web, pod("a", { ips: ["fd00::1", "10.0.0.7", "10.0.0.8"] }), ["10.0.0.7"]],
		[
			"addresses are canonical",
			service("web", { ipFamilies: ["IPv6"] }),
			pod("a", { ips: ["FD00:0:0::1"] }),
			["fd00::1"],
		],
		["leading zeros are read as decimals", web, pod("a", { ips: ["010.000.0.1"] }), ["10.0.0.1"]],
	])("%s", (_, of, one, listed) => {
		expect(text(subsetsFor(of, one)).map((line) => line.replace(/ http:8080$/, ""))).toEqual(listed);
	});
});

describe("what an address says:", () => {
	const asking = (hostname: string, subdomain: string): Pod =>
		pod("a", { ip: "10.0.0.1", spec: { hostname, subdomain } });
	const target = { kind: "Pod", namespace: "default", name: "a", uid: "uid-a" };
	const plain: EndpointAddress = { ip: "10.0.0.1", nodeName: "n1", targetRef: target };
	test.each<[string, Pod, EndpointAddress]>([
		["the node, and the Pod without its resourceVersion", a, plain],
		["a Pod without a node: an empty name", pod("a", { ip: "10.0.0.1", node: "" }), { ...plain, nodeName: "" }],
		["a hostname under the Service's name", asking("h", "web"), { ...plain, hostname: "h" }],
		["no hostname under another name", asking("h", "other"), plain],
		["no hostname when the Pod has none", asking("", "web"), plain],
	])("%s", (_, one, address) => {
		expect(subsetsFor(web, one)?.[0]?.addresses).toEqual([address]);
	});
});

describe("which ports are listed:", () => {
	const sidecar = (restartPolicy?: "Always"): Pod => {
		const init = { name: "s", ports: [{ name: "http", containerPort: 15_000 }] };
		const initContainers = [restartPolicy === undefined ? init : { ...init, restartPolicy }];
		return pod("a", { ip: "10.0.0.1", spec: { containers: [{ name: "c" }], initContainers } });
	};
	const named = service("web", { ports: [tcp("http", 80, "http")] });
	test.each<[string, Service, Pod, readonly string[]]>([
		["no ports of a Service with a cluster IP: nothing", service("web", { ports: [] }), a, []],
		["nor of one that waits for its cluster IP", service("web", { ports: [], clusterIP: "" }), a, []],
		["a number is taken as it is", service("web", { ports: [tcp("x", 1, 9999)] }), a, ["10.0.0.1 x:9999"]],
		["a name is looked for in the containers", named, a, ["10.0.0.1 http:8080"]],
		["and in sidecars", named, sidecar("Always"), ["10.0.0.1 http:15000"]],
		["not in other init containers", named, sidecar(), []],
		[
			"the protocol must be the same",
			service("web", { ports: [{ ...tcp("http", 80, "http"), protocol: "UDP" }] }),
			a,
			[],
		],
		[
			"only the port that cannot be found is left out",
			service("web", { ports: [tcp("http", 80, "http"), tcp("ghost", 81, "ghost")] }),
			a,
			["10.0.0.1 http:8080"],
		],
		[
			"two ports of the Service on one number make two ports of one subset",
			service("web", { ports: [tcp("x", 80, 8080), tcp("y", 81, 8080)] }),
			a,
			["10.0.0.1 y:8080 x:8080"],
		],
		[
			"ports are in the order of their hash: metrics, dns-tcp, dns",
			service("web", { ports: [{ ...tcp("dns", 53), protocol: "UDP" }, tcp("dns-tcp", 53), tcp("metrics", 9153)] }),
			a,
			["10.0.0.1 metrics:9153 dns-tcp:53 dns:53/UDP"],
		],
		[
			"admin, http, grpc, https",
			service("web", {
				ports: [
					tcp("http", 80),
					tcp("https", 443),
					{ ...tcp("grpc", 9090), appProtocol: "kubernetes.io/h2c" },
					tcp("admin", 9901),
				],
			}),
			a,
			["10.0.0.1 admin:9901 http:80 grpc:9090 https:443"],
		],
	])("%s", (_, of, one, listed) => {
		expect(text(subsetsFor(of, one))).toEqual(listed);
	});

	test("appProtocol comes along, and is one port for all Pods", () => {
		const of = service("web", { ports: [{ ...tcp("grpc", 9090), appProtocol: "kubernetes.io/h2c" }] });
		expect(subsetsFor(of, a, pod("b", { ip: "10.0.0.2" }))).toMatchObject([
			{
				addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }],
				ports: [{ name: "grpc", port: 9090, appProtocol: "kubernetes.io/h2c" }],
			},
		]);
	});
});

describe("the canonical form:", () => {
	const ports = [{ name: "http", port: 80, protocol: "TCP" as const }];
	const other = [{ name: "https", port: 443, protocol: "TCP" as const }];
	const grpc = [{ name: "grpc", port: 9090, protocol: "TCP" as const, appProtocol: "kubernetes.io/h2c" }];
	const at = (ip: string, uid?: string, hostname?: string): EndpointAddress => ({
		ip,
		...(uid === undefined ? {} : { targetRef: { kind: "Pod", uid } }),
		...(hostname === undefined ? {} : { hostname }),
	});
	test.each<[string, readonly EndpointSubset[], readonly EndpointSubset[]]>([
		[
			"an address with another uid is another address; one without a target comes first, then by uid",
			[{ addresses: [at("10.0.0.1", "y"), at("10.0.0.1", "x"), at("10.0.0.1")], ports }],
			[{ addresses: [at("10.0.0.1"), at("10.0.0.1", "x"), at("10.0.0.1", "y")], ports }],
		],
		[
			"ports with the same addresses share a subset",
			[
				{ addresses: [at("10.0.0.1", "x")], ports },
				{ addresses: [at("10.0.0.1", "x")], ports: other },
			],
			[{ addresses: [at("10.0.0.1", "x")], ports: [...ports, ...other] }],
		],
		[
			"ready and not ready for one port: not ready",
			[
				{ addresses: [at("10.0.0.1")], ports },
				{ notReadyAddresses: [at("10.0.0.1")], ports },
			],
			[{ notReadyAddresses: [at("10.0.0.1")], ports }],
		],
		[
			"whichever comes first",
			[
				{ notReadyAddresses: [at("10.0.0.1")], ports },
				{ addresses: [at("10.0.0.1")], ports },
			],
			[{ notReadyAddresses: [at("10.0.0.1")], ports }],
		],
		[
			"lists that are empty are absent",
			[{ addresses: [at("10.0.0.1")], notReadyAddresses: [], ports: [] }],
			[{ addresses: [at("10.0.0.1")] }],
		],
		["a subset without addresses goes", [{ ports }], []],
	])("%s", (_, subsets, canonical) => {
		expect(repacked(subsets)).toEqual(canonical);
	});

	test("the first form of an address that is seen is kept everywhere", () => {
		const subsets = [
			{ addresses: [at("10.0.0.1", "x", "first")], ports },
			{ addresses: [at("10.0.0.1", "x", "second"), at("10.0.0.2")], ports: other },
		];
		const forms = repacked(subsets).map(({ addresses = [] }) => addresses[0]?.hostname);
		expect(forms).toEqual(["first", "first"]);
	});

	test("ports with the same addresses but another readiness are in subsets of their own", () => {
		const subsets = [
			{ addresses: [at("10.0.0.1")], ports },
			{ notReadyAddresses: [at("10.0.0.1")], ports: other },
		];
		expect(repacked(subsets)).toHaveLength(2);
	});

	test("stored ports with an appProtocol are not merged, unlike others", () => {
		const split = (of: EndpointSubset["ports"]): readonly EndpointSubset[] =>
			["10.0.0.1", "10.0.0.2"].map((ip) => ({ addresses: [at(ip)], ports: of ?? [] }));
		expect([repacked(split(grpc)).length, repacked(split(ports)).length]).toEqual([2, 1]);
	});
});

describe("the write:", () => {
	const existing = (metadata: Partial<ObjectMeta>, subsets: readonly EndpointSubset[] = []): Endpoints => ({
		apiVersion: "v1",
		kind: "Endpoints",
		metadata: meta("web", metadata),
		subsets,
	});
	const right = subsetsFor(web, a) ?? [];
	const withVersion = right.map((subset) => ({
		...subset,
		notReadyAddresses: [],
		addresses: (subset.addresses ?? []).map((address) => ({
			...address,
			targetRef: { ...address.targetRef, resourceVersion: "7" },
		})),
	}));
	test.each<[string, Service, Endpoints, "none" | "update"]>([
		[
			"empty lists and a target's resourceVersion are no difference",
			web,
			existing({ labels: MANAGED }, withVersion),
			"none",
		],
		["another manager is", web, existing({ labels: { [ENDPOINTS_MANAGED_BY_LABEL]: "me" } }, right), "update"],
		["a label that the Service lacks is", web, existing({ labels: { ...MANAGED, x: "y" } }, right), "update"],
		[
			"a label that only the Service has is",
			service("web", {}, { labels: { x: "y" } }),
			existing({ labels: MANAGED }, right),
			"update",
		],
		[
			"another value of a label is",
			service("web", {}, { labels: { x: "y" } }),
			existing({ labels: { ...MANAGED, x: "z" } }, right),
			"update",
		],
		["annotations are not", web, existing({ labels: MANAGED, annotations: { note: "mine" } }, right), "none"],
		[
			"an annotation of over-capacity that is not true any more is",
			web,
			existing({ labels: MANAGED, annotations: { "endpoints.kubernetes.io/over-capacity": "truncated" } }, right),
			"update",
		],
	])("%s", (_, of, there, kind) => {
		expect(planEndpoints({ service: of, pods: [a], existing: there }).kind).toBe(kind);
	});

	test("more than 1000 stored addresses are never right, even if they are the Pods'", () => {
		const pods = Array.from({ length: 1001 }, (_, n) => pod(`p${n}`, { ip: `10.1.${n >> 8}.${n & 255}` }));
		const subsets = subsetsOf(web, pods);
		const plan = planEndpoints({ service: web, pods, existing: existing({ labels: MANAGED }, subsets) });
		expect(plan.kind === "update" && plan.endpoints.subsets?.[0]?.addresses?.length).toBe(1000);
	});

	const finalizers = ["example.com/hold"];
	const ownerReferences = [{ apiVersion: "v1", kind: "Node", name: "n", uid: "u" }];
	test.each<[string, Service, Partial<ObjectMeta>, object]>([
		[
			"keeps finalizers, owners and the resourceVersion",
			web,
			{ finalizers, ownerReferences, resourceVersion: "41" },
			{ finalizers, ownerReferences, resourceVersion: "41" },
		],
		["sets no owner", web, {}, { ownerReferences: undefined }],
		[
			"takes the trigger time away when there is no new one",
			web,
			{ annotations: { "endpoints.kubernetes.io/last-change-trigger-time": "old", note: "mine" } },
			{ annotations: { note: "mine" } },
		],
		["loses labels of others", web, { labels: { mine: "yes" } }, { labels: MANAGED }],
		[
			"marks a Service that waits for its cluster IP as headless",
			service("web", { clusterIP: "" }),
			{},
			{ labels: { ...MANAGED, [HEADLESS_LABEL]: "" } },
		],
		[
			"takes the mark of headless away, even if the Service has the label",
			service("web", {}, { labels: { [HEADLESS_LABEL]: "", x: "y" } }),
			{ labels: { [HEADLESS_LABEL]: "" } },
			{ labels: { ...MANAGED, x: "y" } },
		],
	])("%s", (_, of, before, after) => {
		const plan = planEndpoints({ service: of, pods: [a], existing: existing(before) });
		if (plan.kind !== "update") throw new Error(plan.kind);
		const metadata = new Map<string, unknown>(Object.entries(plan.endpoints.metadata));
		for (const [key, value] of Object.entries(after)) expect(metadata.get(key)).toEqual(value);
	});

	test("has no subsets when no Pod is listed, and is made all the same", () => {
		const plan = planEndpoints({ service: web, pods: [], existing: undefined });
		if (plan.kind !== "create") throw new Error(plan.kind);
		expect([plan.kind, Object.keys(plan.endpoints), plan.endpoints.metadata.name]).toEqual([
			"create",
			["metadata"],
			"web",
		]);
	});

	test("leaves out subsets when the last Pod is gone", () => {
		const plan = planEndpoints({ service: web, pods: [], existing: existing({ labels: MANAGED }, right) });
		expect(plan.kind === "update" && "subsets" in plan.endpoints).toBe(false);
	});

	test("touches nothing of an ExternalName Service", () => {
		const there = existing({}, right);
		expect(planEndpoints({ service: service("web", { type: "ExternalName" }), pods: [a], existing: there }).kind).toBe(
			"none",
		);
	});
});

describe("truncation:", () => {
	const subset = (prefix: string, ready: number, notReady = 0): EndpointSubset => ({
		addresses: Array.from({ length: ready }, (_, n) => ({ ip: `${prefix}${n}` })),
		notReadyAddresses: Array.from({ length: notReady }, (_, n) => ({ ip: `${prefix}-${n}` })),
		ports: [{ port: 80 }],
	});
	test("keeps the first of each list, and the order of subsets and ports", () => {
		const [first, second] = truncated([subset("z", 600), subset("a", 600)]);
		expect([first?.addresses?.at(-1)?.ip, second?.addresses?.at(-1)?.ip]).toEqual(["z499", "a499"]);
		expect([first?.ports, second?.ports]).toEqual([[{ port: 80 }], [{ port: 80 }]]);
	});

	test("an address in two subsets counts twice", () => {
		const twice = truncated([subset("a", 501), subset("a", 501)]);
		expect(twice.map(({ addresses = [] }) => addresses.length)).toEqual([500, 500]);
	});

	test("with 1000 ready ones, none is left for those that are not", () => {
		const [only] = truncated([subset("a", 1000, 5)]);
		expect([only?.addresses?.length, only?.notReadyAddresses]).toEqual([1000, undefined]);
	});
});
