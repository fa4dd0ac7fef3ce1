/** Small builders of objects as a server has filled them in: a test states only what it is about. */
import type { Node, Pod, Service } from "../api/types/core.ts";
import type { ObjectMeta, StringMap } from "../api/types/meta.ts";

/** Time of creation of everything that does not say otherwise. */
export const BORN = "2026-01-01T00:00:00Z";

export function meta(name: string, more: Partial<ObjectMeta> = {}): ObjectMeta {
	return { name, namespace: "default", uid: `uid-${name}`, resourceVersion: "1", creationTimestamp: BORN, ...more };
}

export interface PodTraits {
	readonly labels?: StringMap;
	/** None: the pod has no address yet. */
	readonly ip?: string;
	readonly ips?: readonly string[];
	readonly node?: string;
	/** Default true. */
	readonly isReady?: boolean;
	readonly isTerminating?: boolean;
	readonly metadata?: Partial<ObjectMeta>;
	readonly spec?: Partial<Pod["spec"]>;
	readonly status?: Partial<NonNullable<Pod["status"]>>;
}

/**
 * A Pod of the application `web` on node n1, ready, with a container that listens on 8080 as `http`.
 *
 * @example
 *     assert.equal(pod("web-a", { ip: "10.1.0.10" }).status?.podIP, "10.1.0.10");
 */
export function pod(name: string, traits: PodTraits = {}): Pod {
	const ips = traits.ips ?? (traits.ip === undefined ? [] : [traits.ip]);
	const isReady = traits.isReady ?? true;
	return {
		apiVersion: "v1",
		kind: "Pod",
		metadata: meta(name, {
			labels: traits.labels ?? { app: "web" },
			...(traits.isTerminating === true ? { deletionTimestamp: BORN, deletionGracePeriodSeconds: 30 } : {}),
			...traits.metadata,
		}),
		spec: {
			nodeName: traits.node ?? "n1",
			containers: [{ name: "c", ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }] }],
			...traits.spec,
		},
		status: {
			phase: "Running",
			...(ips[0] === undefined ? {} : { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) }),
			conditions: [{ type: "Ready", status: isReady ? "True" : "False", lastTransitionTime: BORN }],
			...traits.status,
		},
	};
}

/**
 * A Service of the application `web`: IPv4, port 80 named http to 8080.
 *
 * @example
 *     assert.equal(service("web", { clusterIP: "None" }).spec.clusterIP, "None");
 */
export function service(
	name: string,
	spec: Partial<Service["spec"]> = {},
	metadata: Partial<ObjectMeta> = {},
): Service {
	return {
		apiVersion: "v1",
		kind: "Service",
		metadata: meta(name, metadata),
		spec: {
			type: "ClusterIP",
			clusterIP: "10.96.0.10",
			clusterIPs: ["10.96.0.10"],
			ipFamilies: ["IPv4"],
			ipFamilyPolicy: "SingleStack",
			selector: { app: "web" },
			ports: [{ name: "http", protocol: "TCP", port: 80, targetPort: 8080 }],
			...spec,
		},
	};
}

/**
 * A Node that is ready.
 *
 * @example
 *     assert.equal(node("n1", "z1").metadata.labels?.["topology.kubernetes.io/zone"], "z1");
 */
export function node(name: string, zone?: string): Node {
	const labels = zone === undefined ? {} : { "topology.kubernetes.io/zone": zone };
	const { namespace: _, ...metadata } = meta(name, { labels });
	return { apiVersion: "v1", kind: "Node", metadata, status: { conditions: [{ type: "Ready", status: "True" }] } };
}
