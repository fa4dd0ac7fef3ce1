/**
 * Keeps the `v1` Endpoints of every Service with a selector, for clients that do not know slices.
 *
 * @see https://kubernetes.io/docs/concepts/services-networking/service/#endpoints
 */
import { keyOf } from "../api/resource.ts";
import { ENDPOINTS, PODS, SERVICES } from "../api/resource-names.ts";
import type { Endpoints } from "../api/types/core.ts";
import { LEADER_ANNOTATION } from "../api/well-known.ts";
import { ownValue } from "../kernel/json.ts";
import { RETRIES_MAX, runWorkers } from "../machinery/controller.ts";
import type { WorkQueue } from "../machinery/work-queue.ts";
import { EndpointsSync } from "./endpoints-sync.ts";
import { enqueueServices } from "./enqueue-services.ts";
import type { Controller, ControllerPorts } from "./ports.ts";

export interface EndpointsOptions {
	/** `--concurrent-endpoint-syncs`. Default 5. */
	readonly concurrentSyncs: number;
	/** `--endpoint-updates-batch-period`: changes of Pods wait so long for others. Default 0. */
	readonly batchPeriodMs: number;
	/** See EndpointsPolicy. Default false. */
	readonly rewritesUnchanged: boolean;
	/** Retries in a row of a key that fails, before it is left alone until its next event; 0: no end. Default 15. */
	readonly retriesMax: number;
}

const DEFAULTS: EndpointsOptions = {
	concurrentSyncs: 5,
	batchPeriodMs: 0,
	rewritesUnchanged: false,
	retriesMax: RETRIES_MAX,
};

export class EndpointsController implements Controller {
	readonly name = "endpoints-controller";
	readonly #ports: ControllerPorts;
	readonly #options: EndpointsOptions;

	constructor(ports: ControllerPorts, options: Partial<EndpointsOptions> = {}) {
		this.#ports = ports;
		this.#options = { ...DEFAULTS, ...options };
	}

	async run(signal: AbortSignal): Promise<void> {
		const { informers, queues, clock, log } = this.#ports;
		const { concurrentSyncs, retriesMax } = this.#options;
		const sync = new EndpointsSync(this.#ports, this.#options);
		const queue = queues.make<string>({ name: "endpoint" });
		const stopListening = this.#listen(sync, queue);
		try {
			const read = [informers.of(SERVICES), informers.of(PODS), informers.of(ENDPOINTS)];
			await Promise.all(read.map((informer) => informer.whenSynced(signal)));
			this.#enqueueLeftovers(queue);
			await runWorkers(queue, sync, { workers: concurrentSyncs, retriesMax, clock, log, signal });
		} catch (error) {
			if (!signal.aborted) throw error;
		} finally {
			stopListening();
			queue.stop();
		}
	}

	/** Services may have gone while nobody watched; what old clients elect a leader with is not touched. */
	#enqueueLeftovers(queue: WorkQueue<string>): void {
		for (const endpoints of this.#ports.informers.of(ENDPOINTS).list()) {
			const annotations = endpoints.metadata.annotations ?? {};
			if (ownValue(annotations, LEADER_ANNOTATION) === undefined) queue.add(keyOf(endpoints));
		}
	}

	#listen(sync: EndpointsSync, queue: WorkQueue<string>): () => void {
		const { informers } = this.#ports;
		const { batchPeriodMs } = this.#options;
		const stopJournal = sync.journal.listen();
		const stopServices = enqueueServices({ informers, servicePods: sync.servicePods, queue, batchPeriodMs });
		// Edits by hand stay until the Service's next sync, as in upstream.
		const deleted = (endpoints: Endpoints): void => queue.add(keyOf(endpoints));
		const stopEndpoints = informers.of(ENDPOINTS).addHandlers({ deleted });
		return () => {
			stopJournal();
			stopServices();
			stopEndpoints();
		};
	}
}
