/** What an endpoint controller keeps of the Pods of each Service from sync to sync. */
import type { Pod, Service } from "../api/types/core.ts";
import { nextTriggerTime, steppedTriggerTime, type TriggerTimes } from "../plan/trigger-time.ts";
import type { PodJournal } from "./pod-journal.ts";
import type { ServicePods } from "./service-pods.ts";

export interface PodIndex {
	/** A Pod that the Service selects is new, or has changed. */
	put(pod: Pod): void;
	/** The Pod of this name is gone, or no longer selected. */
	remove(pod: string): void;
}

export interface ServiceView<Index> {
	readonly index: Index;
	/** See trigger-time.ts. */
	readonly triggerTime: string | undefined;
}

export class ServiceViews<Index extends PodIndex> {
	/** By Service. */
	readonly triggerTimes: Map<string, TriggerTimes> = new Map();
	readonly #indexes = new Map<string, Index>();
	readonly #servicePods: ServicePods;
	readonly #journal: PodJournal;
	readonly #make: (service: Service, pods: readonly Pod[]) => Index;

	constructor(
		{ servicePods, journal }: { readonly servicePods: ServicePods; readonly journal: PodJournal },
		make: (service: Service, pods: readonly Pod[]) => Index,
	) {
		this.#servicePods = servicePods;
		this.#journal = journal;
		this.#make = make;
	}

	/** Brings what is kept up to date. What triggered the change is told once. */
	see(key: string, service: Service): ServiceView<Index> {
		const changes = this.#journal.take(service);
		const known = this.triggerTimes.get(key);
		const kept = this.#indexes.get(key);
		if (changes.kind === "some" && known !== undefined && kept !== undefined) {
			for (const name of changes.gone) kept.remove(name);
			for (const pod of changes.changed) kept.put(pod);
			const { triggerTime, next } = steppedTriggerTime(known, service, changes);
			this.triggerTimes.set(key, next);
			return { index: kept, triggerTime };
		}
		const pods = changes.kind === "all" ? changes.pods : this.#servicePods.podsOf(service);
		const index = this.#make(service, pods);
		const { triggerTime, next } = nextTriggerTime(known, service, pods);
		this.#indexes.set(key, index);
		this.triggerTimes.set(key, next);
		return { index, triggerTime };
	}

	forget(key: string): void {
		this.triggerTimes.delete(key);
		this.#indexes.delete(key);
		this.#journal.forget(key);
	}
}
