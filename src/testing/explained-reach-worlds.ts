/** Worlds of codes that are about workloads, endpoints that lead nowhere, and names of other Services. */
import type { Workload } from "../explain/snapshot.ts";
import { meta } from "./builders.ts";
import type { ExplainedWorld } from "./explained-objects.ts";
import { endpoints, external, good, MINE, manual, OWN, pod, slice, web, workload } from "./explained-objects.ts";

/** A Deployment `web` whose Pods the Service means. */
export function deployment(spec: Workload["spec"] = {}, status: Workload["status"] = {}): Workload {
	const made = workload("Deployment", {}, { app: "web" });
	return { ...made, spec: { ...made.spec, ...spec }, status };
}

const QUOTA = 'pods "web-" is forbidden: exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2';

/** Of a Deployment that may not make its Pods. */
export const REFUSED: Workload = deployment(
	{ replicas: 2 },
	{ conditions: [{ type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: QUOTA }] },
);

const REF = { kind: "Pod", name: "web-1", namespace: "default" };
const DUAL = {
	ipFamilies: ["IPv4", "IPv6"],
	ipFamilyPolicy: "PreferDualStack",
	clusterIPs: ["10.96.0.10", "fd00:96::10"],
} as const;
const V6 = slice({ name: "web-6", labels: OWN, addresses: ["fd00::1"], more: { addressType: "IPv6" } });
const HEADLESS = { labels: { "service.kubernetes.io/headless": "" } };

export const REACH_WORLDS: Readonly<Record<string, ExplainedWorld>> = {
	"workload-scaled-to-zero": {
		fires: { services: [web()], workloads: [deployment({ replicas: 0 })] },
		near: { services: [web()], workloads: [deployment({ replicas: 0 })], pods: [pod()], slices: [slice()] },
	},
	"pods-not-created": {
		fires: { services: [web()], workloads: [REFUSED] },
		near: { services: [web()], workloads: [workload("Deployment", {}, { app: "other" })] },
	},
	"family-without-endpoints": {
		fires: { services: [manual(DUAL)], slices: [MINE] },
		near: { services: [manual(DUAL)], slices: [MINE, V6] },
	},
	"manual-endpoints-not-ready": {
		fires: { services: [manual()], slices: [slice({ labels: OWN, endpoint: { conditions: { ready: false } } })] },
		near: {
			services: [manual()],
			slices: [slice({ labels: OWN, endpoint: { conditions: { ready: false, serving: true, terminating: true } } })],
		},
	},
	"endpoints-of-missing-pods": {
		fires: { services: [manual()], slices: [slice({ labels: OWN, endpoint: { targetRef: REF } })] },
		near: { services: [manual()], pods: [pod()], slices: [slice({ labels: OWN, endpoint: { targetRef: REF } })] },
	},
	"endpoint-of-missing-pod": {
		fires: {
			services: [manual()],
			slices: [
				slice({ labels: OWN, endpoint: { targetRef: REF } }),
				slice({ name: "web-b", labels: OWN, addresses: ["10.244.0.2"] }),
			],
		},
		near: {
			services: [manual()],
			slices: [
				slice({ labels: OWN, endpoint: { targetRef: { ...REF, kind: "Node" } } }),
				slice({ name: "web-b", labels: OWN, addresses: ["10.244.0.2"] }),
			],
		},
	},
	"nothing-reached": {
		fires: {
			services: [manual()],
			slices: [slice({ labels: OWN, more: { ports: [{ name: "http", protocol: "TCP" }] } })],
		},
		near: { services: [manual()], slices: [MINE] },
	},
	"headless-label": {
		fires: { ...good, services: [web({}, HEADLESS)] },
		near: { ...good, services: [web({ clusterIP: "None", clusterIPs: ["None"] }, HEADLESS)] },
	},
	"externalname-target-missing": {
		fires: { services: external("nope.default.svc.cluster.local") },
		near: { services: external("nope.default.svc.cluster.example") },
	},
	"externalname-target-in-trouble": {
		fires: {
			services: [...external("api.default.svc.cluster.local"), { ...web(), metadata: meta("api") }],
			slices: [],
		},
		near: {
			services: [...external("api.default.svc.cluster.local"), { ...manual(), metadata: meta("api") }],
			endpoints: [endpoints("web", [])],
			slices: [slice({ labels: { ...OWN, "kubernetes.io/service-name": "api" } })],
		},
	},
};
