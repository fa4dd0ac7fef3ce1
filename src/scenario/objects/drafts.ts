/** Objects as a client sends them, from the shorthand of scenario files. */
import { addressAt, parseCIDR } from "../../api/ip.ts";
import { assertDefined } from "../../kernel/assert.ts";
import type {
	EndpointsShorthand,
	Named,
	NodeShorthand,
	ObjectShorthand,
	PodShorthand,
	ServiceShorthand,
	SliceShorthand,
} from "../format/objects.ts";
import type { Raw } from "../format/vocabulary.ts";

/** What is posted: `apiVersion`, `kind`, `metadata` and the rest. */
export type Draft = Raw & { readonly metadata: Raw };

export const DEFAULT_NAMESPACE = "demo";
/** The cluster IP of a Service that is the only one. */
const ONLY_CLUSTER_IP = "10.96.0.10";
const ZONE_LABEL = "topology.kubernetes.io/zone";
const GENERATED_ADDRESSES = assertDefined(parseCIDR("10.200.0.0/16"), "range of generated addresses");

export function draftOf(shorthand: ObjectShorthand): Draft {
	switch (shorthand.kind) {
		case "Service":
			return serviceDraft(shorthand);
		case "Endpoints":
			return endpointsDraft(shorthand);
		case "EndpointSlice":
			return sliceDraft(shorthand);
		case "Node":
			return nodeDraft(shorthand);
		case "ConfigMap":
			return { apiVersion: "v1", kind: "ConfigMap", metadata: metadataOf(shorthand) };
	}
}

export function serviceDraft(shorthand: ServiceShorthand): Draft {
	// What steps add to the shorthand is not of the spec.
	const { name, ns, uid, labels, annotations, ports_generated, status_ip, kind, fieldManager, force, ...spec } =
		shorthand;
	const { spec_as: _, resourceVersion: __, ...fields } = spec;
	const ports = portsOf(shorthand, (port) => ({ targetPort: port.port }));
	return {
		apiVersion: "v1",
		kind: "Service",
		metadata: metadataOf(shorthand),
		spec: { ...fields, ...(ports === undefined ? {} : { ports }) },
	};
}

/** A Service alone in the start state has a cluster IP that scenarios can name. */
export function withOnlyClusterIP(services: readonly ServiceShorthand[]): readonly ServiceShorthand[] {
	const [only] = services;
	if (only === undefined || services.length > 1) return services;
	const { type, clusterIP, clusterIPs, ipFamilies } = only;
	const isChosen = clusterIP !== undefined || clusterIPs !== undefined || type === "ExternalName";
	const isIPv6 = Array.isArray(ipFamilies) && ipFamilies[0] === "IPv6";
	return isChosen || isIPv6 ? services : [{ ...only, clusterIP: ONLY_CLUSTER_IP }];
}

export function podDraft(shorthand: PodShorthand): Draft {
	const { node, restartPolicy, hostNetwork, hostname, subdomain, initContainers } = shorthand;
	const spec = {
		containers: (shorthand.containers ?? [{ name: "c" }]).map(withImage),
		...(initContainers === undefined ? {} : { initContainers: initContainers.map(withImage) }),
		...(node === undefined ? {} : { nodeName: node }),
		...given({ restartPolicy, hostNetwork, hostname, subdomain }),
	};
	return { apiVersion: "v1", kind: "Pod", metadata: metadataOf(shorthand), spec };
}

export function endpointsDraft({ subsets, subsets_generated, ...shorthand }: EndpointsShorthand): Draft {
	return {
		apiVersion: "v1",
		kind: "Endpoints",
		metadata: metadataOf(shorthand),
		...(subsets === undefined && subsets_generated === undefined
			? {}
			: { subsets: [...(subsets ?? []), ...generatedSubsets(subsets_generated ?? [])] }),
	};
}

export function sliceDraft(shorthand: SliceShorthand): Draft {
	const { addressType, endpoints } = shorthand;
	const ports = portsOf(shorthand, () => ({}));
	return {
		apiVersion: "discovery.k8s.io/v1",
		kind: "EndpointSlice",
		metadata: metadataOf(shorthand),
		...given({ addressType, ports, endpoints }),
	};
}

/** Its InternalIP ends in the number that is in its name. */
export function nodeDraft({ name, zone, cpu = 4, ready = true }: NodeShorthand): Draft {
	const number = /[0-9]+/.exec(name)?.[0] ?? "250";
	const capacity = { cpu: String(cpu), memory: "16Gi", pods: "110" };
	return {
		apiVersion: "v1",
		kind: "Node",
		metadata: { name, ...(zone === undefined ? {} : { labels: { [ZONE_LABEL]: zone } }) },
		status: {
			capacity,
			allocatable: capacity,
			addresses: [{ type: "InternalIP", address: `192.168.0.${number}` }],
			conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
		},
	};
}

function metadataOf({ name, ns, labels, annotations }: Omit<Named, "uid">): Raw {
	return { name, namespace: ns ?? DEFAULT_NAMESPACE, ...given({ labels, annotations }) };
}

function withImage(container: Raw | { readonly name: string }): Raw {
	return { image: "registry.example/app:1", ...container };
}

function portsOf(
	{ ports, ports_generated: generated }: Pick<ServiceShorthand, "ports" | "ports_generated">,
	more: (port: { readonly port: number }) => Raw,
): readonly Raw[] | undefined {
	if (generated === undefined) return ports;
	const made = Array.from({ length: generated.count }, (_, index) => {
		const port = { name: `p${index}`, port: generated.from + index, protocol: "TCP" };
		return { ...port, ...more(port) };
	});
	return [...(ports ?? []), ...made];
}

function generatedSubsets(generated: NonNullable<EndpointsShorthand["subsets_generated"]>): readonly Raw[] {
	let made = 0;
	const addresses = (count: number): readonly Raw[] =>
		Array.from({ length: count }, () => ({ ip: addressAt(GENERATED_ADDRESSES, ++made) }));
	return generated.map(({ addresses: ready, notReadyAddresses: notReady, ports }) => ({
		...(ready === 0 ? {} : { addresses: addresses(ready) }),
		...(notReady === 0 ? {} : { notReadyAddresses: addresses(notReady) }),
		ports,
	}));
}

/** The fields that have a value. */
function given(fields: Raw): Raw {
	return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
