/** One valid object of each kind that clients write, with most of its members. */
import type { Json } from "./mutate.ts";

export interface Manifest {
	/** Of its collection. */
	readonly path: string;
	readonly object: { readonly [key: string]: Json };
}

const CORE = "/api/v1/namespaces/default";
const APPS = "/apis/apps/v1/namespaces/default";

const TEMPLATE: Json = {
	metadata: { labels: { app: "web" } },
	spec: {
		containers: [
			{
				name: "app",
				image: "example/web:1",
				ports: [{ name: "http", containerPort: 8080 }],
				env: [{ name: "A", value: "1" }],
				readinessProbe: { httpGet: { path: "/", port: "http" }, periodSeconds: 5 },
				resources: { requests: { cpu: "100m" } },
			},
		],
	},
};

function manifest(path: string, apiVersion: string, kind: string, rest: Record<string, Json>): Manifest {
	const name = `a-${kind.toLowerCase()}`;
	const metadata = { name, labels: { app: "web" }, annotations: { note: "hello" } };
	return { path, object: { apiVersion, kind, metadata, ...rest } };
}

export const MANIFESTS: readonly Manifest[] = [
	manifest(`${CORE}/services`, "v1", "Service", {
		spec: {
			type: "NodePort",
			selector: { app: "web" },
			ports: [
				{ name: "http", port: 80, targetPort: "http", nodePort: 30_080 },
				{ name: "dns", port: 53, protocol: "UDP" },
			],
			sessionAffinity: "ClientIP",
			sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
			externalTrafficPolicy: "Local",
			trafficDistribution: "PreferClose",
		},
	}),
	manifest(`${CORE}/services`, "v1", "Service", {
		spec: {
			type: "LoadBalancer",
			ports: [{ port: 443 }],
			loadBalancerSourceRanges: ["10.0.0.0/8"],
			externalIPs: ["198.51.100.7"],
			ipFamilyPolicy: "PreferDualStack",
		},
	}),
	manifest(`${CORE}/services`, "v1", "Service", { spec: { type: "ExternalName", externalName: "example.org" } }),
	manifest(`${CORE}/services`, "v1", "Service", { spec: { clusterIP: "None", selector: { app: "db" } } }),
	manifest(`${CORE}/endpoints`, "v1", "Endpoints", {
		subsets: [
			{
				addresses: [{ ip: "10.1.1.1", nodeName: "n1", targetRef: { kind: "Pod", name: "p" } }],
				notReadyAddresses: [{ ip: "10.1.1.2" }],
				ports: [{ name: "http", port: 80 }],
			},
		],
	}),
	manifest("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", "discovery.k8s.io/v1", "EndpointSlice", {
		addressType: "IPv4",
		endpoints: [
			{
				addresses: ["10.1.1.1"],
				conditions: { ready: true, serving: true, terminating: false },
				nodeName: "n1",
				zone: "a",
				hints: { forZones: [{ name: "a" }] },
			},
		],
		ports: [{ name: "http", port: 80, protocol: "TCP", appProtocol: "http" }],
	}),
	manifest(`${CORE}/pods`, "v1", "Pod", { spec: (TEMPLATE as { spec: Json }).spec }),
	manifest(`${APPS}/deployments`, "apps/v1", "Deployment", {
		spec: {
			replicas: 2,
			selector: { matchLabels: { app: "web" } },
			strategy: { rollingUpdate: { maxSurge: "25%", maxUnavailable: 0 } },
			template: TEMPLATE,
		},
	}),
	manifest(`${APPS}/replicasets`, "apps/v1", "ReplicaSet", {
		spec: {
			replicas: 1,
			selector: { matchExpressions: [{ key: "app", operator: "In", values: ["web"] }] },
			template: TEMPLATE,
		},
	}),
	manifest(`${APPS}/statefulsets`, "apps/v1", "StatefulSet", {
		spec: { serviceName: "db", replicas: 2, selector: { matchLabels: { app: "web" } }, template: TEMPLATE },
	}),
	manifest(`${CORE}/configmaps`, "v1", "ConfigMap", { data: { a: "1" }, binaryData: { b: "AAEC" } }),
	manifest(`${CORE}/secrets`, "v1", "Secret", { type: "Opaque", data: { word: "b3Blbg==" }, stringData: { b: "2" } }),
	manifest(`${CORE}/serviceaccounts`, "v1", "ServiceAccount", { automountServiceAccountToken: false }),
	manifest("/api/v1/nodes", "v1", "Node", {
		spec: { podCIDR: "10.9.0.0/24", taints: [{ key: "a", value: "b", effect: "NoSchedule" }] },
	}),
	manifest("/api/v1/namespaces", "v1", "Namespace", {}),
	manifest("/apis/coordination.k8s.io/v1/namespaces/default/leases", "coordination.k8s.io/v1", "Lease", {
		spec: { holderIdentity: "me", leaseDurationSeconds: 15, renewTime: "2026-01-01T00:00:00.000000Z" },
	}),
	manifest(`${CORE}/events`, "v1", "Event", {
		involvedObject: { kind: "Pod", namespace: "default", name: "p" },
		reason: "Started",
		message: "it did",
		type: "Normal",
		count: 1,
	}),
];
