/**
 * Endpoints share a slice only if they have the same ports.
 *
 * The order of ports in a slice is that of upstream's hashes: FNV-1a (128 bits) over the text that
 * Go's dumper makes of a port. The key of a group is nobody's business but ours.
 */
import type { Pod, Service } from "../../api/types/core.ts";
import type { EndpointPort } from "../../api/types/discovery.ts";
import { fnv128aHex } from "../../kernel/fnv.ts";
import { sortedBy } from "../../kernel/order.ts";
import { resolvedPort } from "../pod-facts.ts";

export interface PortGroup {
	/** Equal for equal sets of ports, whatever their order. */
	readonly key: string;
	/** In the order in which slices list them. */
	readonly ports: readonly EndpointPort[];
}

/** The group of a slice that is there already. Null ports are no ports. */
export function portGroupKey(ports: readonly EndpointPort[] | null | undefined): string {
	return (ports ?? []).map(portKey).sort().join();
}

function portKey({ name, protocol, port, appProtocol }: EndpointPort): string {
	return JSON.stringify([name ?? null, protocol ?? null, port ?? null, appProtocol ?? null]);
}

export function sortedPorts(ports: readonly EndpointPort[]): readonly EndpointPort[] {
	return ports.length < 2 ? ports : sortedBy(ports, portHash);
}

/** `(v1.EndpointPort){Name:(*string)http Protocol:(*v1.Protocol)TCP Port:(*int32)80 AppProtocol:(*string)<nil>}` */
export function portHash({ name, protocol, port, appProtocol }: EndpointPort): string {
	const show = (value: string | number | null | undefined): string => `${value ?? "<nil>"}`;
	const fields = [
		`Name:(*string)${show(name)}`,
		`Protocol:(*v1.Protocol)${show(protocol)}`,
		`Port:(*int32)${show(port)}`,
		`AppProtocol:(*string)${show(appProtocol)}`,
	];
	return fnv128aHex(`(v1.EndpointPort){${fields.join(" ")}}`);
}

/**
 * The ports of the Service on this Pod. A port that the Pod does not have is left out; a Pod may be
 * left with none, and still belongs to the group without ports.
 */
export function portsOf(pod: Pod, service: Service): readonly EndpointPort[] {
	const ports = (service.spec.ports ?? []).flatMap((port): EndpointPort[] => {
		const number = resolvedPort(pod, port);
		if (number === undefined) return [];
		return [
			{
				name: port.name ?? "",
				protocol: port.protocol ?? "TCP",
				port: number,
				...(port.appProtocol === undefined ? {} : { appProtocol: port.appProtocol }),
			},
		];
	});
	return sortedPorts(ports);
}

/** Finds the group of a Pod of one Service. Pods with the same numbers get the same object, made once. */
export function portGrouping(service: Service): (pod: Pod) => PortGroup {
	const servicePorts = service.spec.ports ?? [];
	const groups = new Map<string, PortGroup>();
	return (pod) => {
		const numbers = servicePorts.map((port) => resolvedPort(pod, port)).join();
		const known = groups.get(numbers);
		if (known !== undefined) return known;
		const ports = portsOf(pod, service);
		const group = { key: portGroupKey(ports), ports };
		groups.set(numbers, group);
		return group;
	};
}
