/** What an explanation looks at: objects of a cluster at one moment. */
import { keyOf } from "../api/resource.ts";
import type { Endpoints, Node, Pod, Service } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import type { KubeObject } from "../api/types/meta.ts";
import { SERVICE_NAME_LABEL } from "../api/well-known.ts";

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

/** A snapshot with what is asked again and again found once. */
export class Scene {
	readonly snapshot: ClusterSnapshot;
	readonly #podsByNamespace = new Map<string, Pod[]>();
	readonly #slicesByService = new Map<string, EndpointSlice[]>();
	readonly #services = new Map<string, Service>();
	readonly #endpoints = new Map<string, Endpoints>();
	readonly #nodes = new Map<string, Node>();

	constructor(snapshot: ClusterSnapshot) {
		this.snapshot = snapshot;
		for (const pod of snapshot.pods) push(this.#podsByNamespace, pod.metadata.namespace ?? "", pod);
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
