/** One sync of the mirroring controller: load the world, plan, apply. Decisions are in `plan/mirroring/`. */
import { splitKey } from "../api/resource.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../api/resource-names.ts";
import type { Endpoints, Service } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import { ENDPOINTSLICEMIRRORING_CONTROLLER, SLICE_MANAGED_BY_LABEL } from "../api/well-known.ts";
import { type Outcome, type Reconciler, SETTLED } from "../machinery/controller.ts";
import type { Informer } from "../machinery/informer.ts";
import { SliceTracker } from "../plan/endpointslice/slice-tracker.ts";
import { mayBeMirrored, wantsMirror } from "../plan/mirroring/eligibility.ts";
import { type MirrorCounts, type MirrorLimits, planMirror } from "../plan/mirroring/plan-mirror.ts";
import { type MirrorMetrics, mirrorMetrics } from "./endpointslicemirroring-metrics.ts";
import type { ControllerPorts } from "./ports.ts";
import { BY_SERVICE, indexByService } from "./slice-events.ts";
import { SliceWriter } from "./slice-writer.ts";
import { asError, StaleCacheError } from "./sync-error.ts";

const COMPONENT = "endpoint-slice-mirroring-controller";

export class EndpointSliceMirroringSync implements Reconciler {
	readonly name = "endpointslice-mirroring-controller";
	readonly tracker: SliceTracker = new SliceTracker();
	readonly #ports: ControllerPorts;
	readonly #limits: MirrorLimits;
	readonly #metrics: MirrorMetrics;
	readonly #writer: SliceWriter;
	readonly #endpoints: Informer<Endpoints>;
	readonly #services: Informer<Service>;
	readonly #slices: Informer<EndpointSlice>;

	constructor(ports: ControllerPorts, limits: MirrorLimits) {
		this.#ports = ports;
		this.#limits = limits;
		this.#metrics = mirrorMetrics(ports.metrics);
		const { tracker } = this;
		const { wrote } = this.#metrics;
		this.#writer = new SliceWriter({ client: ports.client, tracker, source: "Endpoints", wrote });
		this.#endpoints = ports.informers.of(ENDPOINTS);
		this.#services = ports.informers.of(SERVICES);
		this.#slices = ports.informers.of(ENDPOINT_SLICES);
		indexByService(this.#slices);
	}

	async reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
		const { clock } = this.#ports;
		const startedMs = clock.monotonicMs();
		try {
			await this.#sync(key, signal);
			return SETTLED;
		} finally {
			this.#metrics.took(clock.monotonicMs() - startedMs);
		}
	}

	async #sync(key: string, signal: AbortSignal): Promise<void> {
		const endpoints = this.#endpoints.get(key);
		const service = this.#services.get(key);
		// Unlike slices of Pods, those that are being deleted count: so it is upstream.
		const existing = this.#slicesOf(key);
		if (endpoints === undefined || service === undefined || !mayBeMirrored(endpoints) || !wantsMirror(service)) {
			return this.#cleanUp(key, existing, signal);
		}
		if (this.tracker.isStale(key, existing)) throw new StaleCacheError("EndpointSlice informer cache is out of date");
		const plan = planMirror({ endpoints, existing }, this.#limits);
		this.#report(endpoints, plan.counts);
		for (const slice of plan.unchanged) if (!this.tracker.has(slice)) this.tracker.wrote(slice);
		if (await this.#writer.write(key, plan, signal)) this.#metrics.planned(key, plan.counts);
	}

	#slicesOf(key: string): readonly EndpointSlice[] {
		return this.#slices
			.index(BY_SERVICE, key)
			.filter(({ metadata }) => metadata.labels?.[SLICE_MANAGED_BY_LABEL] === ENDPOINTSLICEMIRRORING_CONTROLLER);
	}

	async #cleanUp(key: string, slices: readonly EndpointSlice[], signal: AbortSignal): Promise<void> {
		this.tracker.forgetService(key);
		this.#metrics.forgot(key);
		const errors: Error[] = [];
		for (const { metadata } of slices) {
			const place = { namespace: splitKey(key).namespace, name: metadata.name };
			await this.#ports.client
				.delete(ENDPOINT_SLICES, place, { signal })
				.catch((error: unknown) => errors.push(asError(error)));
		}
		const [first] = errors;
		if (first === undefined) return;
		const what = `error(s) deleting ${errors.length}/${slices.length} EndpointSlices for ${key} Endpoints`;
		throw new Error(`${what}, including: ${first.message}`, { cause: first });
	}

	#report(endpoints: Endpoints, { invalid, skipped }: MirrorCounts): void {
		const max = this.#limits.addressesPerSubsetMax;
		if (invalid > 0) {
			const message = `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`;
			this.#warn(endpoints, "InvalidIPAddress", message);
		}
		if (skipped > invalid) {
			const message =
				`A max of ${max} addresses can be mirrored to EndpointSlices per Endpoints subset. ` +
				`${skipped} addresses were skipped`;
			this.#warn(endpoints, "TooManyAddressesToMirror", message);
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
