/**
 * Which Pods of a Service have changed since its last sync, so that a sync need not look at all of them.
 *
 * Whoever takes the changes of a Service keeps what it made of the Pods before.
 */
import { keyOf } from "../api/resource.ts";
import type { Pod, Service } from "../api/types/core.ts";
import type { Informer } from "../machinery/informer.ts";
import { endpointSelectorOf, matchesSelector } from "../plan/service-selector.ts";
import type { ServicePods } from "./service-pods.ts";

export type PodChanges =
	/** Nothing is known of what was before: these are all Pods of the Service. */
	| { readonly kind: "all"; readonly pods: readonly Pod[] }
	| {
			readonly kind: "some";
			/** New ones, and those that may look different. */
			readonly changed: readonly Pod[];
			/** Names of those that are gone, or no longer selected. */
			readonly gone: readonly string[];
	  };

interface Page {
	readonly service: Service;
	/** Names of Pods. */
	readonly touched: Set<string>;
}

export class PodJournal {
	readonly #servicePods: ServicePods;
	readonly #pods: Informer<Pod>;
	readonly #pages = new Map<string, Page>();
	#isListening = false;

	constructor(servicePods: ServicePods, pods: Informer<Pod>) {
		this.#servicePods = servicePods;
		this.#pods = pods;
	}

	/** Until then, every Pod counts as changed. Returns how to stop. */
	listen(): () => void {
		const touch = (pod: Pod): void => this.#touch(pod);
		const stop = this.#pods.addHandlers({
			added: touch,
			updated(old, pod) {
				touch(old);
				if (old.metadata.labels !== pod.metadata.labels) touch(pod);
			},
			deleted: touch,
		});
		this.#isListening = true;
		return () => {
			this.#isListening = false;
			this.#pages.clear();
			stop();
		};
	}

	take(service: Service): PodChanges {
		const key = keyOf(service);
		const page = this.#pages.get(key);
		if (this.#isListening) this.#pages.set(key, { service, touched: new Set() });
		if (page === undefined || page.service !== service) {
			return { kind: "all", pods: this.#servicePods.podsOf(service) };
		}
		const selector = endpointSelectorOf(service) ?? {};
		const changed: Pod[] = [];
		const gone: string[] = [];
		for (const name of page.touched) {
			const pod = this.#pods.get(`${service.metadata.namespace ?? ""}/${name}`);
			if (pod !== undefined && matchesSelector(selector, pod.metadata.labels)) changed.push(pod);
			else gone.push(name);
		}
		return { kind: "some", changed, gone };
	}

	forget(serviceKey: string): void {
		this.#pages.delete(serviceKey);
	}

	/** Whatever the next sync would make of each Service has to start from all Pods. */
	forgetAll(): void {
		this.#pages.clear();
	}

	#touch({ metadata }: Pod): void {
		const services = this.#servicePods.servicesOf(metadata.namespace ?? "", metadata.labels ?? {});
		for (const service of services) this.#pages.get(keyOf(service))?.touched.add(metadata.name);
	}
}
