/**
 * What the Pods of one Service contribute to its Endpoints, sorted, and kept from plan to plan, so that a change of
 * one Pod sorts and hashes no other. Gives the same subsets as a look at all Pods.
 */
import type { EndpointAddress, EndpointSubset, Pod, Service, SubsetPort } from "../../api/types/core.ts";
import { compareStrings, sortedBy } from "../../kernel/order.ts";
import { piecesOf } from "./pod-subsets.ts";
import type { SubsetPiece } from "./repack.ts";
import { sortedSubsetPorts, sortedSubsets } from "./repack.ts";

/** A set of ports, and the addresses of the Pods that offer exactly these. */
interface Offer {
	readonly key: string;
	readonly ports: ReadonlyMap<string, SubsetPort | undefined>;
	readonly ready: EndpointAddress[];
	readonly notReady: EndpointAddress[];
}

interface Place {
	readonly offer: Offer;
	readonly address: EndpointAddress;
	readonly isReady: boolean;
}

/** Holds for one Service object. */
export class SubsetIndex {
	readonly service: Service;
	readonly #offers = new Map<string, Offer>();
	/** By name of the Pod. */
	readonly #places = new Map<string, Place>();

	constructor(service: Service, pods: Iterable<Pod>) {
		this.service = service;
		for (const pod of pods) this.#place(pod);
		for (const { ready, notReady } of this.#offers.values()) {
			ready.sort(byAddress);
			notReady.sort(byAddress);
		}
	}

	/** A Pod that the Service selects is new, or has changed. */
	put(pod: Pod): void {
		this.remove(pod.metadata.name);
		const place = this.#place(pod);
		if (place === undefined) return;
		const list = listOf(place);
		list.pop();
		list.splice(positionOf(list, place.address), 0, place.address);
	}

	/** The Pod of this name is gone, or no longer selected. */
	remove(pod: string): void {
		const place = this.#places.get(pod);
		if (place === undefined) return;
		this.#places.delete(pod);
		const { offer, address } = place;
		const list = listOf(place);
		list.splice(list.indexOf(address, positionOf(list, address)), 1);
		if (offer.ready.length + offer.notReady.length === 0) this.#offers.delete(offer.key);
	}

	subsets(): readonly EndpointSubset[] {
		const offers = [...this.#offers.values()];
		const ports = new Map(offers.flatMap(({ ports: offered }) => [...offered]));
		const groups = new Map<string, { readonly offers: readonly Offer[]; readonly ports: SubsetPort[] }>();
		for (const [portKey, port] of ports) {
			const offering = offers.filter((offer) => offer.ports.has(portKey));
			const id = offering.map(({ key }) => key).join("\n");
			const group = groups.get(id) ?? { offers: offering, ports: [] };
			groups.set(id, group);
			if (port !== undefined) group.ports.push(port);
		}
		return sortedSubsets([...groups.values()].map((group) => subsetOf(group.offers, group.ports)));
	}

	/** Puts the address at the end of its list. */
	#place(pod: Pod): Place | undefined {
		const pieces = piecesOf(this.service, pod);
		const [first] = pieces;
		if (first === undefined) return undefined;
		const { address, isReady } = first;
		const place = { offer: this.#offerOf(pieces), address, isReady };
		listOf(place).push(address);
		this.#places.set(pod.metadata.name, place);
		return place;
	}

	#offerOf(pieces: readonly SubsetPiece[]): Offer {
		const ports = new Map(sortedBy(pieces, ({ portKey }) => portKey).map(({ portKey, port }) => [portKey, port]));
		const key = [...ports.keys()].join();
		const offer = this.#offers.get(key) ?? { key, ports, ready: [], notReady: [] };
		this.#offers.set(key, offer);
		return offer;
	}
}

function listOf({ offer, isReady }: Place): EndpointAddress[] {
	return isReady ? offer.ready : offer.notReady;
}

/** One Pod has one address, so that no two are equal. */
function byAddress(a: EndpointAddress, b: EndpointAddress): number {
	return compareStrings(a.ip, b.ip) || compareStrings(a.targetRef?.uid ?? "", b.targetRef?.uid ?? "");
}

/** Where the address is, or belongs. */
function positionOf(sorted: readonly EndpointAddress[], address: EndpointAddress): number {
	let low = 0;
	let high = sorted.length;
	while (low < high) {
		const middle = (low + high) >>> 1;
		if (byAddress(sorted[middle] as EndpointAddress, address) < 0) low = middle + 1;
		else high = middle;
	}
	return low;
}

function subsetOf(offers: readonly Offer[], ports: readonly SubsetPort[]): EndpointSubset {
	const merged = (lists: readonly (readonly EndpointAddress[])[]): readonly EndpointAddress[] =>
		lists.length === 1 ? [...(lists[0] ?? [])] : lists.flat().sort(byAddress);
	const addresses = merged(offers.map(({ ready }) => ready));
	const notReadyAddresses = merged(offers.map(({ notReady }) => notReady));
	return {
		...(addresses.length === 0 ? {} : { addresses }),
		...(notReadyAddresses.length === 0 ? {} : { notReadyAddresses }),
		...(ports.length === 0 ? {} : { ports: sortedSubsetPorts(ports) }),
	};
}
