/** What the data plane has been told, and what it has to be told next. */
import { keyOf } from "../api/resource.ts";
import { ENDPOINT_SLICES, NAMESPACES, NODES, PODS, SERVICES } from "../api/resource-names.ts";
import type { Namespace, Node, Pod, Service } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import { ZONE_LABEL } from "../api/well-known.ts";
import type { EchoPod } from "../edge/echo-pod.ts";
import { deepEqual } from "../kernel/json.ts";
import type { Logger } from "../kernel/logger.ts";
import type { PodInside } from "../kubelet/fleet.ts";
import type { Informer } from "../machinery/informer.ts";
import type { Informers } from "../machinery/informers.ts";
import { isClient } from "../plan/client-pod.ts";
import { hasLiveAddress, isTerminating } from "../plan/pod-facts.ts";
import { isServedAlike, servedService } from "../plan/service-map/served-service.ts";
import { serviceNamedBy } from "../plan/service-map/slice-endpoints.ts";
import { logIgnoredParts } from "../proxy/ignored-slices.ts";
import type { ProxiedNode } from "../proxy/node-proxies.ts";
import type { Changes, DataPlaneUpdate } from "./data-plane-messages.ts";

const BY_SERVICE = "byServiceOfDataPlane";

export interface ViewOptions {
	/** What the status of a Pod does not say. */
	inside(podUID: string): PodInside | undefined;
	/** False: a Pod that begins to terminate is gone. */
	readonly drains: boolean;
	/** Told what of a slice no rules are made of. */
	readonly log: Logger;
}

export class DataPlaneView {
	readonly #pods: Informer<Pod>;
	readonly #slices: Informer<EndpointSlice>;
	readonly #services;
	readonly #nodes: Informer<Node>;
	readonly #toldPods = new Map<string, EchoPod>();
	readonly #toldServices = new Map<string, Served>();
	readonly #toldNodes = new Map<string, ProxiedNode>();
	readonly #changedPods = new Set<string>();
	readonly #changedServices = new Set<string>();
	readonly #changedNodes = new Set<string>();
	readonly #namespaces: Informer<Namespace>;
	readonly #toldNamespaces = new Map<string, string>();
	readonly #changedNamespaces = new Set<string>();

	readonly #options: ViewOptions;

	constructor(informers: Informers, options: ViewOptions) {
		this.#options = options;
		this.#pods = informers.of(PODS);
		this.#slices = informers.of(ENDPOINT_SLICES);
		this.#services = informers.of(SERVICES);
		this.#nodes = informers.of(NODES);
		this.#namespaces = informers.of(NAMESPACES);
		this.#slices.addIndex(BY_SERVICE, (slice) => {
			const key = serviceNamedBy(slice);
			return key === undefined ? [] : [key];
		});
	}

	/** Calls `applied` after every batch of changes. Returns how to stop. */
	follow(applied: () => void): () => void {
		const pod = (object: Pod): unknown => this.#changedPods.add(keyOf(object));
		const service = (object: Parameters<typeof keyOf>[0]): unknown => this.#changedServices.add(keyOf(object));
		const slice = (object: EndpointSlice): void => {
			const key = serviceNamedBy(object);
			if (key !== undefined) this.#changedServices.add(key);
		};
		const seen = (object: EndpointSlice): void => {
			slice(object);
			logIgnoredParts(object, this.#options.log);
		};
		// A slice whose label has changed was another Service's before.
		const moved = (old: EndpointSlice, now: EndpointSlice): void => {
			slice(old);
			seen(now);
		};
		const node = ({ metadata }: Node): unknown => this.#changedNodes.add(metadata.name);
		const namespace = ({ metadata }: Namespace): unknown => this.#changedNamespaces.add(metadata.name);
		const removals = [
			this.#namespaces.addHandlers({ added: namespace, deleted: namespace, applied }),
			this.#nodes.addHandlers({ added: node, updated: (_, now) => node(now), deleted: node, applied }),
			this.#pods.addHandlers({ added: pod, updated: (_, now) => pod(now), deleted: pod, applied }),
			this.#services.addHandlers({ added: service, updated: (_, now) => service(now), deleted: service, applied }),
			this.#slices.addHandlers({ added: seen, updated: moved, deleted: slice, applied }),
		];
		return () => {
			for (const remove of removals) remove();
		};
	}

	/** Undefined before all lists are there: half of them would cut off what is fine. */
	get asOf(): string | undefined {
		const isThere = [this.#pods, this.#services, this.#nodes, this.#namespaces].every(({ hasSynced }) => hasSynced);
		return isThere ? this.#slices.asOf : undefined;
	}

	/** What has changed since the last call. */
	takeChanges(asOf: string): DataPlaneUpdate {
		const { put, remove } = this.#serviceChanges();
		const services = { put: put.map(({ service, slices }) => servedService(service, slices, asOf)), remove };
		return {
			kind: "update",
			asOf,
			pods: this.#podChanges(),
			services,
			nodes: this.#nodeChanges(),
			namespaces: this.#namespaceChanges(),
		};
	}

	/** Everything, for a data plane that knows nothing. */
	takeAll(asOf: string): DataPlaneUpdate {
		this.takeChanges(asOf);
		const served = [...this.#toldServices.values()].map(({ service, slices }) => servedService(service, slices, asOf));
		return {
			kind: "update",
			asOf,
			pods: { put: [...this.#toldPods.values()], remove: [] },
			services: { put: served, remove: [] },
			nodes: { put: [...this.#toldNodes.values()], remove: [] },
			namespaces: { put: [...this.#toldNamespaces.values()], remove: [] },
		};
	}

	hasTold(podKey: string): boolean {
		return this.#toldPods.has(podKey);
	}

	#podChanges(): Changes<EchoPod> {
		const pods = takeOut(this.#changedPods).map((key) => [key, this.#echoPodOf(this.#pods.get(key))] as const);
		return changesOf(this.#toldPods, pods, deepEqual);
	}

	#echoPodOf(pod: Pod | undefined): EchoPod | undefined {
		const echoPod = echoPodOf(pod);
		if (echoPod?.isTerminating === true && !this.#options.drains) return undefined;
		const inside = echoPod === undefined ? undefined : this.#options.inside(echoPod.uid);
		if (echoPod === undefined || inside === undefined) return echoPod;
		const { health, forwards } = inside;
		return { ...echoPod, health, ...(forwards === undefined ? {} : { forwards }) };
	}

	#serviceChanges(): Changes<Served> {
		const services = takeOut(this.#changedServices).map((key) => [key, this.#servedOf(key)] as const);
		return changesOf(this.#toldServices, services, isServedAlike);
	}

	#nodeChanges(): Changes<ProxiedNode> {
		const nodes = takeOut(this.#changedNodes).map((name) => [name, proxiedNodeOf(this.#nodes.get(name))] as const);
		return changesOf(this.#toldNodes, nodes, deepEqual);
	}

	#namespaceChanges(): Changes<string> {
		const names = takeOut(this.#changedNamespaces).map(
			(name) => [name, this.#namespaces.get(name) === undefined ? undefined : name] as const,
		);
		return changesOf(this.#toldNamespaces, names, (a, b) => a === b);
	}

	/** Undefined when there is nothing to carry. Headless Services have names and no rules. */
	#servedOf(key: string): Served | undefined {
		const service = this.#services.get(key);
		return service === undefined ? undefined : { service, slices: this.#slices.index(BY_SERVICE, key) };
	}
}

interface Served {
	readonly service: Service;
	readonly slices: readonly EndpointSlice[];
}

function proxiedNodeOf(node: Node | undefined): ProxiedNode | undefined {
	if (node === undefined) return undefined;
	const addresses = (node.status?.addresses ?? []).filter(({ type }) => type === "InternalIP");
	return {
		name: node.metadata.name,
		zone: node.metadata.labels?.[ZONE_LABEL] ?? "",
		addresses: addresses.map(({ address }) => address),
	};
}

/** A Pod that runs, as the data plane knows it; undefined when it has no address, or has ended. */
function echoPodOf(pod: Pod | undefined): EchoPod | undefined {
	if (pod === undefined || !hasLiveAddress(pod) || isClient(pod)) return undefined;
	const { name, namespace = "", uid, labels = {} } = pod.metadata;
	const { podIP = "", podIPs = [{ ip: podIP }], conditions = [] } = pod.status ?? {};
	return {
		key: keyOf(pod),
		uid,
		name,
		namespace,
		nodeName: pod.spec.nodeName ?? "",
		ips: podIPs.map(({ ip }) => ip),
		labels,
		ports: pod.spec.containers.flatMap(({ ports = [] }) =>
			ports.map(({ containerPort, protocol = "TCP" }) => ({ port: containerPort, protocol })),
		),
		isReady: conditions.some(({ type, status }) => type === "Ready" && status === "True"),
		isTerminating: isTerminating(pod),
	};
}

function takeOut(keys: Set<string>): readonly string[] {
	const taken = [...keys];
	keys.clear();
	return taken;
}

/** Brings `told` up to date, and says what that took. */
function changesOf<T>(
	told: Map<string, T>,
	current: readonly (readonly [string, T | undefined])[],
	isSame: (a: T, b: T) => boolean,
): Changes<T> {
	const put: T[] = [];
	const remove: string[] = [];
	for (const [key, value] of current) {
		const known = told.get(key);
		if (value === undefined) {
			if (told.delete(key)) remove.push(key);
		} else if (known === undefined || !isSame(known, value)) {
			told.set(key, value);
			put.push(value);
		}
	}
	return { put, remove };
}
