/** One sync of the EndpointSlice controller: load the world, plan, apply. Decisions are in `plan/`. */
import { ENDPOINT_SLICES, NODES, PODS, SERVICES } from "../api/resource-names.ts";
import type { Node, Service } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import { ENDPOINTSLICE_CONTROLLER, SLICE_MANAGED_BY_LABEL } from "../api/well-known.ts";
import { type Outcome, type Reconciler, SETTLED } from "../machinery/controller.ts";
import type { Informer } from "../machinery/informer.ts";
import { type HintsMemory, NO_HINTS } from "../plan/endpointslice/hints.ts";
import {
	describeProblem,
	planIndexedSlices,
	type SliceLimits,
	type SlicePlan,
} from "../plan/endpointslice/plan-slices.ts";
import { SliceIndex } from "../plan/endpointslice/slice-index.ts";
import { SliceTracker } from "../plan/endpointslice/slice-tracker.ts";
import { isOverloaded, type ZoneRatios, zoneRatiosOf } from "../plan/endpointslice/zone-ratios.ts";
import { endpointSelectorOf } from "../plan/service-selector.ts";
import type { TriggerTimes } from "../plan/trigger-time.ts";
import { type SliceMetrics, sliceMetrics } from "./endpointslice-metrics.ts";
import { PodJournal } from "./pod-journal.ts";
import type { ControllerPorts } from "./ports.ts";
import { ServicePods } from "./service-pods.ts";
import { ServiceViews } from "./service-views.ts";
import { BY_SERVICE, indexByService } from "./slice-events.ts";
import { SliceWriter } from "./slice-writer.ts";
import { aggregated, asError, StaleCacheError } from "./sync-error.ts";

const COMPONENT = "endpoint-slice-controller";

export class EndpointSliceSync implements Reconciler {
	readonly name = "endpointslice-controller";
	readonly tracker: SliceTracker = new SliceTracker();
	readonly servicePods: ServicePods;
	readonly journal: PodJournal;
	readonly #ports: ControllerPorts;
	readonly #limits: SliceLimits;
	readonly #metrics: SliceMetrics;
	readonly #writer: SliceWriter;
	readonly #services: Informer<Service>;
	readonly #slices: Informer<EndpointSlice>;
	readonly #nodes: Informer<Node>;
	readonly #views: ServiceViews<SliceIndex>;
	/** What is remembered of hints by CPU, by Service; only those that have them. */
	readonly #hints = new Map<string, HintsMemory>();
	#ratios: ZoneRatios = new Map();

	constructor(ports: ControllerPorts, limits: SliceLimits) {
		this.#ports = ports;
		this.#limits = limits;
		this.#metrics = sliceMetrics(ports.metrics);
		const { tracker } = this;
		const { wrote } = this.#metrics;
		this.#writer = new SliceWriter({ client: ports.client, tracker, source: "Service", wrote });
		this.#services = ports.informers.of(SERVICES);
		this.#slices = ports.informers.of(ENDPOINT_SLICES);
		this.#nodes = ports.informers.of(NODES);
		this.servicePods = new ServicePods(this.#services, ports.informers.of(PODS));
		this.journal = new PodJournal(this.servicePods, ports.informers.of(PODS));
		this.#views = new ServiceViews(this, (service, pods) => new SliceIndex(service, this.#nodes, pods));
		indexByService(this.#slices);
	}

	/** Looks at the nodes again. @returns The Services whose hints would now load a zone too much. */
	updateTopology(): readonly string[] {
		this.#ratios = zoneRatiosOf(this.#nodes.list());
		return [...this.#hints].filter(([, memory]) => isOverloaded(memory, this.#ratios)).map(([key]) => key);
	}

	/** Trigger times by Service. */
	get triggerTimes(): Map<string, TriggerTimes> {
		return this.#views.triggerTimes;
	}

	async reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
		try {
			await this.#sync(key, signal);
			this.#metrics.synced("success");
			return SETTLED;
		} catch (error) {
			this.#metrics.synced(error instanceof StaleCacheError ? "stale" : "error");
			throw error;
		}
	}

	async #sync(key: string, signal: AbortSignal): Promise<void> {
		const service = this.#services.get(key);
		// Slices of a Service that is gone are the garbage collector's.
		if (service === undefined) return this.#forget(key);
		if (endpointSelectorOf(service) === undefined) return;
		const existing = this.#slicesOf(key);
		if (this.tracker.isStale(key, existing)) throw new StaleCacheError("EndpointSlice informer cache is out of date");

		const { index, triggerTime } = this.#views.see(key, service);
		const plan = planIndexedSlices(
			{ existing, triggerTime, ratios: this.#ratios, hintsMemory: this.#hints.get(key) ?? NO_HINTS },
			this.#limits,
			index,
		);
		const error = aggregated(await this.#apply(key, service, plan, signal));
		this.#remember(key, plan);
		this.#tellHints(service, plan);
		if (error === undefined || signal.aborted) return;
		this.#ports.recorder.record({
			component: COMPONENT,
			resource: SERVICES,
			object: service,
			type: "Warning",
			reason: "FailedToUpdateEndpointSlices",
			message: `Error updating Endpoint Slices for Service ${key}: ${error.message}`,
		});
		throw error;
	}

	#remember(key: string, { hintsMemory }: SlicePlan): void {
		if (hintsMemory.isPopulated || hintsMemory.allocated.size > 0) this.#hints.set(key, hintsMemory);
		else this.#hints.delete(key);
	}

	#tellHints(object: Service, { families }: SlicePlan): void {
		for (const { type, reason, message } of families.flatMap(({ hintsEvents }) => hintsEvents)) {
			this.#ports.recorder.record({ component: COMPONENT, resource: SERVICES, object, type, reason, message });
		}
	}

	#forget(key: string): void {
		this.#hints.delete(key);
		this.#views.forget(key);
		this.tracker.forgetService(key);
		this.#metrics.forgot(key);
	}

	#slicesOf(key: string): readonly EndpointSlice[] {
		return this.#slices
			.index(BY_SERVICE, key)
			.filter(
				({ metadata }) =>
					metadata.labels?.[SLICE_MANAGED_BY_LABEL] === ENDPOINTSLICE_CONTROLLER &&
					metadata.deletionTimestamp === undefined,
			);
	}

	/** Families do not stop each other; within one the first failure ends it. */
	async #apply(key: string, service: Service, plan: SlicePlan, signal: AbortSignal): Promise<readonly Error[]> {
		const errors: Error[] = [];
		for (const family of plan.families) {
			errors.push(...family.problems.map((problem) => new Error(describeProblem(service, problem))));
			try {
				this.#metrics.planned(key, service, family);
				if (await this.#writer.write(key, family, signal)) this.#metrics.carriedOut(service, family);
			} catch (error) {
				errors.push(asError(error));
			}
		}
		for (const slice of plan.unsupported) {
			await this.#writer.deleteUnsupported(key, slice, signal).catch((error: unknown) => errors.push(asError(error)));
		}
		return errors;
	}
}
