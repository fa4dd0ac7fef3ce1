/** Endpoints: all addresses of a Service in one object. Deprecated in favour of EndpointSlice. */
import { age } from "../age.ts";
import { ipWarnings } from "../ip-validation.ts";
import { dns1123SubdomainName } from "../names.ts";
import { ALL_VERBS, defineResource, type ResourceType } from "../resource.ts";
import type { EndpointSubset, Endpoints } from "../types/core.ts";
import { AGE_COLUMN, column, firstThree, NAME_COLUMN } from "./cells.ts";
import { validateEndpoints, validateEndpointsUpdate } from "./endpoints-validation.ts";

export const ENDPOINTS_TYPE: ResourceType = defineResource<Endpoints>({
	group: "",
	version: "v1",
	kind: "Endpoints",
	plural: "endpoints",
	singular: "endpoints",
	namespaced: true,
	shortNames: ["ep"],
	categories: [],
	verbs: ALL_VERBS,
	subresources: [],
	storagePrefix: "/registry/services/endpoints/",
	schema: "core.Endpoints",
	nameProblems: dns1123SubdomainName,
	generation: "never",
	createOnUpdate: true,
	unconditionalUpdate: true,
	deleteAnswers: "status",
	fieldLabels: [],
	deprecation: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
	table: {
		columns: [
			NAME_COLUMN,
			column("Endpoints", "The ready addresses with their ports, the first three of them."),
			AGE_COLUMN,
		],
		cells: ({ metadata, subsets = [] }, nowMs) => [
			metadata.name,
			subsets.length === 0 ? "<none>" : firstThree(subsets.flatMap(endpointTexts)),
			age(nowMs, metadata.creationTimestamp),
		],
	},
	withDefaults,
	prepareCreate: (endpoints) => endpoints,
	prepareUpdate: (next) => next,
	validate: validateEndpoints,
	validateUpdate: validateEndpointsUpdate,
	warnings,
	fields: () => ({}),
});

function withDefaults(endpoints: Endpoints): Endpoints {
	if (endpoints.subsets === undefined) return endpoints;
	return { ...endpoints, subsets: endpoints.subsets.map(withPortDefaults) };
}

function withPortDefaults(subset: EndpointSubset): EndpointSubset {
	if (subset.ports === undefined) return subset;
	return { ...subset, ports: subset.ports.map((port) => ({ ...port, protocol: port.protocol || "TCP" })) };
}

/** The controller writes what pods report; telling it about odd forms would help nobody. */
function warnings({ metadata, subsets = [] }: Endpoints): readonly string[] {
	if (metadata.labels?.["endpoints.kubernetes.io/managed-by"] === "endpoint-controller") return [];
	return subsets.flatMap((subset, index) =>
		(["addresses", "notReadyAddresses"] as const).flatMap((list) =>
			(subset[list] ?? []).flatMap(({ ip }, at) => ipWarnings(`subsets[${index}].${list}[${at}].ip`, ip)),
		),
	);
}

/** Ready addresses only, port by port. A subset without ports shows bare addresses. */
function endpointTexts({ addresses = [], ports = [] }: EndpointSubset): readonly string[] {
	if (ports.length === 0) return addresses.map(({ ip }) => ip);
	return ports.flatMap(({ port }) =>
		addresses.map(({ ip }) => (ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`)),
	);
}
