/** What an explanation looks at: objects of a cluster at one moment. */
import { keyOf, type Resource } from "../api/resource.ts";
import {
	DEPLOYMENTS,
	ENDPOINT_SLICES,
	ENDPOINTS,
	EVENTS,
	NODES,
	PODS,
	REPLICA_SETS,
	SERVICES,
	STATEFUL_SETS,
} from "../api/resource-names.ts";
import type { Lease } from "../api/types/coordination.ts";
import type { Endpoints, Event, Node, Pod, Service } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import type { KubeObject, StringMap } from "../api/types/meta.ts";
import { SERVICE_NAME_LABEL } from "../api/well-known.ts";
import { groupBy } from "../kernel/order.ts";
import { matchesSelector } from "../plan/service-selector.ts";

export const WORKLOAD_KINDS: readonly string[] = ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"];

/** Something that makes Pods of a template: one of {@link WORKLOAD_KINDS}. */
export interface Workload extends KubeObject {
	readonly spec?: {
		readonly serviceName?: string;
		readonly replicas?: number;
		readonly paused?: boolean;
		readonly template?: { readonly metadata?: { readonly labels?: Readonly<Record<string, string>> } };
	};
	readonly status?: {
		readonly conditions?: readonly {
			readonly type?: string;
			readonly status?: string;
			readonly reason?: string;
			readonly message?: string;
		}[];
	};
}

export interface ClusterSnapshot {
	readonly services: readonly Service[];
	readonly pods: readonly Pod[];
	readonly endpoints: readonly Endpoints[];
	readonly slices: readonly EndpointSlice[];
	readonly nodes: readonly Node[];
	readonly workloads: readonly Workload[];
	readonly events: readonly Event[];
	/** The Lease that the controllers elect their leader by, if there is one. */
	readonly leases: readonly Lease[];
	/** When it was taken, wall milliseconds; undefined: nobody knows, and nothing is said of how old something is. */
	readonly takenMs?: number;
	/** Kinds that were not looked at: nothing is said of what depends on them. */
	readonly missing: readonly string[];
}

export const EMPTY_SNAPSHOT: ClusterSnapshot = {
	services: [],
	pods: [],
	endpoints: [],
	slices: [],
	nodes: [],
	workloads: [],
	events: [],
	leases: [],
	missing: [],
};

const WORKLOADS: readonly Resource[] = [DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS];

/** How a kind is missing of which one namespace alone was looked at. */
export function missingBut(kind: string, namespace: string): string {
	return `${kind}${BUT}${namespace}`;
}

const BUT = " of namespaces but ";

/** What a cluster is asked for to make a snapshot. */
export const LOOKED_AT: readonly Resource[] = [SERVICES, PODS, ENDPOINTS, ENDPOINT_SLICES, NODES, EVENTS, ...WORKLOADS];

/** @param listed All objects of one of {@link LOOKED_AT}; none of a kind that is missing. */
export function snapshotOf(
	listed: (resource: Resource) => readonly KubeObject[],
	missing: readonly string[] = [],
): ClusterSnapshot {
	return {
		services: listed(SERVICES) as readonly Service[],
		pods: listed(PODS) as readonly Pod[],
		endpoints: listed(ENDPOINTS) as readonly Endpoints[],
		slices: listed(ENDPOINT_SLICES) as readonly EndpointSlice[],
		nodes: listed(NODES) as readonly Node[],
		workloads: WORKLOADS.flatMap(listed) as readonly Workload[],
		events: listed(EVENTS) as readonly Event[],
		leases: [],
		missing,
	};
}

/** Labels that controllers give each Pod, or each generation of them. */
const OWN_LABELS = new Set([
	"pod-template-hash",
	"controller-revision-hash",
	"statefulset.kubernetes.io/pod-name",
	"apps.kubernetes.io/pod-index",
	"batch.kubernetes.io/job-completion-index",
]);

/** What happens to Pods that are well, too. */
const USUAL_EVENTS = new Set(["Scheduled", "Pulled", "Created", "Started"]);

/** No namespace has this name. */
const NOWHERE = "/";

export function isOwnLabel(key: string): boolean {
	return OWN_LABELS.has(key);
}

interface Namespaced {
	readonly slices: ReadonlyMap<string, readonly EndpointSlice[]>;
	readonly endpoints: ReadonlyMap<string, readonly Endpoints[]>;
	readonly workloads: ReadonlyMap<string, readonly Workload[]>;
}

function namespaceOf({ metadata }: KubeObject): string {
	return metadata.namespace ?? "";
}

function labelIndex(pods: readonly Pod[]): Map<string, Pod[]> {
	const index = new Map<string, Pod[]>();
	for (const pod of pods) {
		for (const [key, value] of Object.entries(pod.metadata.labels ?? {})) push(index, `${key}=${value}`, pod);
	}
	return index;
}

/** A snapshot with what is asked again and again found once. */
export class Scene {
	readonly snapshot: ClusterSnapshot;
	readonly #podsByNamespace = new Map<string, Pod[]>();
	/** By `namespace/key=value`. */
	readonly #podsByLabel = new Map<string, Pod[]>();
	readonly #slicesByService = new Map<string, EndpointSlice[]>();
	readonly #services = new Map<string, Service>();
	readonly #endpoints = new Map<string, Endpoints>();
	readonly #nodes = new Map<string, Node>();
	/** By `key=value`; made when the first one asks. */
	#podsAnywhere: Map<string, Pod[]> | undefined;
	#podsByName: Map<string, Pod> | undefined;
	readonly #unlikePods = new Map<string, readonly Pod[]>();
	#byNamespace: Namespaced | undefined;
	/** The newest about each object, by `Kind/namespace/name`. */
	readonly #events = new Map<string, Event>();
	/** Kinds that were not looked at, with the only namespace in which they were, if any. */
	readonly #missing = new Map<string, string>();

	constructor(snapshot: ClusterSnapshot) {
		this.snapshot = snapshot;
		for (const text of snapshot.missing) {
			const [kind = "", namespace] = text.split(BUT);
			this.#missing.set(kind, namespace ?? NOWHERE);
		}
		for (const pod of snapshot.pods) {
			const { namespace = "", labels = {} } = pod.metadata;
			push(this.#podsByNamespace, namespace, pod);
			for (const [key, value] of Object.entries(labels)) push(this.#podsByLabel, `${namespace}/${key}=${value}`, pod);
		}
		for (const slice of snapshot.slices) {
			const service = slice.metadata.labels?.[SERVICE_NAME_LABEL];
			if (service !== undefined) push(this.#slicesByService, `${slice.metadata.namespace}/${service}`, slice);
		}
		for (const service of snapshot.services) this.#services.set(keyOf(service), service);
		for (const endpoints of snapshot.endpoints) this.#endpoints.set(keyOf(endpoints), endpoints);
		for (const event of snapshot.events) this.#heard(event);
		for (const node of snapshot.nodes) this.#nodes.set(node.metadata.name, node);
	}

	#heard(event: Event): void {
		const { kind = "", namespace = "", name = "" } = event.involvedObject;
		// Of a Pod what every one goes through explains nothing; of a workload only what keeps Pods from being made does.
		if (kind === "Pod" ? USUAL_EVENTS.has(event.reason ?? "") : event.reason !== "FailedCreate") return;
		const key = `${kind}/${namespace}/${name}`;
		const known = this.#events.get(key);
		if (known === undefined || heardAt(known) <= heardAt(event)) this.#events.set(key, event);
	}

	/** Whether a kind was looked at, in this namespace. */
	has(kind: string, namespace = ""): boolean {
		const missing = this.#missing.get(kind);
		return missing === undefined || missing === namespace;
	}

	service(key: string): Service | undefined {
		return this.#services.get(key);
	}

	podsIn(namespace: string): readonly Pod[] {
		return this.#podsByNamespace.get(namespace) ?? [];
	}

	/** Pods of the namespace that have all these labels. */
	podsWith(namespace: string, selector: StringMap): readonly Pod[] {
		const lists = Object.entries(selector).map(
			([key, value]) => this.#podsByLabel.get(`${namespace}/${key}=${value}`) ?? [],
		);
		const [fewest = []] = lists.sort((a, b) => a.length - b.length);
		return fewest.filter(({ metadata }) => matchesSelector(selector, metadata.labels));
	}

	/** One Pod for each set of labels, but for those that differ from Pod to Pod. */
	unlikePods(namespace: string): readonly Pod[] {
		const known = this.#unlikePods.get(namespace);
		if (known !== undefined) return known;
		const bySet = new Map<string, Pod>();
		for (const pod of this.podsIn(namespace)) {
			const labels = Object.entries(pod.metadata.labels ?? {}).filter(([key]) => !isOwnLabel(key));
			const set = JSON.stringify(labels);
			if (!bySet.has(set)) bySet.set(set, pod);
		}
		const found = [...bySet.values()];
		this.#unlikePods.set(namespace, found);
		return found;
	}

	/** Pods of any namespace that have all these labels. */
	podsAnywhere(selector: StringMap): readonly Pod[] {
		const index = this.#podsAnywhere ?? labelIndex(this.snapshot.pods);
		this.#podsAnywhere = index;
		const lists = Object.entries(selector).map(([key, value]) => index.get(`${key}=${value}`) ?? []);
		const [fewest = []] = lists.sort((a, b) => a.length - b.length);
		return fewest.filter(({ metadata }) => matchesSelector(selector, metadata.labels));
	}

	/** Whether anything that was looked at is in the namespace. */
	isEmptyNamespace(namespace: string): boolean {
		const { services, endpoints, slices } = this.snapshot;
		const isIn = ({ metadata }: KubeObject): boolean => metadata.namespace === namespace;
		return this.podsIn(namespace).length === 0 && ![services, endpoints, slices].some((list) => list.some(isIn));
	}

	/** What is looked through when something is missing; made when the first one asks. */
	namespaced(): Namespaced {
		const { slices, endpoints, workloads } = this.snapshot;
		this.#byNamespace ??= {
			slices: groupBy(slices, namespaceOf),
			endpoints: groupBy(endpoints, namespaceOf),
			workloads: groupBy(workloads, namespaceOf),
		};
		return this.#byNamespace;
	}

	/** @param key `namespace/name` of a Service. */
	slicesOf(key: string): readonly EndpointSlice[] {
		return this.#slicesByService.get(key) ?? [];
	}

	endpointsOf(key: string): Endpoints | undefined {
		return this.#endpoints.get(key);
	}

	lastEvent({ kind, metadata }: KubeObject): Event | undefined {
		return this.#events.get(`${kind}/${metadata.namespace ?? ""}/${metadata.name}`);
	}

	pod(namespace: string, name: string): Pod | undefined {
		this.#podsByName ??= new Map(this.snapshot.pods.map((pod) => [keyOf(pod), pod]));
		return this.#podsByName.get(`${namespace}/${name}`);
	}

	node(name: string): Node | undefined {
		return this.#nodes.get(name);
	}

	/** Whether Nodes were looked at, and this is none. */
	lacksNode(name: string): boolean {
		return this.has("Node") && this.snapshot.nodes.length > 0 && !this.#nodes.has(name);
	}
}

function push<T>(lists: Map<string, T[]>, key: string, value: T): void {
	const list = lists.get(key);
	if (list === undefined) lists.set(key, [value]);
	else list.push(value);
}

/** RFC 3339 in UTC: as text in order of time. */
function heardAt({ series, lastTimestamp, eventTime, metadata }: Event): string {
	return series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? "";
}
