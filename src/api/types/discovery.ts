/** `discovery.k8s.io/v1`. @see https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/ */
import type { KubeObject, ObjectReference, Protocol, StringMap } from "./meta.ts";

export type AddressType = "IPv4" | "IPv6" | "FQDN";

/** Absent `port` means every port, absent `ready` means ready: consumers must treat unset as true. */
export interface EndpointPort {
	readonly name?: string | null;
	readonly protocol?: Protocol | null;
	readonly port?: number | null;
	readonly appProtocol?: string | null;
}

export interface EndpointConditions {
	readonly ready?: boolean | null;
	readonly serving?: boolean | null;
	readonly terminating?: boolean | null;
}

export interface EndpointHints {
	readonly forZones?: readonly { readonly name: string }[];
	readonly forNodes?: readonly { readonly name: string }[];
}

export interface Endpoint {
	/** 1 to 100; consumers may use the first only. */
	readonly addresses: readonly string[];
	readonly conditions: EndpointConditions;
	readonly hostname?: string;
	readonly targetRef?: ObjectReference;
	readonly deprecatedTopology?: StringMap;
	readonly nodeName?: string;
	readonly zone?: string;
	readonly hints?: EndpointHints;
}

export interface EndpointSlice extends KubeObject {
	readonly addressType: AddressType;
	/** null when empty: these two fields are always printed. */
	readonly endpoints: readonly Endpoint[] | null;
	readonly ports: readonly EndpointPort[] | null;
}
