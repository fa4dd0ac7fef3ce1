/** EndpointSlice: some of the endpoints of a Service, all of one address type and one set of ports. */
import { deepEqual, without } from "../../kernel/json.ts";
import { age } from "../age.ts";
import { ipWarnings } from "../ip-validation.ts";
import { dns1123SubdomainName } from "../names.ts";
import { ALL_VERBS, defineResource, type ResourceType } from "../resource.ts";
import type { Endpoint, EndpointPort, EndpointSlice } from "../types/discovery.ts";
import { AGE_COLUMN, column, firstThree, NAME_COLUMN } from "./cells.ts";
import { validateEndpointSlice, validateEndpointSliceUpdate } from "./endpoint-slice-validation.ts";

export const ENDPOINT_SLICE: ResourceType = defineResource<EndpointSlice>({
	group: "discovery.k8s.io",
	version: "v1",
	kind: "EndpointSlice",
	plural: "endpointslices",
	singular: "endpointslice",
	namespaced: true,
	shortNames: [],
	categories: [],
	verbs: ALL_VERBS,
	subresources: [],
	storagePrefix: "/registry/endpointslices/",
	schema: "discovery.EndpointSlice",
	nameProblems: dns1123SubdomainName,
	generation: "all-but-metadata-or-labels",
	createOnUpdate: false,
	unconditionalUpdate: true,
	deleteAnswers: "status",
	fieldLabels: [],
	table: {
		columns: [
			NAME_COLUMN,
			column("AddressType", "The type of the addresses: IPv4, IPv6 or FQDN."),
			column("Ports", "The ports of every endpoint, the first three of them."),
			column("Endpoints", "The addresses, ready or not, the first three of them."),
			AGE_COLUMN,
		],
		cells: ({ metadata, addressType, ports, endpoints }, nowMs) => [
			metadata.name,
			addressType,
			firstThree((ports ?? []).map(portCell)) || "<unset>",
			firstThree((endpoints ?? []).flatMap(({ addresses }) => addresses)) || "<unset>",
			age(nowMs, metadata.creationTimestamp),
		],
	},
	withDefaults,
	prepareCreate: (slice) => withEndpoints(slice, (slice.endpoints ?? []).map(withoutTopology)),
	prepareUpdate,
	validate: validateEndpointSlice,
	validateUpdate: validateEndpointSliceUpdate,
	warnings,
	fields: () => ({}),
});

/** Readers must find a name, if an empty one, and a protocol: some dereference them unchecked. */
function withDefaults(slice: EndpointSlice): EndpointSlice {
	const ports = (slice.ports ?? []).map((port) => ({
		...port,
		name: port.name ?? "",
		protocol: port.protocol || ("TCP" as const),
	}));
	const endpoints = (slice.endpoints ?? []).map((endpoint) => ({ ...endpoint, conditions: endpoint.conditions ?? {} }));
	return withEndpoints({ ...slice, ports: ports.length === 0 ? null : ports }, endpoints);
}

/** An empty list is printed as null. */
function withEndpoints(slice: EndpointSlice, endpoints: readonly Endpoint[]): EndpointSlice {
	return { ...slice, endpoints: endpoints.length === 0 ? null : endpoints };
}

/** `deprecatedTopology` is a field of v1beta1 that v1 only reads. */
function withoutTopology(endpoint: Endpoint): Endpoint {
	return without(endpoint, "deprecatedTopology");
}

const HOSTNAME_LABEL = "kubernetes.io/hostname";

function prepareUpdate(next: EndpointSlice, stored: EndpointSlice): EndpointSlice {
	if (deepEqual(next.endpoints ?? [], stored.endpoints ?? [])) return next;
	const oldNodes = new Set((stored.endpoints ?? []).map((endpoint) => endpoint.deprecatedTopology?.[HOSTNAME_LABEL]));
	const endpoints = (next.endpoints ?? []).map((endpoint) => {
		const nodeName = endpoint.deprecatedTopology?.[HOSTNAME_LABEL];
		const isKept = endpoint.nodeName === undefined && nodeName !== undefined && oldNodes.has(nodeName);
		return withoutTopology(isKept ? { ...endpoint, nodeName } : endpoint);
	});
	return withEndpoints(next, endpoints);
}

/** They write what pods report; telling them about odd forms would help nobody. */
const TRUSTED_WRITERS: readonly (string | undefined)[] = [
	"endpointslice-controller.k8s.io",
	"endpointslicemirroring-controller.k8s.io",
];

function warnings(slice: EndpointSlice, stored: EndpointSlice | undefined): readonly string[] {
	if (slice.addressType === "FQDN") {
		// The path has a `spec` that the kind has not: so has a real server's.
		return stored === undefined ? ["spec.addressType: FQDN endpoints are deprecated"] : [];
	}
	if (TRUSTED_WRITERS.includes(slice.metadata.labels?.["endpointslice.kubernetes.io/managed-by"])) return [];
	return (slice.endpoints ?? []).flatMap(({ addresses }, index) =>
		addresses.flatMap((address, at) => ipWarnings(`endpoints[${index}].addresses[${at}]`, address)),
	);
}

function portCell({ port, name }: EndpointPort): string {
	if (port !== undefined && port !== null) return String(port);
	// An empty name is shown as it is; only a missing one means that the slice is of another age.
	return name ?? "*";
}
