/** Worlds of codes that are about Pods, ports, families and hand-made endpoints. */
import { service } from "./builders.ts";
import type { ExplainedWorld } from "./explained-objects.ts";
import {
	CONTAINER,
	containers,
	endpoints,
	event,
	good,
	MINE,
	manual,
	NAMED,
	OWN,
	pod,
	SERVICE_NAME,
	slice,
	web,
} from "./explained-objects.ts";

export const ENDPOINT_WORLDS: Readonly<Record<string, ExplainedWorld>> = {
	"service-does-not-exist": { fires: { services: [service("api")] }, near: good },
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
			pods: [
				pod({
					ip: "",
					phase: "Pending",
					ready: false,
					status: {
						conditions: [
							{
								type: "PodScheduled",
								status: "False",
								reason: "Unschedulable",
								message: "0/2 nodes are available: 2 Insufficient cpu.",
							},
						],
					},
				}),
			],
			slices: [slice({ addresses: [] })],
		},
		near: { services: [web()], pods: [pod({ phase: "Pending", ready: false })] },
	},
	"matched-pods-not-ready": {
		fires: {
			...good,
			pods: [
				pod({
					ready: false,
					spec: { containers: [{ ...CONTAINER, readinessProbe: { httpGet: { path: "/healthz", port: 8080 } } }] },
					status: {
						containerStatuses: [{ name: "c", ready: false, started: true, restartCount: 0, image: "x", imageID: "" }],
					},
				}),
			],
			slices: [slice({ endpoint: { conditions: { ready: false } } })],
			events: [event("web-1", "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503")],
		},
		near: { ...good, pods: [pod(), pod({ name: "web-2", ready: false })] },
	},
	"matched-pods-all-finished": {
		fires: {
			services: [web()],
			pods: [
				pod({
					phase: "Failed",
					ready: false,
					status: { reason: "Evicted", message: "The node was low on resource: memory." },
				}),
			],
		},
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
	"publishes-terminating": {
		fires: {
			...good,
			services: [web({ publishNotReadyAddresses: true })],
			pods: [pod(), pod({ name: "web-2", ip: "10.244.0.2", more: { deletionTimestamp: "2026-01-01T00:00:00Z" } })],
			slices: [slice({ addresses: ["10.244.0.1", "10.244.0.2"] })],
		},
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
};
