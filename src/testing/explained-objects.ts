/** Objects of small worlds to explain: a Service `web` in namespace default, and what belongs to it. */
import type { Lease } from "../api/types/coordination.ts";
import type { Container, ContainerPort, Endpoints, Event, Node, Pod, Service, ServicePort } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import type { ObjectMeta, StringMap } from "../api/types/meta.ts";
import type { ClientOrigin } from "../explain/client-place.ts";
import type { ClusterSnapshot, Workload } from "../explain/snapshot.ts";
import { meta, node, service } from "./builders.ts";

export const SERVICE_NAME = "kubernetes.io/service-name";
export const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";
export const CONTROLLER = "endpointslice-controller.k8s.io";
export const MIRRORING = "endpointslicemirroring-controller.k8s.io";

type Spec = Partial<Service["spec"]>;

export function web(spec: Spec = {}, more: Partial<ObjectMeta> = {}): Service {
	const made = service("web", { selector: { app: "web" }, ipFamilies: ["IPv4"], ...spec });
	return { ...made, metadata: { ...made.metadata, ...more } };
}

/** Without a selector. */
export function manual(spec: Spec = {}, more: Partial<ObjectMeta> = {}): Service {
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
	readonly status?: Partial<NonNullable<Pod["status"]>>;
}

export function pod({
	name = "web-1",
	labels = { app: "web" },
	namespace = "default",
	ready = true,
	ip = "10.244.0.1",
	phase = "Running",
	spec,
	more,
	status,
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
			...status,
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
	/** Of the Service that owns it. */
	readonly uid?: string;
}

export function slice({
	name = "web-abc",
	labels = { [SERVICE_NAME]: "web", [MANAGED_BY]: CONTROLLER },
	addresses = ["10.244.0.1"],
	more,
	endpoint,
	port = "http",
	uid = "uid-web",
}: SliceTraits = {}): EndpointSlice {
	const owner = { apiVersion: "v1", kind: "Service", name: "web", uid, controller: true };
	return {
		apiVersion: "discovery.k8s.io/v1",
		kind: "EndpointSlice",
		metadata: meta(name, { labels, ...(labels[MANAGED_BY] === CONTROLLER ? { ownerReferences: [owner] } : {}) }),
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

export function endpoints(name: string, subsets: Endpoints["subsets"], more: Partial<ObjectMeta> = {}): Endpoints {
	return {
		apiVersion: "v1",
		kind: "Endpoints",
		metadata: meta(name, more),
		...(subsets === undefined ? {} : { subsets }),
	};
}

export function workload(
	kind: string,
	labels: Readonly<Record<string, string>>,
	template: Readonly<Record<string, string>>,
	serviceName?: string,
): Workload {
	const spec = { template: { metadata: { labels: template } }, ...(serviceName === undefined ? {} : { serviceName }) };
	return { apiVersion: "apps/v1", kind, metadata: meta("web", { labels }), spec };
}

export const CONTAINER: Container = { name: "c", image: "x", ports: [{ name: "http", containerPort: 8080 }] };

export function event(pod: string, reason: string, message: string): Event {
	const about = { kind: "Pod", namespace: "default", name: pod };
	return { apiVersion: "v1", kind: "Event", metadata: meta(`${pod}.1`), involvedObject: about, reason, message };
}

export const OWN: StringMap = { [SERVICE_NAME]: "web", [MANAGED_BY]: "me.example" };
export const MINE: EndpointSlice = slice({ labels: OWN });
export const NAMED: ServicePort = { targetPort: "http", port: 80, name: "http" };
/** A container for each port. */
export const containers = (...ports: readonly ContainerPort[]): Partial<Pod["spec"]> => ({
	containers: ports.map((port, index) => ({ name: `c${index}`, image: "x", ports: [port] })),
});
export const stateful = (serviceName: string): Partial<ClusterSnapshot> => ({
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
export const external = (externalName: string): readonly Service[] => [manual({ type: "ExternalName", externalName })];
export const local = (nodeName: string | undefined): Partial<ClusterSnapshot> => ({
	services: [web({ internalTrafficPolicy: "Local" })],
	pods: [pod()],
	slices: [slice({ endpoint: { nodeName } })],
});
export const unready = (status: string): Node =>
	({ ...node("n1"), status: { conditions: [{ type: "Ready", status }] } }) as Node;

export const NOON_MS: number = Date.parse("2026-01-01T12:00:00Z");

export function lease(renewTime: string): Lease {
	const spec = { holderIdentity: "cp-1", leaseDurationSeconds: 15, renewTime };
	const metadata = meta("kube-controller-manager", { namespace: "kube-system" });
	return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
}

export function addresses(count: number): readonly { readonly ip: string }[] {
	return Array.from({ length: count }, (_, index) => ({ ip: `10.0.${index >> 8}.${index & 255}` }));
}

/** A node in each zone, and four endpoints: one on n1, hinted at zone a, the others on n2, hinted at zone b. */
export function zoned(...zones: readonly string[]): Partial<ClusterSnapshot> {
	const places = [1, 2, 3, 4].map((at) => ({
		name: `web-${at}`,
		ip: `10.244.0.${at}`,
		node: at === 1 ? "n1" : "n2",
		zone: at === 1 ? "a" : "b",
	}));
	const endpoints = places.map((place) => ({
		addresses: [place.ip],
		conditions: { ready: true },
		nodeName: place.node,
		hints: { forZones: [{ name: place.zone }] },
	}));
	return {
		services: [web({ trafficDistribution: "PreferSameZone" })],
		pods: places.map((place) => pod({ name: place.name, ip: place.ip, spec: { nodeName: place.node } })),
		nodes: zones.map((name, index) => node(`n${index + 1}`, name)),
		slices: [slice({ more: { endpoints } })],
	};
}

export const good: Partial<ClusterSnapshot> = {
	services: [web()],
	pods: [pod()],
	slices: [slice()],
	nodes: [node("n1"), node("n2")],
};

/** One in which a code is found, and one as near as can be in which it must not. */
export interface ExplainedWorld {
	readonly fires: Partial<ClusterSnapshot>;
	readonly near: Partial<ClusterSnapshot>;
	/** Where the client of both is. */
	readonly from?: ClientOrigin;
}
