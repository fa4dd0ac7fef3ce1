/** The Service `kube-dns`, by which Pods reach the cluster's DNS, where that does not run in Pods. */
import { addressAt, type CIDR } from "../api/ip.ts";
import type { Service } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import type { Draft, IPFamily } from "../api/types/meta.ts";
import { SERVICE_NAME_LABEL } from "../api/well-known.ts";

export const DNS_SERVICE = { namespace: "kube-system", name: "kube-dns" } as const;
/** Everybody's tenth address is that of DNS. */
const OFFSET = 10;
const PORT = 53;
const PORTS = [
	{ name: "dns", protocol: "UDP" },
	{ name: "dns-tcp", protocol: "TCP" },
] as const;

export function dnsClusterIP(serviceRange: CIDR): string {
	return addressAt(serviceRange, OFFSET);
}

/** @param serviceRanges One for each family, the primary one first. */
export function dnsService(serviceRanges: readonly CIDR[]): Draft<Service> {
	const clusterIPs = serviceRanges.map(dnsClusterIP);
	const [clusterIP = ""] = clusterIPs;
	return {
		metadata: { name: DNS_SERVICE.name, labels: { "k8s-app": "kube-dns", "kubernetes.io/name": "CoreDNS" } },
		spec: {
			type: "ClusterIP",
			clusterIP,
			clusterIPs,
			ipFamilies: serviceRanges.map(({ base }) => base.family),
			ipFamilyPolicy: serviceRanges.length > 1 ? "RequireDualStack" : "SingleStack",
			ports: PORTS.map((port) => ({ ...port, port: PORT, targetPort: PORT })),
		},
	};
}

/** @param address Where DNS is served. */
export function dnsEndpointSlice(family: IPFamily, address: string): Draft<EndpointSlice> {
	return {
		metadata: {
			name: `${DNS_SERVICE.name}-${family.toLowerCase()}`,
			labels: { [SERVICE_NAME_LABEL]: DNS_SERVICE.name },
		},
		addressType: family,
		endpoints: [{ addresses: [address], conditions: { ready: true } }],
		ports: PORTS.map((port) => ({ ...port, port: PORT })),
	};
}
