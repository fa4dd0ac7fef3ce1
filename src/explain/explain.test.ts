import { describe, expect, test } from "vitest";
import type { Endpoints, Node, Pod, Service } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import type { ObjectMeta } from "../api/types/meta.ts";
import { meta, node, service } from "../testing/builders.ts";
import { CODES, type CodeName } from "./codes.ts";
import { explainService } from "./explain.ts";
import { type ClusterSnapshot, EMPTY_SNAPSHOT, type Workload } from "./snapshot.ts";

const SERVICE_NAME = "kubernetes.io/service-name";
const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";
const CONTROLLER = "endpointslice-controller.k8s.io";

type Spec = Partial<Service["spec"]>;

function web(spec: Spec = {}, more: Partial<ObjectMeta> = {}): Service {
	const made = service("web", { selector: { app: "web" }, ipFamilies: ["IPv4"], ...spec });
	return { ...made, metadata: { ...made.metadata, ...more } };
}

/** Without a selector. */
function manual(spec: Spec = {}, more: Partial<ObjectMeta> = {}): Service {
	const { selector: _, ...rest } = web(spec, more).spec;
	return { ...web({}, more), spec: rest };
}

interface PodTraits {
	readonly name?: string;
	readonly labels?: Readonly<Record<string, string>>;
	readonly namespace?: string;
	readonly ready?: boolean;
	readonly ip?: string;
	readonly phase?: string;
	readonly spec?: Partial<Pod["spec"]>;
	readonly more?: Partial<ObjectMeta>;
}

function pod({
	name = "web-1",
	labels = { app: "web" },
	namespace = "default",
	ready = true,
	ip = "10.244.0.1",
	phase = "Running",
	spec,
	more,
}: PodTraits = {}): Pod {
	return {
		apiVersion: "v1",
		kind: "Pod",
		metadata: meta(name, { labels, namespace, ...more }),
		spec: {
			nodeName: "n1",
			containers: [{ name: "c", image: "x", ports: [{ name: "http", containerPort: 8080 }] }],
			...spec,
		},
		status: {
			phase,
			...(ip === "" ? {} : { podIP: ip, podIPs: [{ ip }] }),
			conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
		},
	} as Pod;
}

interface SliceTraits {
	readonly name?: string;
	readonly labels?: Readonly<Record<string, string>>;
	readonly addresses?: readonly string[];
	readonly more?: Partial<EndpointSlice>;
	readonly endpoint?: object;
	readonly port?: string;
}

function slice({
	name = "web-abc",
	labels = { [SERVICE_NAME]: "web", [MANAGED_BY]: CONTROLLER },
	addresses = ["10.244.0.1"],
	more,
	endpoint,
	port = "http",
}: SliceTraits = {}): EndpointSlice {
	return {
		apiVersion: "discovery.k8s.io/v1",
		kind: "EndpointSlice",
		metadata: meta(name, { labels }),
		addressType: "IPv4",
		ports: [{ name: port, port: 8080, protocol: "TCP" }],
		endpoints: addresses.map((address) => ({
			addresses: [address],
			conditions: { ready: true },
			nodeName: "n1",
			...endpoint,
		})),
		...more,
	} as EndpointSlice;
}

function endpoints(name: string, subsets: Endpoints["subsets"], more: Partial<ObjectMeta> = {}): Endpoints {
	return {
		apiVersion: "v1",
		kind: "Endpoints",
		metadata: meta(name, more),
		...(subsets === undefined ? {} : { subsets }),
	};
}

function workload(
	kind: string,
	labels: Readonly<Record<string, string>>,
	template: Readonly<Record<string, string>>,
	serviceName?: string,
): Workload {
	const spec = { template: { metadata: { labels: template } }, ...(serviceName === undefined ? {} : { serviceName }) };
	return { apiVersion: "apps/v1", kind, metadata: meta("web", { labels }), spec };
}

const OWN = { [SERVICE_NAME]: "web", [MANAGED_BY]: "me.example" };
const MINE = slice({ labels: OWN });
const NAMED = { targetPort: "http", port: 80, name: "http" } as const;
const containers = (...ports: readonly { name?: string; containerPort: number; protocol?: "TCP" | "UDP" }[]) => ({
	containers: ports.map((port, index) => ({ name: `c${index}`, image: "x", ports: [port] })),
});
const stateful = (serviceName: string) => ({
	services: [web({ clusterIP: "None" })],
	pods: [
		pod({
			more: {
				ownerReferences: [{ apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: "u", controller: true }],
			},
		}),
	],
	slices: [slice()],
	workloads: [workload("StatefulSet", {}, { app: "web" }, serviceName)],
});
const external = (externalName: string) => [manual({ type: "ExternalName", externalName })];
const local = (nodeName: string | undefined): Partial<ClusterSnapshot> => ({
	services: [web({ internalTrafficPolicy: "Local" })],
	pods: [pod()],
	slices: [slice({ endpoint: { nodeName } })],
});
const unready = (status: string): Node =>
	({ ...node("n1"), status: { conditions: [{ type: "Ready", status }] } }) as Node;

interface Row {
	readonly fires: Partial<ClusterSnapshot>;
	/** As near as can be, and it must not. */
	readonly near: Partial<ClusterSnapshot>;
	readonly from?: string;
}

const good: Partial<ClusterSnapshot> = {
	services: [web()],
	pods: [pod()],
	slices: [slice()],
	nodes: [node("n1"), node("n2")],
};

const ROWS: Readonly<Record<CodeName, Row>> = {
	"service-does-not-exist": { fires: { services: [] }, near: good },
	"selector-matches-no-pods": { fires: { ...good, pods: [pod({ labels: { app: "wbe" } })], slices: [] }, near: good },
	"selector-matches-elsewhere": {
		fires: { services: [web()], pods: [pod({ namespace: "back" })] },
		near: { services: [web()], pods: [pod({ namespace: "back", labels: { app: "x" } })] },
	},
	"no-selector-and-no-manual-endpoints": {
		fires: { services: [manual()] },
		near: { services: [manual()], slices: [MINE] },
	},
	"stale-endpoints-of-removed-selector": {
		fires: { services: [manual()], slices: [slice()] },
		near: { services: [manual()], slices: [MINE] },
	},
	"matched-pods-without-ip": {
		fires: {
			services: [web()],
			pods: [pod({ ip: "", phase: "Pending", ready: false })],
			slices: [slice({ addresses: [] })],
		},
		near: { services: [web()], pods: [pod({ phase: "Pending", ready: false })] },
	},
	"matched-pods-not-ready": {
		fires: { ...good, pods: [pod({ ready: false })] },
		near: { ...good, pods: [pod(), pod({ name: "web-2", ready: false })] },
	},
	"matched-pods-all-finished": {
		fires: { services: [web()], pods: [pod({ phase: "Succeeded", ready: false })] },
		near: { services: [web()], pods: [pod({ phase: "Succeeded" }), pod({ name: "web-2" })], slices: [slice()] },
	},
	"some-pods-not-ready": { fires: { ...good, pods: [pod(), pod({ name: "web-2", ready: false })] }, near: good },
	"matched-pod-finished": { fires: { ...good, pods: [pod(), pod({ name: "web-2", phase: "Failed" })] }, near: good },
	"tolerate-unready-annotation": {
		fires: {
			...good,
			services: [web({}, { annotations: { "service.alpha.kubernetes.io/tolerate-unready-endpoints": "true" } })],
		},
		near: { ...good, services: [web({ publishNotReadyAddresses: true })] },
	},
	"publishes-not-ready": {
		fires: { ...good, services: [web({ publishNotReadyAddresses: true })], pods: [pod({ ready: false })] },
		near: { ...good, services: [web({ publishNotReadyAddresses: true })] },
	},
	"all-terminating": {
		fires: { ...good, pods: [pod({ more: { deletionTimestamp: "2026-01-01T00:00:00Z" } })] },
		near: { ...good, pods: [pod(), pod({ name: "web-2", more: { deletionTimestamp: "2026-01-01T00:00:00Z" } })] },
	},
	"named-port-missing-in-pod": {
		fires: { ...good, services: [web({ ports: [{ ...NAMED, targetPort: "web" }] })] },
		near: { ...good, services: [web({ ports: [NAMED] })] },
	},
	"named-port-declared-twice": {
		fires: {
			...good,
			services: [web({ ports: [NAMED] })],
			pods: [pod({ spec: containers({ name: "http", containerPort: 1 }, { name: "http", containerPort: 2 }) })],
		},
		near: {
			...good,
			services: [web({ ports: [NAMED] })],
			pods: [
				pod({
					spec: containers({ name: "http", containerPort: 1 }, { name: "http", containerPort: 2, protocol: "UDP" }),
				}),
			],
		},
	},
	"target-port-not-declared": {
		fires: { ...good, services: [web({ ports: [{ name: "http", port: 80, targetPort: 9090 }] })] },
		near: { ...good, services: [web({ ports: [{ name: "http", port: 80, targetPort: 8080 }] })] },
	},
	"port-name-mismatch": {
		fires: { services: [manual()], slices: [slice({ labels: OWN, port: "" })] },
		near: { services: [manual()], slices: [MINE] },
	},
	"target-port-has-no-effect": {
		fires: { services: [manual({ ports: [{ name: "http", port: 80, targetPort: 9 }] })], slices: [MINE] },
		near: { services: [manual({ ports: [{ name: "http", port: 80, targetPort: 80 }] })], slices: [MINE] },
	},
	"headless-without-ports": {
		fires: { ...good, services: [web({ clusterIP: "None", ports: [] })] },
		near: { ...good, services: [web({ clusterIP: "None" })] },
	},
	"pods-have-no-address-of-family": {
		fires: { ...good, services: [web({ ipFamilies: ["IPv6"] })] },
		near: { ...good, services: [web({ ipFamilies: ["IPv4", "IPv6"] })] },
	},
	"slice-of-other-family": {
		fires: {
			services: [manual()],
			slices: [slice({ labels: OWN, addresses: ["fd00::1"], more: { addressType: "IPv6" } })],
		},
		near: { services: [manual()], slices: [MINE] },
	},
	"only-fqdn-slices": {
		fires: {
			services: [manual()],
			slices: [slice({ labels: OWN, addresses: ["a.example"], more: { addressType: "FQDN" } })],
		},
		near: {
			services: [manual()],
			slices: [MINE, slice({ name: "f", labels: OWN, addresses: ["a.example"], more: { addressType: "FQDN" } })],
		},
	},
	"endpoints-not-mirrored": {
		fires: {
			services: [manual()],
			endpoints: [
				endpoints("web", [{ addresses: [{ ip: "1.2.3.4" }] }], {
					labels: { "endpointslice.kubernetes.io/skip-mirror": "true" },
				}),
			],
		},
		near: { services: [manual()], endpoints: [endpoints("web", [{ addresses: [{ ip: "1.2.3.4" }] }])] },
	},
	"address-ready-and-not-ready": {
		fires: {
			services: [manual()],
			endpoints: [endpoints("web", [{ addresses: [{ ip: "1.2.3.4" }], notReadyAddresses: [{ ip: "1.2.3.4" }] }])],
		},
		near: {
			services: [manual()],
			endpoints: [endpoints("web", [{ addresses: [{ ip: "1.2.3.4" }], notReadyAddresses: [{ ip: "1.2.3.5" }] }])],
		},
	},
	"target-in-other-namespace": {
		fires: {
			services: [manual()],
			slices: [slice({ labels: OWN, endpoint: { targetRef: { kind: "Pod", name: "a", namespace: "b" } } })],
		},
		near: {
			services: [manual()],
			slices: [slice({ labels: OWN, endpoint: { targetRef: { kind: "Pod", name: "a", namespace: "default" } } })],
		},
	},
	"slices-of-two-managers": {
		fires: { ...good, slices: [slice(), MINE] },
		near: { ...good, slices: [slice(), slice({ name: "web-2" })] },
	},
	"slice-without-managed-by": {
		fires: { ...good, slices: [slice(), slice({ name: "x", labels: { [SERVICE_NAME]: "web" } })] },
		near: { services: [manual()], slices: [slice({ labels: { [SERVICE_NAME]: "web" } })] },
	},
	"slice-without-service-name-label": {
		fires: { services: [manual()], slices: [slice({ name: "web-1", labels: {} })] },
		near: { services: [manual()], slices: [slice({ name: "other", labels: {} })] },
	},
	"slice-left-over": { fires: { slices: [slice()] }, near: { slices: [slice({ labels: { [SERVICE_NAME]: "api" } })] } },
	"endpoints-under-another-name": {
		fires: { services: [manual()], endpoints: [endpoints("wbe", [{ addresses: [{ ip: "1.2.3.4" }] }])] },
		near: { services: [manual(), service("api")], endpoints: [endpoints("api", [{ addresses: [{ ip: "1.2.3.4" }] }])] },
	},
	"over-capacity": {
		fires: {
			...good,
			endpoints: [endpoints("web", [], { annotations: { "endpoints.kubernetes.io/over-capacity": "truncated" } })],
		},
		near: { ...good, endpoints: [endpoints("web", [])] },
	},
	"slices-missing": { fires: { ...good, slices: [] }, near: good },
	"no-local-endpoint": { fires: local("n1"), near: local("n2"), from: "n2" },
	"node-unknown": { fires: { ...good, nodes: [node("n2")] }, near: good },
	"node-not-ready": { fires: { ...good, nodes: [unready("False")] }, near: { ...good, nodes: [unready("True")] } },
	"hints-not-assigned": {
		fires: { ...good, services: [web({ trafficDistribution: "PreferClose" })] },
		near: {
			...good,
			services: [web({ trafficDistribution: "PreferClose" })],
			slices: [slice({ endpoint: { hints: { forZones: [{ name: "a" }] } } })],
		},
	},
	"hints-ignored": {
		fires: {
			...good,
			services: [web({ trafficDistribution: "PreferClose" })],
			nodes: [node("n1", "b")],
			slices: [slice({ endpoint: { hints: { forZones: [{ name: "a" }] } } })],
		},
		near: {
			...good,
			services: [web({ trafficDistribution: "PreferClose" })],
			nodes: [node("n1", "a")],
			slices: [slice({ endpoint: { hints: { forZones: [{ name: "a" }] } } })],
		},
		from: "n1",
	},
	"externalname-has-no-endpoints": {
		fires: { services: external("a.example") },
		near: { services: external("10.1.2.3") },
	},
	"externalname-is-an-ip": {
		fires: { services: external("10.1.2.3") },
		near: { services: external("10.1.2.3.example") },
	},
	"externalname-loop": {
		fires: { services: external("web.default.svc.cluster.local") },
		near: { services: external("web.other.svc.cluster.local") },
	},
	"externalname-with-selector": {
		fires: { services: [web({ type: "ExternalName", externalName: "a.example" })] },
		near: { services: external("a.example") },
	},
	"pod-subdomain-differs": {
		fires: {
			...good,
			services: [web({ clusterIP: "None" })],
			pods: [pod({ spec: { hostname: "a", subdomain: "other" } })],
		},
		near: {
			...good,
			services: [web({ clusterIP: "None" })],
			pods: [pod({ spec: { hostname: "a", subdomain: "web" } })],
		},
	},
	"statefulset-of-other-service": { fires: stateful("db"), near: stateful("web") },
	"looks-meant-headless": {
		fires: { ...good, services: [web({ loadBalancerIP: "None" })] },
		near: { ...good, services: [web({ clusterIP: "None", loadBalancerIP: "None" })] },
	},
};

function names(snapshot: Partial<ClusterSnapshot>, fromNode?: string): readonly string[] {
	const target = { namespace: "default", name: "web", ...(fromNode === undefined ? {} : { fromNode }) };
	return explainService({ ...EMPTY_SNAPSHOT, ...snapshot }, target).findings.map(({ name }) => name);
}

describe.each(CODES)("$code $name", ({ name }) => {
	const { fires, near, from } = ROWS[name as CodeName];

	test("is found where it is", () => {
		expect(names(fires, from)).toContain(name);
	});

	test("is not found near by", () => {
		expect(names(near, from)).not.toContain(name);
	});
});

describe("explainService()", () => {
	test("finds nothing above info in a Service that is well", () => {
		const { cause, findings } = explainService({ ...EMPTY_SNAPSHOT, ...good }, { namespace: "default", name: "web" });
		expect([cause, findings]).toEqual([undefined, []]);
	});

	test("says nothing of what was not looked at", () => {
		const missing = ["Pod", "EndpointSlice", "Endpoints", "Node"];
		expect(names({ services: [web()], missing })).toEqual([]);
		expect(names({ services: [manual()], missing })).toEqual([]);
	});

	test.each([
		[{ app: "wbe" }, "The nearest is Pod/web-1: it has app=wbe, not app=web."],
		[{ name: "web" }, "The nearest is Pod/web-1: it has name=web, not app=web."],
		[{ other: "x" }, "The nearest is Pod/web-1: it lacks app=web."],
	])("names the Pod with labels %j, and what sets it apart", (labels, text) => {
		const found = explainService(
			{ ...EMPTY_SNAPSHOT, services: [web()], pods: [pod({ labels })] },
			{ namespace: "default", name: "web" },
		);
		expect(found.cause?.text).toContain(text);
	});

	test("says that labels are on the workload and not on its template", () => {
		const workloads = [workload("Deployment", { app: "web" }, { app: "other" })];
		const found = explainService(
			{ ...EMPTY_SNAPSHOT, services: [web()], workloads },
			{ namespace: "default", name: "web" },
		);
		expect(found.cause?.text).toContain("Deployment/web has them itself; only labels of its template count.");
	});

	test.each([
		[
			{ "service.kubernetes.io/topology-mode": "Auto" },
			"metadata.annotations[service.kubernetes.io/topology-mode]",
			"Auto",
		],
		[{ "service.kubernetes.io/topology-mode": "AUTO" }, "spec.trafficDistribution", "PreferClose"],
	])("with annotations %j names %s as what asks for hints", (annotations, field, value) => {
		const service = web({ trafficDistribution: "PreferClose" });
		const asking = { ...service, metadata: { ...service.metadata, annotations } };
		const { findings } = explainService(
			{ ...EMPTY_SNAPSHOT, ...good, services: [asking] },
			{ namespace: "default", name: "web" },
		);
		const found = findings.find(({ name }) => name === "hints-not-assigned");
		expect(found?.evidence).toEqual([{ object: "Service/web", field, value }]);
	});
});
