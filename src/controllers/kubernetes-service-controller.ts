/** Keeps the Service `kubernetes`, its Endpoints and its EndpointSlice; what is deleted is made again. */
import { keyOf, type Resource } from "../api/resource.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../api/resource-names.ts";
import type { Draft, KubeObject, StringMap } from "../api/types/meta.ts";
import { deepEqual } from "../kernel/json.ts";
import { type Outcome, type Reconciler, runWorkers, SETTLED } from "../machinery/controller.ts";
import { ignoreAlreadyExists, ignoreNotFound } from "../machinery/expected-errors.ts";
import type { WorkQueue } from "../machinery/work-queue.ts";
import {
	API_SERVICE,
	type ApiPlace,
	apiAddress,
	apiEndpointSlice,
	apiEndpoints,
	apiService,
} from "../plan/api-service/api-service.ts";
import { ApiPlaces } from "./api-places.ts";
import type { Controller, ControllerPorts } from "./ports.ts";
import { RewritePace } from "./rewrite-pace.ts";

const KEY = `${API_SERVICE.namespace}/${API_SERVICE.name}`;

export class KubernetesServiceController implements Controller, Reconciler {
	readonly name = "kubernetes-service-controller";
	readonly #ports: ControllerPorts;
	readonly #place: ApiPlace;
	readonly #queue: WorkQueue<string>;
	readonly #places: ApiPlaces | undefined;
	readonly #rewrites: RewritePace | undefined;

	/** @param isOneOfMany There may be other servers over the same store: the endpoints have all that live. */
	constructor(ports: ControllerPorts, place: ApiPlace, isOneOfMany = false) {
		this.#ports = ports;
		this.#place = place;
		this.#places = isOneOfMany ? new ApiPlaces(ports, apiAddress(place)) : undefined;
		this.#rewrites = isOneOfMany ? new RewritePace() : undefined;
		this.#queue = ports.queues.make({ name: "kubernetes_service" });
	}

	async run(signal: AbortSignal): Promise<void> {
		const { informers, clock, log } = this.#ports;
		const see = (object: KubeObject): void => {
			if (keyOf(object) === KEY) this.#queue.add(KEY);
		};
		const handlers = { updated: (_old: KubeObject, object: KubeObject) => see(object), deleted: see };
		const read = [informers.of(SERVICES), informers.of(ENDPOINTS), informers.of(ENDPOINT_SLICES)];
		for (const informer of read) informer.addHandlers(handlers);
		await Promise.all(read.map((informer) => informer.whenSynced(signal))).catch(() => undefined);
		this.#queue.add(KEY);
		const keeping = this.#places?.run(() => this.#queue.add(KEY), signal);
		await runWorkers(this.#queue, this, { workers: 1, clock, log, signal, retriesMax: 0 });
		await keeping;
	}

	async reconcile(): Promise<Outcome> {
		const place = this.#place;
		const { informers } = this.#ports;
		// What a user has made of the Service stays, as in a real cluster; what leads to the API does not.
		if (informers.of(SERVICES).get(KEY) === undefined) await this.#createService();
		const servers = this.#places === undefined ? [apiAddress(place)] : this.#places.live;
		if (servers === undefined) return SETTLED;
		const writes = [
			this.#writeOf(ENDPOINTS, apiEndpoints(servers), ["subsets"]),
			this.#writeOf(ENDPOINT_SLICES, apiEndpointSlice(place, servers), ["endpoints", "ports"]),
		].filter((write) => write !== undefined);
		if (writes.length === 0) return SETTLED;
		const restMs = this.#rewrites?.restMs(this.#ports.clock.monotonicMs()) ?? 0;
		if (restMs > 0) return { kind: "recheck", afterMs: restMs, why: "another server may see it otherwise" };
		for (const write of writes) await write();
		return SETTLED;
	}

	/** Another server may have made it: then its address is taken, whatever the error is about. */
	async #createService(): Promise<void> {
		const { client } = this.#ports;
		await client.create(SERVICES, API_SERVICE.namespace, apiService(this.#place)).catch(async (error: unknown) => {
			if ((await ignoreNotFound(client.get(SERVICES, API_SERVICE))) === undefined) throw error;
		});
	}

	async #create<T extends KubeObject>(resource: Resource<T>, draft: Draft<T>): Promise<void> {
		await ignoreAlreadyExists(this.#ports.client.create(resource, API_SERVICE.namespace, draft));
	}

	/** Makes the object, or brings these fields and its labels in line. Undefined: it is right. */
	#writeOf<T extends KubeObject>(
		resource: Resource<T>,
		draft: Draft<T>,
		fields: readonly (keyof T & keyof Draft<T>)[],
	): (() => Promise<unknown>) | undefined {
		const stored = this.#ports.informers.of(resource).get(KEY);
		if (stored === undefined) return () => this.#create(resource, draft);
		const labels: StringMap = { ...stored.metadata.labels, ...draft.metadata.labels };
		const wanted = Object.fromEntries(fields.map((field) => [field, draft[field]]));
		const isRight = fields.every((field) => deepEqual(stored[field], draft[field]));
		if (isRight && deepEqual(labels, stored.metadata.labels)) return undefined;
		const next = { ...stored, ...wanted, metadata: { ...stored.metadata, labels } };
		return () => this.#ports.client.update(resource, next);
	}
}
