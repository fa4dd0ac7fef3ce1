/** What an explanation looks at: objects of a cluster at one moment. */
import { keyOf, type Resource } from "../api/resource.ts";
import {
	DEPLOYMENTS,
	ENDPOINT_SLICES,
	ENDPOINTS,
	NODES,
	PODS,
	REPLICA_SETS,
	SERVICES,
	STATEFUL_SETS,
} from "../api/resource-names.ts";
import type { Endpoints, Node, Pod, Service } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import type { KubeObject, StringMap } from "../api/types/meta.ts";
import { SERVICE_NAME_LABEL } from "../api/well-known.ts";
import { matchesSelector } from "../plan/service-selector.ts";

/** Something that makes Pods of a template: Deployment, ReplicaSet, StatefulSet, DaemonSet, Job. */
export interface Workload extends KubeObject {
	readonly spec?: {
		readonly serviceName?: string;
		readonly template?: { readonly metadata?: { readonly labels?: Readonly<Record<string, string>> } };
	};
}

export interface ClusterSnapshot {
	readonly services: readonly Service[];
	readonly pods: readonly Pod[];
	readonly endpoints: readonly Endpoints[];
	readonly slices: readonly EndpointSlice[];
	readonly nodes: readonly Node[];
	readonly workloads: readonly Workload[];
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
	missing: [],
};

const WORKLOADS: readonly Resource[] = [DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS];

/** What a cluster is asked for to make a snapshot. */
export const LOOKED_AT: readonly Resource[] = [SERVICES, PODS, ENDPOINTS, ENDPOINT_SLICES, NODES, ...WORKLOADS];

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
		missing,
	};
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

	constructor(snapshot: ClusterSnapshot) {
		this.snapshot = snapshot;
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
		for (const node of snapshot.nodes) this.#nodes.set(node.metadata.name, node);
	}

	has(kind: string): boolean {
		return !this.snapshot.missing.includes(kind);
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

	/** @param key `namespace/name` of a Service. */
	slicesOf(key: string): readonly EndpointSlice[] {
		return this.#slicesByService.get(key) ?? [];
	}

	endpointsOf(key: string): Endpoints | undefined {
		return this.#endpoints.get(key);
	}

	node(name: string): Node | undefined {
		return this.#nodes.get(name);
	}
}

function push<T>(lists: Map<string, T[]>, key: string, value: T): void {
	const list = lists.get(key);
	if (list === undefined) lists.set(key, [value]);
	else list.push(value);
}
