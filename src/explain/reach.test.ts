/** What is said when nothing is reached, or when that is not known. */
import { describe, expect, test } from "vitest";
import { node, service } from "../testing/builders.ts";
import {
	CONTAINER,
	CONTROLLER,
	containers,
	endpoints,
	event,
	external,
	good,
	lease,
	MANAGED_BY,
	MINE,
	MIRRORING,
	manual,
	NAMED,
	NOON_MS,
	OWN,
	pod,
	SERVICE_NAME,
	slice,
	stateful,
	web,
	workload,
} from "../testing/explained-objects.ts";
import { deployment } from "../testing/explained-reach-worlds.ts";
import { worldOf } from "../testing/explained-worlds.ts";
import { Explainer, type Explanation, explainService } from "./explain.ts";
import { type ClusterSnapshot, missingBut } from "./snapshot.ts";

function explained(snapshot: Partial<ClusterSnapshot>): Explanation {
	return explainService(worldOf(snapshot), { namespace: "default", name: "web" });
}

const reachedOf = ({ chain }: Explanation): string => chain.at(-1)?.lines.join("\n") ?? "";
const unready = { conditions: { ready: false } };
const HEADLESS = "service.kubernetes.io/headless";
const cause = (snapshot: Partial<ClusterSnapshot>): string | undefined => explained(snapshot).cause?.name;

describe("where nothing is reached there is an error", () => {
	test.each<[string, Partial<ClusterSnapshot>, string]>([
		[
			"Endpoints that are all not ready, mirrored",
			{
				services: [manual()],
				endpoints: [endpoints("web", [{ notReadyAddresses: [{ ip: "1.2.3.4" }] }])],
				slices: [slice({ labels: { [SERVICE_NAME]: "web", [MANAGED_BY]: MIRRORING }, endpoint: unready })],
			},
			"manual-endpoints-not-ready",
		],
		[
			"an address in both lists",
			{
				services: [manual()],
				endpoints: [endpoints("web", [{ addresses: [{ ip: "1.2.3.4" }], notReadyAddresses: [{ ip: "1.2.3.4" }] }])],
				slices: [slice({ labels: { [SERVICE_NAME]: "web", [MANAGED_BY]: MIRRORING }, endpoint: unready })],
			},
			"manual-endpoints-not-ready",
		],
		[
			"a slice of no endpoints",
			{ services: [manual()], slices: [slice({ labels: OWN, addresses: [] })] },
			"no-selector-and-no-manual-endpoints",
		],
		["slices of a controller that lag", { ...good, slices: [slice({ endpoint: unready })] }, "nothing-reached"],
		[
			"slices that are for other proxies",
			{ services: [manual()], slices: [slice({ labels: { ...OWN, [HEADLESS]: "" } })] },
			"headless-label",
		],
		[
			"Local endpoints on a node that there is not",
			{
				services: [manual({ internalTrafficPolicy: "Local" })],
				slices: [slice({ labels: OWN, endpoint: { nodeName: "n77" } })],
				nodes: [node("n1"), node("n2"), node("n3")],
			},
			"no-local-endpoint",
		],
		[
			"a slice of the controller that it did not make, of a Pod that is gone",
			{
				services: [web()],
				slices: [slice({ uid: "", endpoint: { targetRef: { kind: "Pod", namespace: "default", name: "gone" } } })],
				takenMs: NOON_MS,
				leases: [lease("2026-01-01T11:59:59.000000Z")],
				pods: [pod()],
			},
			"slices-out-of-date",
		],
	])("%s", (_what, snapshot, name) => {
		const found = explained(snapshot);
		expect([found.cause?.name, found.verdict]).toEqual([name, "error"]);
	});

	test("and none where hints, other nodes or terminating endpoints still lead somewhere", () => {
		const last = { conditions: { ready: false, serving: true, terminating: true } };
		expect(cause({ services: [manual()], slices: [slice({ labels: OWN, endpoint: last })] })).toBeUndefined();
		expect(cause({ ...good, services: [web({ internalTrafficPolicy: "Local" })] })).toBeUndefined();
		expect(cause({ ...good, services: [web({ clusterIP: "None", clusterIPs: ["None"] })] })).toBeUndefined();
	});

	test("and none where it is not known from which node a client asks", () => {
		const local = worldOf({ ...good, services: [web({ internalTrafficPolicy: "Local" })] });
		const from = { kind: "pod", namespace: "default", name: "unknown" } as const;
		const { findings, verdict } = explainService(local, { namespace: "default", name: "web", from });
		expect([verdict, findings.map(({ name }) => name)]).toEqual([
			"warning",
			["client-pod-unknown", "local-on-some-nodes"],
		]);
	});

	test("a live Pod on its way out is no sign that slices are out of date", () => {
		const targetRef = { kind: "Pod", namespace: "default", name: "going" };
		const going = slice({ name: "web-2", endpoint: { targetRef, conditions: { ready: false, terminating: true } } });
		expect(cause({ ...good, slices: [slice(), going], takenMs: NOON_MS })).toBeUndefined();
	});

	test("a label for another proxy leaves the cluster IP to that one, and the name as it is", () => {
		const labels = { "service.kubernetes.io/service-proxy-name": "mesh" };
		const found = explained({ ...good, services: [web({}, { labels })] });
		expect([found.verdict, reachedOf(found)]).toEqual(["ok", "10.96.0.10 -> what proxy mesh makes of: 10.244.0.1"]);
		const headless = explained({ ...good, services: [web({}, { labels: { [HEADLESS]: "" } })] });
		expect(reachedOf(headless)).toBe(`10.96.0.10 -> nothing: its label ${HEADLESS} keeps proxies from it`);
	});
});

describe("what was not looked at", () => {
	test.each<[string, readonly string[]]>([
		["EndpointSlices", ["EndpointSlice"]],
		["EndpointSlices", [missingBut("EndpointSlice", "shop")]],
		["Services", ["Service"]],
		["Services", [missingBut("Service", "shop")]],
	])("makes it unknown: %s, %j", (what, missing) => {
		const services = what === "Services" ? [] : [web()];
		const found = explained({ services, pods: [pod()], missing });
		expect([found.verdict, found.unknown, found.findings]).toEqual(["unknown", `${what} were not looked at`, []]);
		expect(JSON.stringify(found.chain)).not.toContain("refused");
	});

	test("of other namespaces alone changes nothing", () => {
		const missing = ["Service", "Pod", "EndpointSlice"].map((kind) => missingBut(kind, "default"));
		expect(explained({ ...good, missing }).verdict).toBe("ok");
		expect(cause({ services: [web()], missing })).toBe("selector-matches-no-pods");
	});

	test("does not hide what is found all the same", () => {
		expect(cause({ services: [web()], missing: ["EndpointSlice"] })).toBe("selector-matches-no-pods");
	});

	test("is told of Services themselves", () => {
		const explainer = new Explainer(worldOf({ missing: [missingBut("Service", "shop")] }));
		expect([explainer.isSighted(), explainer.isSighted("default"), explainer.isSighted("shop")]).toEqual([
			false,
			false,
			true,
		]);
	});
});

test("a list may be of one namespace", () => {
	const explainer = new Explainer(
		worldOf({ ...good, services: [web(), { ...web(), metadata: { ...web().metadata, namespace: "b" } }] }),
	);
	expect(explainer.explainAll(undefined, "b").map(({ service: key }) => key)).toEqual(["b/web"]);
	expect(explainer.explainAll()).toHaveLength(2);
});

test("a namespace in which nothing was seen is told of", () => {
	const found = explainService(worldOf(good), { namespace: "nosuch", name: "web" });
	expect(found.cause?.text).toContain("Nothing else that was looked at is in that namespace: does it exist?");
});

describe("why there are no Pods", () => {
	const owned = {
		ownerReferences: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: "u", controller: true }],
	};
	const set = workload("ReplicaSet", {}, { app: "web" });
	const replicaSet = { ...set, metadata: { ...set.metadata, name: "web-7d", ...owned } };

	test("is what an Event about the ReplicaSet says", () => {
		const refused = {
			...event("web-7d", "FailedCreate", "exceeded quota: few."),
			involvedObject: { kind: "ReplicaSet", namespace: "default", name: "web-7d" },
		};
		const found = explained({
			services: [web()],
			workloads: [deployment({ replicas: 1 }), replicaSet],
			events: [refused],
		});
		expect(found.cause?.name).toBe("pods-not-created");
		expect(found.cause?.text).toMatch(
			/Deployment\/web, and none of them has been made\. FailedCreate: exceeded quota: few\.$/,
		);
		expect(found.cause?.evidence).toContainEqual(expect.objectContaining({ object: "Event/web-7d.1" }));
	});

	test("is not the old ReplicaSets of a Deployment", () => {
		const old = { ...replicaSet, spec: { ...replicaSet.spec, replicas: 0 } };
		expect(cause({ services: [web()], workloads: [deployment({ replicas: 2 }), old] })).toBe("pods-not-created");
		expect(cause({ services: [web()], workloads: [deployment({ replicas: 0 }), old] })).toBe("workload-scaled-to-zero");
	});

	test("is a StatefulSet of 0 replicas", () => {
		const empty = {
			...workload("StatefulSet", {}, { app: "web" }),
			spec: { replicas: 0, template: { metadata: { labels: { app: "web" } } } },
		};
		const { cause: found } = explained({ services: [web()], workloads: [empty] });
		expect(found?.fix?.command).toBe("kubectl -n default scale statefulset web --replicas=1");
	});
});

describe("why a Pod is not there yet", () => {
	const status = (name: string, ready: boolean, state: object, more: object = {}) => ({
		...{ name, ready, restartCount: 0, image: "", imageID: "", state },
		...more,
	});
	const waits = (reason: string) => ({ waiting: { reason } });

	test("is the init container that fails, and not what waits for it", () => {
		const failing = status("migrate", false, waits("CrashLoopBackOff"), {
			restartCount: 4,
			lastState: { terminated: { exitCode: 1, reason: "Error" } },
		});
		const initContainerStatuses = [
			status("first", true, { terminated: { exitCode: 0 } }),
			failing,
			status("later", false, waits("PodInitializing")),
		];
		const containerStatuses = [status("c", false, waits("PodInitializing"))];
		const stuck = pod({
			ready: false,
			phase: "Pending",
			spec: { initContainers: [{ ...CONTAINER, name: "migrate" }] },
			status: { initContainerStatuses, containerStatuses } as never,
		});
		const says = "web-1, init container migrate waits: CrashLoopBackOff, ended with 1 (Error), 4 restarts.";
		expect(explained({ ...good, pods: [stuck] }).cause?.text).toContain(says);
	});

	test.each<[object, string]>([
		[{ nodeName: "n99" }, "on n99, which is no Node, so nobody starts it"],
		[{ nodeName: undefined, schedulerName: "mine" }, "no node has been chosen by scheduler mine: does it run?"],
		[{ nodeName: undefined, schedulerName: "default-scheduler" }, "no node has been chosen."],
	])("is %j", (spec, says) => {
		const pending = pod({ ip: "", phase: "Pending", ready: false, spec });
		expect(explained({ ...good, pods: [pending], slices: [slice({ addresses: [] })] }).cause?.text).toContain(says);
	});

	test("is no Event of what happens to every Pod", () => {
		const events = [event("web-1", "Scheduled", "Successfully assigned default/web-1 to n1")];
		const { cause: found } = explained({ ...good, pods: [pod({ ready: false })], events });
		expect(JSON.stringify(found)).not.toContain("Successfully assigned");
	});

	test("ends in one dot", () => {
		const evicted = pod({ phase: "Failed", ready: false, status: { reason: "Evicted", message: "low on memory." } });
		expect(explained({ ...good, pods: [evicted] }).cause?.text).toMatch(/low on memory\.$/);
	});
});

describe("ports", () => {
	const byHand = (ports: readonly object[]) => slice({ labels: OWN, more: { ports: ports as never } });
	const twoPorts = manual({
		ports: [
			{ name: "http", port: 80 },
			{ name: "grpc", port: 81 },
		],
	});

	test.each<[string, ReturnType<typeof manual>, readonly object[], string, unknown]>([
		[
			"of another protocol",
			manual({ ports: [{ port: 5432 }] }),
			[{ name: "", port: 5432, protocol: "UDP" }],
			"Port unnamed/TCP of the Service leads nowhere: ports of EndpointSlice/web-abc are unnamed/UDP.",
			[{ op: "add", path: "/ports/0/protocol", value: "TCP" }],
		],
		[
			"that are none",
			manual({ ports: [{ name: "http", port: 80, targetPort: 8080 }] }),
			[],
			"EndpointSlice/web-abc has no ports",
			[{ op: "add", path: "/ports", value: [{ name: "http", protocol: "TCP", port: 8080 }] }],
		],
		[
			"with a typo beside another one",
			twoPorts,
			[
				{ name: "http", port: 80 },
				{ name: "gprc", port: 81 },
			],
			"Port grpc of the Service leads nowhere: ports of EndpointSlice/web-abc are http, gprc.",
			[{ op: "add", path: "/ports/1/name", value: "grpc" }],
		],
		[
			"of quite other names",
			twoPorts,
			[
				{ name: "http", port: 80 },
				{ name: "metrics", port: 9 },
			],
			"are http, metrics.",
			undefined,
		],
	])("by hand %s", (_what, service, ports, says, patch) => {
		const { cause: found } = explained({ services: [service], slices: [byHand(ports)] });
		expect([found?.name, found?.fix?.patch]).toEqual(["port-name-mismatch", patch]);
		expect(found?.text).toContain(says);
	});

	test("that some of the Pods have are not renamed: the selector means too many", () => {
		const db = pod({
			name: "db",
			ip: "10.244.0.2",
			labels: { app: "web", tier: "db" },
			spec: containers({ name: "pg", containerPort: 1 }),
		});
		const both = [pod({ labels: { app: "web", tier: "front" } }), db];
		const { cause: found } = explained({ ...good, services: [web({ ports: [NAMED] })], pods: both });
		expect([found?.name, found?.fix?.patch]).toEqual([
			"named-port-missing-in-pod",
			{ spec: { selector: { tier: "front" } } },
		]);
	});
});

describe("endpoints by hand", () => {
	test("that are nowhere: a slice with the ports, and Endpoints of another name, are told of in the cause", () => {
		const stray = slice({ name: "external-database", labels: {} });
		const found = explained({ services: [manual()], slices: [stray], endpoints: [endpoints("web", [])] });
		expect(found.cause?.text).toBe(
			"The Service has no selector, and Endpoints/web lists no address. EndpointSlice/external-database belongs to no Service.",
		);
		expect(found.cause?.fix?.command).toContain("label endpointslice external-database kubernetes.io/service-name=web");
		const other = explained({
			services: [manual()],
			endpoints: [endpoints("db", [{ addresses: [{ ip: "1.2.3.4" }] }])],
		});
		expect(other.cause?.fix?.advice).toMatch(/^make Endpoints\/db anew with the name web, if that is meant/);
	});

	test("of another namespace are shown where they are", () => {
		const targetRef = { kind: "Pod", name: "a", namespace: "b" };
		const { findings } = explained({
			services: [manual()],
			missing: ["Pod"],
			slices: [slice({ labels: OWN, endpoint: { targetRef } })],
		});
		const [first] = findings;
		expect(first?.evidence).toEqual([
			{ object: "EndpointSlice/web-abc", field: "endpoints[0].targetRef.namespace", value: "b" },
		]);
		expect(first?.fix?.advice).toContain("namespace b");
	});

	test("of a removed selector are deleted with the Endpoints that they would be made of again", () => {
		const stale = { services: [manual()], slices: [slice()], pods: [pod()] };
		const slices = `kubectl -n default delete endpointslices -l ${SERVICE_NAME}=web,${MANAGED_BY}=${CONTROLLER}`;
		const of = (ip: string) =>
			explained({ ...stale, endpoints: [endpoints("web", [{ addresses: [{ ip }] }])] }).cause?.fix?.command;
		expect(of("10.244.0.1")).toBe(`kubectl -n default delete endpoints web && ${slices}`);
		// Somebody's own.
		expect(of("192.0.2.1")).toBe(slices);
	});

	test("of Pods that are gone are found when they are mirrored, too", () => {
		const labels = { [SERVICE_NAME]: "web", [MANAGED_BY]: MIRRORING };
		const mirrored = slice({ labels, endpoint: { targetRef: { kind: "Pod", namespace: "default", name: "gone" } } });
		const { cause: found } = explained({ services: [manual()], slices: [mirrored] });
		expect([found?.name, found?.fix?.command]).toEqual([
			"endpoints-of-missing-pods",
			"kubectl -n default delete endpoints web",
		]);
	});
});

describe("names of other Services", () => {
	test("of a Service that is well are well, and loops end", () => {
		const api = { ...service("api", {}), metadata: { ...web().metadata, name: "api" } };
		const services = [...external("api.default.svc.cluster.local."), { ...api, spec: manual().spec }];
		const slices = [{ ...MINE, metadata: { ...MINE.metadata, labels: { ...OWN, [SERVICE_NAME]: "api" } } }];
		expect(explained({ services, slices }).verdict).toBe("ok");
		const ring = Array.from({ length: 40 }, (_, at) => ({
			...manual({ type: "ExternalName", externalName: `s${(at + 1) % 40}.default.svc` }),
			metadata: { ...web().metadata, name: at === 0 ? "web" : `s${at}` },
		}));
		expect(explained({ services: ring }).service).toBe("default/web");
	});

	test("of Pods below the governing Service are no trouble of a second headless one", () => {
		const world = stateful("db");
		const pods = [pod({ ...{ spec: { hostname: "web-0", subdomain: "db" } }, more: world.pods?.[0]?.metadata ?? {} })];
		const both = [...(world.services ?? []), service("db")];
		const slices = [
			slice(),
			{ ...slice({ name: "db-1" }), metadata: { ...slice().metadata, labels: { [SERVICE_NAME]: "db" } } },
		];
		expect(explained({ ...world, pods, slices, services: both }).findings).toEqual([]);
		expect(explained({ ...world, pods }).findings.map(({ name }) => name)).toEqual([
			"pod-subdomain-differs",
			"statefulset-of-other-service",
		]);
	});
});

test("what a slice leaves out is said in words", () => {
	const sparse = {
		...MINE,
		addressType: undefined,
		ports: [{ port: 80 }],
		endpoints: [{ addresses: [], conditions: {} }],
	};
	const lines = explained({ services: [manual()], slices: [sparse as never] }).chain.flatMap((step) => step.lines);
	expect(lines).toContain("web-abc (no addressType :80, of me.example): no address");
});

test("nobody speaks of other nodes where there are none", () => {
	const spec = { internalTrafficPolicy: "Local" } as const;
	expect(reachedOf(explained({ ...good, services: [web(spec)], nodes: [node("n1")] }))).toBe(
		"on n1: http -> 10.244.0.1:8080 (on n1)",
	);
});
