/** What the zone knows of one Service: made anew whenever the Service or one of its slices changes. */
import { canonicalIP, familyOf } from "../../api/ip.ts";
import type { EndpointSlice } from "../../api/types/discovery.ts";
import type { IPFamily } from "../../api/types/meta.ts";
import type { ServedService } from "../service-map/served-service.ts";

const NAME_LENGTH_MAX = 253;
const LABEL_LENGTH_MAX = 63;

export interface NamedPort {
	/** "" when it has none. */
	readonly name: string;
	/** In small letters: `tcp`. */
	readonly protocol: string;
	readonly port: number;
}

/** One address of one endpoint that is ready. */
export interface EndpointRecord {
	/** Its name below the Service's: the hostname, else the address with dashes. */
	readonly label: string;
	readonly address: string;
	readonly family: IPFamily;
	readonly ports: readonly NamedPort[];
}

export interface ServiceRecords {
	readonly namespace: string;
	readonly name: string;
	/** `none`: the Service has no address and no name of its own in DNS. */
	readonly kind: "cluster-ip" | "headless" | "external-name" | "none";
	readonly clusterIPs: readonly string[];
	/** Of the Service itself; endpoints have their own. */
	readonly ports: readonly NamedPort[];
	/** In the order of slices and endpoints, each address under each name once. */
	readonly endpoints: readonly EndpointRecord[];
	/** In small letters, with a dot at its end. */
	readonly externalName: string;
}

export function serviceRecords({ service, slices }: Pick<ServedService, "service" | "slices">): ServiceRecords {
	const { namespace = "", name } = service.metadata;
	const { spec } = service;
	const { clusterIP = "", clusterIPs = clusterIP === "" ? [] : [clusterIP] } = spec;
	const ports = (spec.ports ?? []).map(({ name: portName = "", protocol = "TCP", port }) => ({
		name: portName,
		protocol: protocol.toLowerCase(),
		port,
	}));
	return {
		namespace,
		name,
		kind: kindOf(spec.type, clusterIP, spec.externalName ?? ""),
		clusterIPs: clusterIPs.filter((ip) => familyOf(ip) !== undefined).map((ip) => canonicalIP(ip) ?? ip),
		ports,
		endpoints: merged(slices.flatMap(endpointsOf)),
		externalName: `${(spec.externalName ?? "").toLowerCase().replace(/\.$/, "")}.`,
	};
}

function kindOf(type: string | undefined, clusterIP: string, externalName: string): ServiceRecords["kind"] {
	// An address is no name that another could stand for.
	if (type === "ExternalName")
		return isName(externalName) && familyOf(externalName) === undefined ? "external-name" : "none";
	if (clusterIP === "None") return "headless";
	return clusterIP === "" ? "none" : "cluster-ip";
}

/** The API lets names pass that DNS cannot carry. */
function isName(name: string): boolean {
	const labels = name.replace(/\.$/, "").split(".");
	return name.length <= NAME_LENGTH_MAX && labels.every(({ length }) => length > 0 && length <= LABEL_LENGTH_MAX);
}

/** Readiness that nobody told counts as ready; who terminates is not asked for. */
function endpointsOf({ addressType, endpoints, ports }: EndpointSlice): readonly EndpointRecord[] {
	if (addressType === "FQDN") return [];
	const numbered = (ports ?? []).flatMap(({ name, protocol, port }) =>
		port === undefined || port === null
			? []
			: [{ name: name ?? "", protocol: (protocol ?? "TCP").toLowerCase(), port }],
	);
	return (endpoints ?? [])
		.filter(({ conditions }) => conditions?.ready ?? true)
		.flatMap(({ addresses, hostname = "" }) =>
			addresses.flatMap((text) => {
				const address = canonicalIP(text);
				if (address === undefined || familyOf(address) !== addressType) return [];
				const label = hostname === "" ? dashed(address) : hostname.toLowerCase();
				return [{ label, address, family: addressType, ports: numbered }];
			}),
		);
}

/** An address under one name in several slices is one record, with the ports of all of them. */
function merged(endpoints: readonly EndpointRecord[]): readonly EndpointRecord[] {
	const known = new Map<string, EndpointRecord>();
	for (const endpoint of endpoints) {
		const key = `${endpoint.label} ${endpoint.address}`;
		const before = known.get(key);
		const more = endpoint.ports.filter((port) => !before?.ports.some((each) => isSamePort(each, port)));
		known.set(key, before === undefined ? endpoint : { ...before, ports: [...before.ports, ...more] });
	}
	return [...known.values()];
}

function isSamePort(a: NamedPort, b: NamedPort): boolean {
	return a.name === b.name && a.protocol === b.protocol && a.port === b.port;
}

/** A label may begin and end in letters and digits only: `fd00::` is `fd00--0`. */
function dashed(address: string): string {
	const label = address.replaceAll(/[.:]/g, "-");
	return `${label.startsWith("-") ? "0" : ""}${label}${label.endsWith("-") ? "0" : ""}`;
}
