/** What both endpoint controllers listen to: Services, and Pods on behalf of Services. */
import { keyOf } from "../api/resource.ts";
import { PODS, SERVICES } from "../api/resource-names.ts";
import type { Pod } from "../api/types/core.ts";
import type { Informers } from "../machinery/informers.ts";
import type { WorkQueue } from "../machinery/work-queue.ts";
import { concernedServices, podChange } from "./pod-change.ts";
import type { ServicePods } from "./service-pods.ts";

export interface ServiceEvents {
	readonly informers: Informers;
	readonly servicePods: ServicePods;
	readonly queue: WorkQueue<string>;
	/** Changes of Pods wait so long for others of the same Service. */
	readonly batchPeriodMs: number;
}

/** Returns how to stop listening. */
export function enqueueServices({ informers, servicePods, queue, batchPeriodMs }: ServiceEvents): () => void {
	const podChanged = (old: Pod | undefined, pod: Pod): void => {
		const change = podChange(old, pod);
		if (change === undefined) return;
		const concerned = concernedServices(change, (namespace, labels) => servicePods.servicesOf(namespace, labels));
		for (const service of concerned) queue.addAfter(keyOf(service), batchPeriodMs);
	};
	const stopServices = informers.of(SERVICES).addHandlers({
		added: (service) => queue.add(keyOf(service)),
		updated: (_, service) => queue.add(keyOf(service)),
		deleted: (service) => queue.add(keyOf(service)),
	});
	const stopPods = informers.of(PODS).addHandlers({
		added: (pod) => podChanged(undefined, pod),
		updated: podChanged,
		deleted: (pod) => podChanged(undefined, pod),
	});
	return () => {
		stopServices();
		stopPods();
	};
}
