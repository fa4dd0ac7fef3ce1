/** What hand-made Endpoints mean in slices: endpoints by address family and ports. */
import { canonicalIP, familyOf } from "../../api/ip.ts";
import type { EndpointAddress, EndpointSubset, Endpoints, SubsetPort } from "../../api/types/core.ts";
import type { Endpoint, EndpointPort } from "../../api/types/discovery.ts";
import type { IPFamily } from "../../api/types/meta.ts";
import { repacked } from "../endpoints/repack.ts";
import { identityOf } from "../endpointslice/endpoint.ts";
import { type PortGroup, portGroupKey, sortedPorts } from "../endpointslice/port-group.ts";

export interface MirroredGroup extends PortGroup {
	readonly family: IPFamily;
	/** By identity; never empty. */
	readonly endpoints: Map<string, Endpoint>;
}

export interface MirroredGroups {
	readonly groups: ReadonlyMap<string, MirroredGroup>;
	/** Addresses that cannot be read. The API refuses them, so they are older than that rule. */
	readonly invalid: number;
	/** Addresses that are left out, the invalid ones included. */
	readonly skipped: number;
}

/** @param addressesPerSubsetMax Of both families together; ready ones go first. */
export function mirroredGroups({ subsets = [] }: Endpoints, addressesPerSubsetMax: number): MirroredGroups {
	const groups = new Map<string, MirroredGroup>();
	let invalid = 0;
	let skipped = 0;
	for (const subset of repacked(subsets)) {
		const counts = addSubset(groups, subset, addressesPerSubsetMax);
		invalid += counts.invalid;
		skipped += counts.skipped;
	}
	return { groups, invalid, skipped };
}

export function groupKey(family: string, portsKey: string): string {
	return `${family} ${portsKey}`;
}

function addSubset(
	groups: Map<string, MirroredGroup>,
	{ addresses = [], notReadyAddresses = [], ports = [] }: EndpointSubset,
	addressesMax: number,
): { readonly invalid: number; readonly skipped: number } {
	const slicePorts = sortedPorts(ports.map(slicePort));
	const portGroup: PortGroup = { key: portGroupKey(slicePorts), ports: slicePorts };
	let added = 0;
	let invalid = 0;
	const add = (address: EndpointAddress, isReady: boolean): void => {
		if (added >= addressesMax) return;
		const family = familyOf(address.ip);
		if (family === undefined) {
			invalid++;
			return;
		}
		const endpoint = endpointOf(address, isReady);
		groupOf(groups, family, portGroup).endpoints.set(identityOf(endpoint), endpoint);
		added++;
	};
	for (const address of addresses) add(address, true);
	for (const address of notReadyAddresses) add(address, false);
	return { invalid, skipped: addresses.length + notReadyAddresses.length - added };
}

function groupOf(groups: Map<string, MirroredGroup>, family: IPFamily, portGroup: PortGroup): MirroredGroup {
	const key = groupKey(family, portGroup.key);
	const known = groups.get(key);
	if (known !== undefined) return known;
	const made = { ...portGroup, family, endpoints: new Map<string, Endpoint>() };
	groups.set(key, made);
	return made;
}

function slicePort({ name = "", port, protocol, appProtocol }: SubsetPort): EndpointPort {
	return {
		name,
		...(protocol === undefined ? {} : { protocol }),
		port,
		...(appProtocol === undefined ? {} : { appProtocol }),
	};
}

/** Whoever made the Endpoints said no more than ready or not. */
function endpointOf({ ip, hostname = "", nodeName, targetRef }: EndpointAddress, ready: boolean): Endpoint {
	return {
		addresses: [canonicalIP(ip) ?? ip],
		conditions: { ready },
		...(hostname === "" ? {} : { hostname }),
		...(targetRef === undefined ? {} : { targetRef }),
		...(nodeName === undefined ? {} : { nodeName }),
	};
}
