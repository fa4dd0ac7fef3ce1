/**
 * Copies hand-made `v1` Endpoints of Services without selector into EndpointSlices, for consumers of slices.
 *
 * @see https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/#endpointslice-mirroring
 */
import { keyOf } from "../api/resource.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../api/resource-names.ts";
import type { Endpoints, Service } from "../api/types/core.ts";
import { ENDPOINTSLICEMIRRORING_CONTROLLER } from "../api/well-known.ts";
import { RETRIES_MAX, runWorkers } from "../machinery/controller.ts";
import type { Handlers } from "../machinery/informer.ts";
import type { WorkQueue } from "../machinery/work-queue.ts";
import { mayBeMirrored, wantsMirror } from "../plan/mirroring/eligibility.ts";
import { EndpointSliceMirroringSync } from "./endpointslicemirroring-sync.ts";
import { checkBounds } from "./flags.ts";
import type { Controller, ControllerPorts } from "./ports.ts";
import { sliceHandlers } from "./slice-events.ts";

export interface EndpointSliceMirroringOptions {
	/** `--mirroring-max-endpoints-per-subset`, 1 to 1000. Default 1000. */
	readonly maxEndpointsPerSubset: number;
	/** `--mirroring-concurrent-service-endpoint-syncs`, 1 to 50. Default 5. */
	readonly concurrentSyncs: number;
	/** `--mirroring-endpointslice-updates-batch-period`: changes of slices wait so long. Default 0. */
	readonly batchPeriodMs: number;
	/** Retries in a row of a key that fails, before it is left alone until its next event; 0: no end. Default 15. */
	readonly retriesMax: number;
}

const DEFAULTS: EndpointSliceMirroringOptions = {
	maxEndpointsPerSubset: 1000,
	concurrentSyncs: 5,
	batchPeriodMs: 0,
	retriesMax: RETRIES_MAX,
};

/** Failed Endpoints wait 1 s, doubling to 100 s; all of them together are held to 10 per second. */
const RETRIES = { firstDelayMs: 1000, delayMsMax: 100_000, perSecond: 10, burst: 100 };

export class EndpointSliceMirroringController implements Controller {
	readonly name = "endpointslice-mirroring-controller";
	readonly #ports: ControllerPorts;
	readonly #options: EndpointSliceMirroringOptions;

	/** @throws {RangeError} for a number out of its bounds. */
	constructor(ports: ControllerPorts, options: Partial<EndpointSliceMirroringOptions> = {}) {
		this.#ports = ports;
		this.#options = { ...DEFAULTS, ...options };
		const { maxEndpointsPerSubset, concurrentSyncs } = this.#options;
		checkBounds({ flag: "mirroring-max-endpoints-per-subset", value: maxEndpointsPerSubset, min: 1, max: 1000 });
		checkBounds({ flag: "mirroring-concurrent-service-endpoint-syncs", value: concurrentSyncs, min: 1, max: 50 });
	}

	async run(signal: AbortSignal): Promise<void> {
		const { informers, queues, clock, log } = this.#ports;
		const { concurrentSyncs, retriesMax } = this.#options;
		const limits = { addressesPerSubsetMax: this.#options.maxEndpointsPerSubset };
		const sync = new EndpointSliceMirroringSync(this.#ports, limits);
		const queue = queues.make<string>({ name: "endpoint_slice_mirroring", retries: RETRIES });
		const stopListening = this.#listen(sync, queue);
		try {
			const read = [informers.of(ENDPOINTS), informers.of(ENDPOINT_SLICES), informers.of(SERVICES)];
			await Promise.all(read.map((informer) => informer.whenSynced(signal)));
			await runWorkers(queue, sync, { workers: concurrentSyncs, retriesMax, clock, log, signal });
		} catch (error) {
			if (!signal.aborted) throw error;
		} finally {
			stopListening();
			queue.stop();
		}
	}

	#listen(sync: EndpointSliceMirroringSync, queue: WorkQueue<string>): () => void {
		const { informers, log } = this.#ports;
		const { batchPeriodMs } = this.#options;
		const slices = sliceHandlers({
			manager: ENDPOINTSLICEMIRRORING_CONTROLLER,
			tracker: sync.tracker,
			cache: informers.of(ENDPOINT_SLICES),
			enqueue: (key) => queue.addAfter(key, batchPeriodMs),
			onNameless: (slice) => log.warn("EndpointSlice names no Service", { key: keyOf(slice) }),
		});
		const stops = [
			informers.of(ENDPOINTS).addHandlers(endpointsHandlers(queue)),
			informers.of(SERVICES).addHandlers(serviceHandlers(queue)),
			informers.of(ENDPOINT_SLICES).addHandlers(slices),
		];
		return () => {
			for (const stop of stops) stop();
		};
	}
}

/** What turns into something that is not mirrored is looked at once more: its slices must go. */
function endpointsHandlers(queue: WorkQueue<string>): Handlers<Endpoints> {
	const see = (endpoints: Endpoints): void => {
		if (mayBeMirrored(endpoints)) queue.add(keyOf(endpoints));
	};
	return {
		added: see,
		updated(old, endpoints) {
			if (mayBeMirrored(old) || mayBeMirrored(endpoints)) queue.add(keyOf(endpoints));
		},
		deleted: see,
	};
}

function serviceHandlers(queue: WorkQueue<string>): Handlers<Service> {
	const see = (service: Service): void => {
		if (wantsMirror(service)) queue.add(keyOf(service));
	};
	return {
		added: see,
		updated(old, service) {
			if (wantsMirror(old) !== wantsMirror(service)) queue.add(keyOf(service));
		},
		deleted: see,
	};
}
