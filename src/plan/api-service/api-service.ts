/**
 * The Service `kubernetes` in `default`, by which Pods reach the API, and its endpoints.
 *
 * @see https://kubernetes.io/docs/tasks/access-application-cluster/access-cluster-api/
 */
import { addressAt, type CIDR, canonicalIP, familyOf } from "../../api/ip.ts";
import { validateEndpointIP } from "../../api/ip-validation.ts";
import type { Endpoints, Service } from "../../api/types/core.ts";
import type { EndpointSlice } from "../../api/types/discovery.ts";
import type { Draft, IPFamily } from "../../api/types/meta.ts";
import { SERVICE_NAME_LABEL, SKIP_MIRROR_LABEL } from "../../api/well-known.ts";
import { assertDefined } from "../../kernel/assert.ts";
import { compareStrings } from "../../kernel/order.ts";

export const API_SERVICE = { namespace: "default", name: "kubernetes" } as const;
/** What clients outside the API call the port. */
const PORT_NAME = "https";
const PORT = 443;

/**
 * Stands in for an API that listens on loopback, which no endpoint may name. They are in the ranges of node
 * addresses, far from those that nodes have.
 */
const STAND_INS: Readonly<Record<IPFamily, string>> = {
	IPv4: "192.168.255.254",
	IPv6: "fd00:192:168::ffff:fffe",
};

export interface ApiPlace {
	/** Where the API listens: an address, or a name such as `localhost`. */
	readonly host: string;
	readonly port: number;
	/** The primary range of cluster IPs; its first usable address is the Service's. */
	readonly serviceRange: CIDR;
}

/** An API server, as the endpoints have it. */
export interface ApiAddress {
	readonly ip: string;
	readonly port: number;
}

export function apiAddress(place: ApiPlace): ApiAddress {
	return { ip: apiEndpointIP(place), port: place.port };
}

/** The address in the endpoints: the API's own when others could reach it there. */
export function apiEndpointIP({ host, serviceRange }: ApiPlace): string {
	const { family } = serviceRange.base;
	const isUsable = familyOf(host) === family && validateEndpointIP("", host).length === 0;
	return (isUsable ? canonicalIP(host) : undefined) ?? STAND_INS[family];
}

export function apiService({ port, serviceRange }: ApiPlace): Draft<Service> {
	const clusterIP = addressAt(serviceRange, 1);
	return {
		metadata: { name: API_SERVICE.name, labels: { component: "apiserver", provider: "kubernetes" } },
		spec: {
			type: "ClusterIP",
			clusterIP,
			clusterIPs: [clusterIP],
			ipFamilies: [serviceRange.base.family],
			ipFamilyPolicy: "SingleStack",
			ports: [{ name: PORT_NAME, port: PORT, protocol: "TCP", targetPort: port }],
			sessionAffinity: "None",
		},
	};
}

/** Mirroring would only make a second slice of them. */
export function apiEndpoints(servers: readonly ApiAddress[]): Draft<Endpoints> {
	return {
		metadata: { name: API_SERVICE.name, labels: { [SKIP_MIRROR_LABEL]: "true" } },
		subsets: byPort(servers).map(({ port, ips }) => ({
			addresses: ips.map((ip) => ({ ip })),
			ports: [{ name: PORT_NAME, port, protocol: "TCP" as const }],
		})),
	};
}

/** The port of most servers first, the lowest of equals; addresses sorted: all servers must come to the same. */
function byPort(servers: readonly ApiAddress[]): readonly { readonly port: number; readonly ips: readonly string[] }[] {
	const groups = new Map<number, string[]>();
	for (const { ip, port } of servers) groups.set(port, [...(groups.get(port) ?? []), ip]);
	return [...groups]
		.map(([port, ips]) => ({ port, ips: ips.sort(compareStrings) }))
		.sort((a, b) => b.ips.length - a.ips.length || a.port - b.port);
}

/**
 * Kept by nobody but the API itself, so no controller's name is on it. One slice has one set of ports: servers that
 * listen on another one than most are in the Endpoints alone.
 */
export function apiEndpointSlice({ serviceRange }: ApiPlace, servers: readonly ApiAddress[]): Draft<EndpointSlice> {
	const { port, ips } = assertDefined(byPort(servers)[0], "an API server");
	return {
		metadata: { name: API_SERVICE.name, labels: { [SERVICE_NAME_LABEL]: API_SERVICE.name } },
		addressType: serviceRange.base.family,
		endpoints: ips.map((ip) => ({ addresses: [ip], conditions: { ready: true } })),
		ports: [{ name: PORT_NAME, port, protocol: "TCP" }],
	};
}
