/** Which Pods a Service means. */
import type { Pod, Service } from "../api/types/core.ts";
import type { StringMap } from "../api/types/meta.ts";
import { ownValue } from "../kernel/json.ts";

/**
 * The selector of a Service whose endpoints follow Pods; undefined if nothing is to be kept for it.
 * An empty selector does not survive the API's storage, so it counts as none.
 */
export function endpointSelectorOf(service: Service): StringMap | undefined {
	return service.spec.type === "ExternalName" ? undefined : selectorOf(service);
}

/** The selector whatever the type: changes of Pods wake ExternalName Services too, as upstream has it. */
export function selectorOf(service: Service): StringMap | undefined {
	const { selector } = service.spec;
	return selector === undefined || Object.keys(selector).length === 0 ? undefined : selector;
}

export function matchesSelector(selector: StringMap, labels: StringMap | undefined): boolean {
	return labels !== undefined && Object.keys(selector).every((key) => ownValue(labels, key) === selector[key]);
}

export function selectedPods(pods: Iterable<Pod>, service: Service): readonly Pod[] {
	const selector = endpointSelectorOf(service);
	if (selector === undefined) return [];
	const { namespace } = service.metadata;
	return [...pods].filter(
		({ metadata }) => metadata.namespace === namespace && matchesSelector(selector, metadata.labels),
	);
}

/** No cluster IP: `None`, or not allocated yet. */
export function isHeadless(service: Service): boolean {
	const { clusterIP } = service.spec;
	return clusterIP === undefined || clusterIP === "" || clusterIP === "None";
}
