/** One sync of the Endpoints controller: load the world, plan, apply. Decisions are in `plan/`. */
import { splitKey } from "../api/resource.ts";
import { ENDPOINTS, PODS, SERVICES } from "../api/resource-names.ts";
import type { Endpoints, Service } from "../api/types/core.ts";
import type { Draft } from "../api/types/meta.ts";
import { type Outcome, type Reconciler, SETTLED } from "../machinery/controller.ts";
import { ignoreNotFound, isNamespaceGone } from "../machinery/expected-errors.ts";
import type { Informer } from "../machinery/informer.ts";
import { type EndpointsPolicy, planEndpoints } from "../plan/endpoints/plan-endpoints.ts";
import { SubsetIndex } from "../plan/endpoints/subset-index.ts";
import { endpointSelectorOf } from "../plan/service-selector.ts";
import type { TriggerTimes } from "../plan/trigger-time.ts";
import { PodJournal } from "./pod-journal.ts";
import type { ControllerPorts } from "./ports.ts";
import { ServicePods } from "./service-pods.ts";
import { ServiceViews } from "./service-views.ts";
import { asError, StaleCacheError } from "./sync-error.ts";

const COMPONENT = "endpoint-controller";

export class EndpointsSync implements Reconciler {
	readonly name = "endpoints-controller";
	readonly servicePods: ServicePods;
	readonly journal: PodJournal;
	readonly #ports: ControllerPorts;
	readonly #policy: EndpointsPolicy;
	readonly #services: Informer<Service>;
	readonly #endpoints: Informer<Endpoints>;
	readonly #views: ServiceViews<SubsetIndex>;
	/** The resourceVersion that an update replaced: a cache that still shows it lags behind. */
	readonly #replaced = new Map<string, string>();

	constructor(ports: ControllerPorts, policy: EndpointsPolicy) {
		this.#ports = ports;
		this.#policy = policy;
		this.#services = ports.informers.of(SERVICES);
		this.#endpoints = ports.informers.of(ENDPOINTS);
		this.servicePods = new ServicePods(this.#services, ports.informers.of(PODS));
		this.journal = new PodJournal(this.servicePods, ports.informers.of(PODS));
		this.#views = new ServiceViews(this, (service, pods) => new SubsetIndex(service, pods));
	}

	/** Trigger times by Service. */
	get triggerTimes(): Map<string, TriggerTimes> {
		return this.#views.triggerTimes;
	}

	async reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
		const service = this.#services.get(key);
		if (service === undefined) await this.#delete(key, signal);
		else if (endpointSelectorOf(service) !== undefined) await this.#sync(key, service, signal);
		return SETTLED;
	}

	/** Of whoever made them: Endpoints without a Service are of no use to anybody. */
	async #delete(key: string, signal: AbortSignal): Promise<void> {
		await ignoreNotFound(this.#ports.client.delete(ENDPOINTS, splitKey(key), { signal }));
		this.#views.forget(key);
		this.#replaced.delete(key);
	}

	async #sync(key: string, service: Service, signal: AbortSignal): Promise<void> {
		const { index, triggerTime } = this.#views.see(key, service);
		const existing = this.#endpoints.get(key);
		this.#refuseStale(key, existing);
		const plan = planEndpoints({ service, pods: index, existing, triggerTime }, this.#policy);
		if (plan.kind === "create") await this.#create(key, service, plan.endpoints, signal);
		if (plan.kind === "update") await this.#update(key, plan.endpoints, signal);
	}

	#refuseStale(key: string, existing: Endpoints | undefined): void {
		const version = existing?.metadata.resourceVersion;
		if (version === undefined || version !== this.#replaced.get(key)) return;
		throw new StaleCacheError(
			`endpoints informer cache is out of date, resource version ${version} already processed for endpoints ${key}`,
		);
	}

	async #create(key: string, service: Service, endpoints: Draft<Endpoints>, signal: AbortSignal): Promise<void> {
		try {
			await this.#ports.client.create(ENDPOINTS, splitKey(key).namespace, endpoints, { signal });
		} catch (error) {
			if (isNamespaceGone(error)) return;
			if (!signal.aborted) {
				this.#warn(
					{
						...service,
						apiVersion: "v1",
						kind: "Endpoints",
						metadata: { ...service.metadata, uid: "", resourceVersion: "" },
					},
					"FailedToCreateEndpoint",
					`Failed to create endpoint for service ${key}: ${asError(error).message}`,
				);
			}
			throw error;
		}
	}

	async #update(key: string, endpoints: Endpoints, signal: AbortSignal): Promise<void> {
		const { resourceVersion } = endpoints.metadata;
		try {
			const written = await this.#ports.client.update(ENDPOINTS, endpoints, { signal });
			// A write that changed nothing keeps its version, and the cache is as new as it gets.
			if (written.metadata.resourceVersion !== resourceVersion) this.#replaced.set(key, resourceVersion);
		} catch (error) {
			const message = `Failed to update endpoint ${key}: ${asError(error).message}`;
			if (!signal.aborted) this.#warn(endpoints, "FailedToUpdateEndpoint", message);
			throw error;
		}
	}

	#warn(object: Endpoints, reason: string, message: string): void {
		this.#ports.recorder.record({
			component: COMPONENT,
			resource: ENDPOINTS,
			object,
			type: "Warning",
			reason,
			message,
		});
	}
}
