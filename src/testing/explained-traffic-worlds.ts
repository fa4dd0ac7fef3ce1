/** Worlds of codes that are about controllers, nodes, policies and names. */
import { meta, node } from "./builders.ts";
import type { ExplainedWorld } from "./explained-objects.ts";
import {
	addresses,
	CONTROLLER,
	endpoints,
	external,
	good,
	lease,
	local,
	MANAGED_BY,
	MINE,
	MIRRORING,
	manual,
	NOON_MS,
	OWN,
	pod,
	SERVICE_NAME,
	slice,
	stateful,
	unready,
	web,
	zoned,
} from "./explained-objects.ts";

export const TRAFFIC_WORLDS: Readonly<Record<string, ExplainedWorld>> = {
	"slices-missing": { fires: { ...good, slices: [] }, near: good },
	"slices-out-of-date": {
		fires: {
			...good,
			pods: [pod(), pod({ name: "web-2", ip: "10.244.0.2" })],
			slices: [
				slice({
					more: {
						metadata: meta("web-abc", {
							labels: { [SERVICE_NAME]: "web", [MANAGED_BY]: CONTROLLER },
							annotations: { "endpoints.kubernetes.io/last-change-trigger-time": "2026-01-01T00:00:00Z" },
							ownerReferences: [{ apiVersion: "v1", kind: "Service", name: "web", uid: "uid-web", controller: true }],
						}),
					},
				}),
			],
		},
		near: {
			...good,
			pods: [pod(), pod({ name: "web-2", ip: "10.244.0.2", ready: false })],
			slices: [slice({ endpoint: { targetRef: { kind: "Pod", name: "web-1", namespace: "default" } } })],
		},
	},
	"controller-not-running": {
		fires: { ...good, slices: [], leases: [lease("2026-01-01T00:00:00.000000Z")], takenMs: NOON_MS },
		near: { ...good, slices: [], leases: [lease("2026-01-01T11:59:50.000000Z")], takenMs: NOON_MS },
	},
	"slices-of-former-service": {
		fires: { ...good, slices: [slice({ uid: "uid-of-the-one-before" })] },
		near: good,
	},
	"slice-with-wrong-service-name": {
		fires: { services: [manual()], slices: [slice({ name: "web-1", labels: { ...OWN, [SERVICE_NAME]: "wbe" } })] },
		near: {
			services: [manual()],
			slices: [slice({ name: "web-api-1", labels: { ...OWN, [SERVICE_NAME]: "web-api" } })],
		},
	},
	"slice-claims-a-controller": {
		fires: { services: [manual()], slices: [slice({ labels: { ...OWN, [MANAGED_BY]: MIRRORING } })] },
		near: { services: [manual()], slices: [MINE] },
	},
	"mirroring-over-capacity": {
		fires: { services: [manual()], endpoints: [endpoints("web", [{ addresses: addresses(1_001) }])] },
		near: { services: [manual()], endpoints: [endpoints("web", [{ addresses: addresses(1_000) }])] },
	},
	"mirrored-slices-missing": {
		fires: { services: [manual()], endpoints: [endpoints("web", [{ addresses: [{ ip: "192.0.2.1" }] }])] },
		near: { services: [manual()], endpoints: [endpoints("web", [])] },
	},
	"no-local-endpoint": { fires: local("n1"), near: local("n2"), from: { kind: "node", name: "n2" } },
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
		from: { kind: "node", name: "n1" },
	},
	"hints-concentrate": {
		fires: zoned("a", "b", "a", "a"),
		near: zoned("a", "b", "b", "b"),
	},
	"local-on-some-nodes": {
		fires: { ...local("n1"), nodes: [node("n1"), node("n2")] },
		near: { ...local("n1"), nodes: [node("n1")] },
	},
	"zone-unknown": {
		fires: { ...good, nodes: [node("n1", "b")] },
		near: { ...good, nodes: [node("n1", "a")] },
		from: { kind: "zone", name: "a" },
	},
	"client-pod-unknown": {
		fires: good,
		near: { ...good, pods: [pod(), pod({ name: "client", labels: {} })] },
		from: { kind: "pod", namespace: "default", name: "client" },
	},
	"served-by-other-proxy": {
		fires: { ...good, services: [web({}, { labels: { "service.kubernetes.io/service-proxy-name": "mesh" } })] },
		near: good,
	},
	"load-balancer-pending": {
		fires: { ...good, services: [web({ type: "LoadBalancer" })] },
		near: {
			...good,
			services: [{ ...web({ type: "LoadBalancer" }), status: { loadBalancer: { ingress: [{ ip: "203.0.113.1" }] } } }],
		},
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
