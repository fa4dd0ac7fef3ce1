/**
 * The canonical form of subsets: ports with the same addresses share a subset, everything sorted.
 *
 * Ports and subsets are hashed only to be sorted, so a single one of them is not hashed at all.
 */
import type { EndpointAddress, EndpointSubset, SubsetPort } from "../../api/types/core.ts";
import { compareStrings, sortedBy } from "../../kernel/order.ts";
import { subsetHash, subsetPortHash } from "./subset-hash.ts";

/** One address that offers one port. */
export interface SubsetPiece {
	readonly address: EndpointAddress;
	readonly isReady: boolean;
	/** Pieces with equal keys mean the same port. */
	readonly portKey: string;
	/** undefined: the address is listed without ports. */
	readonly port: SubsetPort | undefined;
}

interface Placed {
	readonly address: EndpointAddress;
	readonly isReady: boolean;
}

interface PortAddresses {
	readonly port: SubsetPort | undefined;
	readonly placed: Map<string, Placed>;
}

export function canonicalSubsets(pieces: Iterable<SubsetPiece>): readonly EndpointSubset[] {
	const groups: { readonly placed: ReadonlyMap<string, Placed>; readonly ports: SubsetPort[] }[] = [];
	for (const { port, placed } of addressesByPort(pieces)) {
		const known = groups.find((group) => samePlaced(group.placed, placed));
		const group = known ?? { placed, ports: [] };
		if (known === undefined) groups.push(group);
		if (port !== undefined) group.ports.push(port);
	}
	return sortedSubsets(groups.map(({ placed, ports }) => subsetOf([...placed.values()], ports)));
}

export function sortedSubsets(subsets: readonly EndpointSubset[]): readonly EndpointSubset[] {
	return subsets.length < 2 ? subsets : sortedBy(subsets, memoised(subsetHash));
}

export function sortedSubsetPorts(ports: readonly SubsetPort[]): readonly SubsetPort[] {
	return ports.length < 2 ? ports : sortedBy(ports, memoised(subsetPortHash));
}

/**
 * Whether {@link repacked} would change nothing but leave out empty lists. Says no when that is not cheap to tell:
 * for more than one subset or port.
 */
export function isPacked(subsets: readonly EndpointSubset[]): boolean {
	const [only, ...others] = subsets;
	if (only === undefined) return true;
	const { addresses = [], notReadyAddresses = [], ports = [] } = only;
	if (others.length > 0 || ports.length > 1 || addresses.length + notReadyAddresses.length === 0) return false;
	return isAscending(addresses) && isAscending(notReadyAddresses) && areApart(addresses, notReadyAddresses);
}

function isAscending(addresses: readonly EndpointAddress[]): boolean {
	return addresses.every((address, at) => {
		const before = addresses[at - 1];
		return (address.targetRef?.uid ?? "") !== "" && (before === undefined || byAddress(before, address) < 0);
	});
}

/** Of two sorted lists: whether no address is in both. */
function areApart(a: readonly EndpointAddress[], b: readonly EndpointAddress[]): boolean {
	const [shorter, longer] = a.length < b.length ? [a, b] : [b, a];
	const ids = new Set(shorter.map(idOf));
	return ids.size === 0 || !longer.some((address) => ids.has(idOf(address)));
}

function idOf({ ip, targetRef }: EndpointAddress): string {
	return `${ip}|${targetRef?.uid ?? ""}`;
}

/** Stored subsets, canonical. Ports with an appProtocol count as different ones, as in upstream's repacking. */
export function repacked(subsets: readonly EndpointSubset[]): readonly EndpointSubset[] {
	const pieces = subsets.flatMap((subset, at) => {
		const ports: readonly (SubsetPort | undefined)[] =
			(subset.ports ?? []).length === 0 ? [undefined] : (subset.ports ?? []);
		return ports.flatMap((port, index) =>
			piecesOf(subset, port, port?.appProtocol === undefined ? "" : `${at}.${index}`),
		);
	});
	return canonicalSubsets(pieces);
}

function piecesOf(subset: EndpointSubset, port: SubsetPort | undefined, distinction: string): SubsetPiece[] {
	const portKey = portKeyOf(port, distinction);
	const piece = (isReady: boolean) => (address: EndpointAddress) => ({ address, isReady, portKey, port });
	return [...(subset.addresses ?? []).map(piece(true)), ...(subset.notReadyAddresses ?? []).map(piece(false))];
}

/** `distinction` keeps ports apart that look the same. */
export function portKeyOf(port: SubsetPort | undefined, distinction: string): string {
	return port === undefined ? "" : `${port.name ?? ""}/${port.port}/${port.protocol ?? ""}/${distinction}`;
}

/** The first form of an address that is seen is used everywhere. An address both ready and not is not. */
function addressesByPort(pieces: Iterable<SubsetPiece>): Iterable<PortAddresses> {
	const addresses = new Map<string, EndpointAddress>();
	const byPort = new Map<string, PortAddresses>();
	for (const { address, isReady, portKey, port } of pieces) {
		const id = idOf(address);
		const first = addresses.get(id) ?? address;
		addresses.set(id, first);
		const { placed } = byPort.get(portKey) ?? added(byPort, portKey, { port, placed: new Map() });
		const isReadySoFar = placed.get(id)?.isReady ?? true;
		placed.set(id, { address: first, isReady: isReadySoFar && isReady });
	}
	return byPort.values();
}

function added<K, V>(map: Map<K, V>, key: K, value: V): V {
	map.set(key, value);
	return value;
}

function samePlaced(a: ReadonlyMap<string, Placed>, b: ReadonlyMap<string, Placed>): boolean {
	if (a.size !== b.size) return false;
	for (const [id, { isReady }] of a) if (b.get(id)?.isReady !== isReady) return false;
	return true;
}

function subsetOf(placed: readonly Placed[], ports: readonly SubsetPort[]): EndpointSubset {
	const addresses = sortedAddresses(placed.filter(({ isReady }) => isReady));
	const notReadyAddresses = sortedAddresses(placed.filter(({ isReady }) => !isReady));
	return {
		...(addresses.length === 0 ? {} : { addresses }),
		...(notReadyAddresses.length === 0 ? {} : { notReadyAddresses }),
		...(ports.length === 0 ? {} : { ports: sortedSubsetPorts(ports) }),
	};
}

/** By the text of the IP, so 10.0.0.10 comes before 10.0.0.2; then those without a target, then by its uid. */
function sortedAddresses(placed: readonly Placed[]): readonly EndpointAddress[] {
	const addresses = placed.map(({ address }) => address);
	return addresses.sort(byAddress);
}

function byAddress(a: EndpointAddress, b: EndpointAddress): number {
	return (
		compareStrings(a.ip, b.ip) ||
		Number(a.targetRef !== undefined) - Number(b.targetRef !== undefined) ||
		compareStrings(a.targetRef?.uid ?? "", b.targetRef?.uid ?? "")
	);
}

/** Sorting asks for a key more than once. */
function memoised<T extends object>(keyOf: (item: T) => string): (item: T) => string {
	const keys = new Map<T, string>();
	return (item) => keys.get(item) ?? added(keys, item, keyOf(item));
}
