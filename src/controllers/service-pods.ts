/**
 * Finds the Pods of a Service and the Services of a Pod by indexes of the caches, so that neither
 * costs more with more Pods and Services in the namespace.
 */
import type { Pod, Service } from "../api/types/core.ts";
import type { KubeObject, StringMap } from "../api/types/meta.ts";
import { sortedBy } from "../kernel/order.ts";
import type { Informer } from "../machinery/informer.ts";
import { endpointSelectorOf, matchesSelector, selectedPods, selectorOf } from "../plan/service-selector.ts";

const BY_LABEL = "byLabel";
const BY_SELECTOR_PAIR = "bySelectorPair";

export class ServicePods {
	readonly #services: Informer<Service>;
	readonly #pods: Informer<Pod>;

	constructor(services: Informer<Service>, pods: Informer<Pod>) {
		this.#services = services;
		this.#pods = pods;
		pods.addIndex(BY_LABEL, labelPairs);
		services.addIndex(BY_SELECTOR_PAIR, selectorPair);
	}

	podsOf(service: Service): readonly Pod[] {
		const selector = endpointSelectorOf(service);
		if (selector === undefined) return [];
		const { namespace = "" } = service.metadata;
		const pairs = Object.entries(selector).map(([key, value]) => pair(namespace, key, value));
		const rarest = pairs.reduce((best, next) => (this.#count(next) < this.#count(best) ? next : best));
		return selectedPods(this.#pods.index(BY_LABEL, rarest), service);
	}

	/** Whatever their type: upstream wakes ExternalName Services with a selector, too. */
	servicesOf(namespace: string, labels: StringMap): readonly Service[] {
		return Object.entries(labels).flatMap(([key, value]) =>
			this.#services.index(BY_SELECTOR_PAIR, pair(namespace, key, value)).filter((service) => {
				const selector = selectorOf(service);
				return selector !== undefined && matchesSelector(selector, labels);
			}),
		);
	}

	#count(labelPair: string): number {
		return this.#pods.indexCount(BY_LABEL, labelPair);
	}
}

function pair(namespace: string, key: string, value: string): string {
	return `${namespace}/${key}=${value}`;
}

function labelPairs({ metadata }: KubeObject): readonly string[] {
	return Object.entries(metadata.labels ?? {}).map(([key, value]) => pair(metadata.namespace ?? "", key, value));
}

/** One pair is enough: a Pod that matches the selector has it. */
function selectorPair(service: Service): readonly string[] {
	const [first] = sortedBy(Object.entries(selectorOf(service) ?? {}), ([key]) => key);
	return first === undefined ? [] : [pair(service.metadata.namespace ?? "", ...first)];
}
