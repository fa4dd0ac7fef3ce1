/** Everything that one Pod means to one Service, so that it is worked out once per change of the Pod. */
import type { Node, Pod, Service } from "../../api/types/core.ts";
import type { Endpoint } from "../../api/types/discovery.ts";
import type { IPFamily } from "../../api/types/meta.ts";
import { endpointOf, identityOf } from "./endpoint.ts";
import { type PortGroup, portGrouping } from "./port-group.ts";

export interface PodEntry {
	readonly group: PortGroup;
	/** undefined: the Pod has no address of the family. */
	endpoint(family: IPFamily): IdentifiedEndpoint | undefined;
}

export interface IdentifiedEndpoint {
	readonly identity: string;
	readonly endpoint: Endpoint;
}

/** Works out entries of the Pods of one Service. */
export interface PodEntries {
	of(pod: Pod, node: Node | undefined): PodEntry;
}

interface Remembered {
	readonly node: Node | undefined;
	readonly entry: PodEntry;
}

/**
 * Remembers by the identity of objects, which are frozen: the same Pod and Node give the same entry. Keep it
 * as long as the Service's object is the same.
 */
export class RememberedEntries implements PodEntries {
	readonly service: Service;
	readonly #groupOf: (pod: Pod) => PortGroup;
	readonly #byPod = new WeakMap<Pod, Remembered>();

	constructor(service: Service) {
		this.service = service;
		this.#groupOf = portGrouping(service);
	}

	of(pod: Pod, node: Node | undefined): PodEntry {
		const known = this.#byPod.get(pod);
		if (known !== undefined && known.node === node) return known.entry;
		const entry = podEntry(this.#groupOf(pod), pod, this.service, node);
		this.#byPod.set(pod, { node, entry });
		return entry;
	}
}

function podEntry(group: PortGroup, pod: Pod, service: Service, node: Node | undefined): PodEntry {
	const made = new Map<IPFamily, IdentifiedEndpoint | undefined>();
	return {
		group,
		endpoint(family) {
			if (!made.has(family)) {
				const endpoint = endpointOf(pod, service, { node, family });
				made.set(family, endpoint === undefined ? undefined : { identity: identityOf(endpoint), endpoint });
			}
			return made.get(family);
		},
	};
}
