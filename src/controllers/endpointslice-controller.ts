/**
 * Keeps the EndpointSlices of every Service with a selector.
 *
 * @see https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/
 */
import { keyOf } from "../api/resource.ts";
import { ENDPOINT_SLICES, NODES, PODS, SERVICES } from "../api/resource-names.ts";
import type { Node } from "../api/types/core.ts";
import { ENDPOINTSLICE_CONTROLLER, ZONE_LABEL } from "../api/well-known.ts";
import { RETRIES_MAX, type Reconciler, runWorkers, SETTLED } from "../machinery/controller.ts";
import type { WorkQueue } from "../machinery/work-queue.ts";
import { changesTopology } from "../plan/endpointslice/zone-ratios.ts";
import { EndpointSliceSync } from "./endpointslice-sync.ts";
import { enqueueServices } from "./enqueue-services.ts";
import { checkBounds } from "./flags.ts";
import type { Controller, ControllerPorts } from "./ports.ts";
import { sliceHandlers } from "./slice-events.ts";

export interface EndpointSliceOptions {
	/** `--max-endpoints-per-slice`, 1 to 1000. Default 100. */
	readonly maxEndpointsPerSlice: number;
	/** `--concurrent-service-endpoint-syncs`, 1 to 50. Default 5. */
	readonly concurrentSyncs: number;
	/** `--endpointslice-updates-batch-period`: changes of Pods wait so long for others. Default 0. */
	readonly batchPeriodMs: number;
	/** Retries in a row of a key that fails, before it is left alone until its next event; 0: no end. Default 15. */
	readonly retriesMax: number;
}

const DEFAULTS: EndpointSliceOptions = {
	maxEndpointsPerSlice: 100,
	concurrentSyncs: 5,
	batchPeriodMs: 0,
	retriesMax: RETRIES_MAX,
};

/** A slice that somebody else changed is looked at after this, so that the cache can catch up. */
const SLICE_EVENT_DELAY_MS = 1000;
/** A failed Service waits 1 s, doubling to 1000 s; all of them together are held to 10 per second. */
const RETRIES = { firstDelayMs: 1000, delayMsMax: 1_000_000, perSecond: 10, burst: 100 };

export class EndpointSliceController implements Controller {
	readonly name = "endpointslice-controller";
	readonly #ports: ControllerPorts;
	readonly #options: EndpointSliceOptions;

	/** @throws {RangeError} for a number out of its bounds. */
	constructor(ports: ControllerPorts, options: Partial<EndpointSliceOptions> = {}) {
		this.#ports = ports;
		this.#options = { ...DEFAULTS, ...options };
		const { maxEndpointsPerSlice, concurrentSyncs } = this.#options;
		checkBounds({ flag: "max-endpoints-per-slice", value: maxEndpointsPerSlice, min: 1, max: 1000 });
		checkBounds({ flag: "concurrent-service-endpoint-syncs", value: concurrentSyncs, min: 1, max: 50 });
	}

	async run(signal: AbortSignal): Promise<void> {
		const { informers, queues, clock, log } = this.#ports;
		const { concurrentSyncs, retriesMax } = this.#options;
		const sync = new EndpointSliceSync(this.#ports, { endpointsPerSliceMax: this.#options.maxEndpointsPerSlice });
		const queue = queues.make<string>({ name: "endpoint_slice", retries: RETRIES });
		const topology = queues.make<"nodes">({ name: "endpoint_slice_topology", isMeasured: false });
		const stopListening = this.#listen(sync, queue, topology);
		try {
			const read = [informers.of(SERVICES), informers.of(PODS), informers.of(ENDPOINT_SLICES), informers.of(NODES)];
			await Promise.all(read.map((informer) => informer.whenSynced(signal)));
			const options = { clock, log, signal };
			await Promise.all([
				runWorkers(queue, sync, { workers: concurrentSyncs, retriesMax, ...options }),
				runWorkers(topology, topologyReconciler(sync, queue), { workers: 1, ...options }),
			]);
		} catch (error) {
			if (!signal.aborted) throw error;
		} finally {
			stopListening();
			queue.stop();
			topology.stop();
		}
	}

	#listen(sync: EndpointSliceSync, queue: WorkQueue<string>, topology: WorkQueue<"nodes">): () => void {
		const { informers, log } = this.#ports;
		const { batchPeriodMs } = this.#options;
		const stopJournal = sync.journal.listen();
		const stopServices = enqueueServices({ informers, servicePods: sync.servicePods, queue, batchPeriodMs });
		const slices = sliceHandlers({
			manager: ENDPOINTSLICE_CONTROLLER,
			tracker: sync.tracker,
			cache: informers.of(ENDPOINT_SLICES),
			enqueue: (key) => queue.addAfter(key, Math.max(SLICE_EVENT_DELAY_MS, batchPeriodMs)),
			onNameless: (slice) => log.warn("EndpointSlice names no Service", { key: keyOf(slice) }),
		});
		const stopSlices = informers.of(ENDPOINT_SLICES).addHandlers(slices);
		const look = (): void => topology.add("nodes");
		const moved = (): void => {
			sync.journal.forgetAll();
			look();
		};
		const stopNodes = informers.of(NODES).addHandlers({
			added: moved,
			updated: (old, node) => {
				if (zoneOf(old) !== zoneOf(node)) moved();
				else if (changesTopology(old, node)) look();
			},
			deleted: moved,
		});
		return () => {
			stopJournal();
			stopServices();
			stopNodes();
			stopSlices();
		};
	}
}

function zoneOf({ metadata }: Node): string | undefined {
	return metadata.labels?.[ZONE_LABEL];
}

/** Nodes only matter to Services whose hints follow the zones' CPU, and only when a zone is now overloaded. */
function topologyReconciler(sync: EndpointSliceSync, queue: WorkQueue<string>): Reconciler<"nodes"> {
	return {
		name: "endpointslice-controller-topology",
		async reconcile() {
			for (const key of sync.updateTopology()) queue.add(key);
			return SETTLED;
		},
	};
}
