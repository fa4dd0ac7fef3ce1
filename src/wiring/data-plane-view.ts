/** What the data plane has been told, and what it has to be told next. */
import { keyOf } from "../api/resource.ts";
import { ENDPOINT_SLICES, PODS, SERVICES } from "../api/resource-names.ts";
import type { Pod } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import type { EchoPod } from "../edge/echo-pods.ts";
import { deepEqual } from "../kernel/json.ts";
import type { Informer } from "../machinery/informer.ts";
import type { Informers } from "../machinery/informers.ts";
import { hasLiveAddress } from "../plan/pod-facts.ts";
import { planServiceTable, type ServiceTable } from "../plan/service-map/service-table.ts";
import { type ProxyPlace, serviceKeyOfSlice } from "../plan/service-map/slice-endpoints.ts";
import type { Changes, DataPlaneUpdate } from "./data-plane-messages.ts";

const BY_PROXIED_SERVICE = "byProxiedService";

export class DataPlaneView {
	readonly #pods: Informer<Pod>;
	readonly #slices: Informer<EndpointSlice>;
	readonly #services;
	readonly #place: ProxyPlace;
	readonly #toldPods = new Map<string, EchoPod>();
	readonly #toldTables = new Map<string, ServiceTable>();
	readonly #changedPods = new Set<string>();
	readonly #changedServices = new Set<string>();

	constructor(informers: Informers, place: ProxyPlace) {
		this.#pods = informers.of(PODS);
		this.#slices = informers.of(ENDPOINT_SLICES);
		this.#services = informers.of(SERVICES);
		this.#place = place;
		this.#slices.addIndex(BY_PROXIED_SERVICE, (slice) => {
			const key = serviceKeyOfSlice(slice);
			return key === undefined ? [] : [key];
		});
	}

	/** Calls `applied` after every batch of changes. Returns how to stop. */
	follow(applied: () => void): () => void {
		const pod = (object: Pod): unknown => this.#changedPods.add(keyOf(object));
		const service = (object: Parameters<typeof keyOf>[0]): unknown => this.#changedServices.add(keyOf(object));
		const slice = (object: EndpointSlice): void => {
			const key = serviceKeyOfSlice(object);
			if (key !== undefined) this.#changedServices.add(key);
		};
		// A slice whose label has changed was another Service's before.
		const slices = { added: slice, updated: (old: EndpointSlice, now: EndpointSlice) => [old, now].forEach(slice) };
		const removals = [
			this.#pods.addHandlers({ added: pod, updated: (_, now) => pod(now), deleted: pod, applied }),
			this.#services.addHandlers({ added: service, updated: (_, now) => service(now), deleted: service, applied }),
			this.#slices.addHandlers({ ...slices, deleted: slice, applied }),
		];
		return () => {
			for (const remove of removals) remove();
		};
	}

	/** Undefined before all three lists are there: half of them would cut off what is fine. */
	get asOf(): string | undefined {
		return this.#pods.hasSynced && this.#services.hasSynced ? this.#slices.asOf : undefined;
	}

	/** What has changed since the last call. */
	takeChanges(asOf: string): DataPlaneUpdate {
		return { kind: "update", asOf, pods: this.#podChanges(), tables: this.#tableChanges(asOf) };
	}

	/** Everything, for a data plane that knows nothing. */
	takeAll(asOf: string): DataPlaneUpdate {
		this.takeChanges(asOf);
		const pods = { put: [...this.#toldPods.values()], remove: [] };
		return { kind: "update", asOf, pods, tables: { put: [...this.#toldTables.values()], remove: [] } };
	}

	#podChanges(): Changes<EchoPod> {
		const pods = takeOut(this.#changedPods).map((key) => [key, echoPodOf(this.#pods.get(key))] as const);
		return changesOf(this.#toldPods, pods, deepEqual);
	}

	#tableChanges(asOf: string): Changes<ServiceTable> {
		const tables = takeOut(this.#changedServices).map((key) => [key, this.#tableOf(key, asOf)] as const);
		return changesOf(this.#toldTables, tables, (a, b) => deepEqual(a.ports, b.ports));
	}

	/** Undefined when there is nothing to carry. */
	#tableOf(key: string, asOf: string): ServiceTable | undefined {
		const service = this.#services.get(key);
		if (service === undefined) return undefined;
		const slices = this.#slices.index(BY_PROXIED_SERVICE, key);
		const table = planServiceTable(service, slices, { ...this.#place, asOf });
		return table.ports.length === 0 ? undefined : table;
	}
}

/** A Pod that runs, as the data plane knows it; undefined when it has no address, or has ended. */
function echoPodOf(pod: Pod | undefined): EchoPod | undefined {
	if (pod === undefined || !hasLiveAddress(pod)) return undefined;
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
		isReady: conditions.some(({ type, status }) => type === "Ready" && status === "True"),
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
