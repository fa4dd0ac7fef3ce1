/** What is wrong with the slices and Endpoints of a cluster that has come to rest. */
import { keyOf } from "../api/resource.ts";
import { ENDPOINT_SLICES, ENDPOINTS, NODES, PODS, SERVICES } from "../api/resource-names.ts";
import type { Endpoints, Node, Pod, Service } from "../api/types/core.ts";
import type { Endpoint, EndpointSlice } from "../api/types/discovery.ts";
import type { Draft } from "../api/types/meta.ts";
import {
	ENDPOINTSLICE_CONTROLLER,
	ENDPOINTSLICEMIRRORING_CONTROLLER,
	SERVICE_NAME_LABEL,
	SLICE_MANAGED_BY_LABEL,
} from "../api/well-known.ts";
import type { ApiClient } from "../machinery/api-client.ts";
import { planEndpoints } from "../plan/endpoints/plan-endpoints.ts";
import { planEndpointSlices } from "../plan/endpointslice/plan-slices.ts";
import { mayBeMirrored, wantsMirror } from "../plan/mirroring/eligibility.ts";
import { planMirror } from "../plan/mirroring/plan-mirror.ts";
import { endpointSelectorOf, selectedPods } from "../plan/service-selector.ts";
import { canonicalText } from "./canonical-text.ts";

interface Cluster {
	readonly services: readonly Service[];
	readonly pods: readonly Pod[];
	readonly nodes: ReadonlyMap<string, Node>;
	readonly slices: readonly EndpointSlice[];
	readonly endpoints: readonly Endpoints[];
	readonly excuses: Excuses;
}

/** What need not be right before every Service has been looked at once more, as in upstream. */
export interface Excuses {
	/** `namespace/name` of Services whose slices or Endpoints need not be right. */
	readonly services: ReadonlySet<string>;
	/** Nodes that come, go or move wake no Service: zones and hints are not compared. */
	readonly zones: boolean;
}

const NO_EXCUSES: Excuses = { services: new Set(), zones: false };

type Contents = Pick<Draft<EndpointSlice>, "addressType" | "ports" | "endpoints">;

/**
 * Every endpoint that the full plan wants is there under its family and ports, once, and nothing else is; no slice is
 * over the maximum; every slice and every Endpoints object has its Service.
 */
export async function sliceProblems(
	client: ApiClient,
	endpointsPerSliceMax: number,
	excuses: Excuses = NO_EXCUSES,
): Promise<readonly string[]> {
	const cluster: Cluster = {
		services: (await client.list(SERVICES, {})).items,
		pods: (await client.list(PODS, {})).items,
		nodes: new Map((await client.list(NODES, {})).items.map((node) => [node.metadata.name, node])),
		slices: (await client.list(ENDPOINT_SLICES, {})).items,
		endpoints: (await client.list(ENDPOINTS, {})).items,
		excuses,
	};
	const known = new Set(cluster.services.map(keyOf));
	const owners = new Set([...cluster.services, ...cluster.endpoints].map(({ metadata }) => metadata.uid));
	// One that was given another Service's name still goes with its owner.
	const isOwned = ({ metadata }: EndpointSlice): boolean =>
		(metadata.ownerReferences ?? []).some(({ uid }) => owners.has(uid));
	const judged = cluster.services.filter((service) => !excuses.services.has(keyOf(service)));
	const orphans = [
		...cluster.slices.filter(
			(slice) => managerOf(slice) !== undefined && !known.has(serviceKeyOf(slice)) && !isOwned(slice),
		),
		...cluster.endpoints.filter((endpoints) => !known.has(keyOf(endpoints)) && !excuses.services.has(keyOf(endpoints))),
	];
	return [
		...orphans.map((object) => `${object.kind} ${keyOf(object)} is left without its Service`),
		...cluster.slices
			.filter((slice) => managerOf(slice) === ENDPOINTSLICE_CONTROLLER)
			.filter(({ endpoints }) => (endpoints ?? []).length > endpointsPerSliceMax)
			.map((slice) => `${keyOf(slice)} is over the maximum`),
		...judged.flatMap((service) => [
			...slicesDiffer(cluster, service, endpointsPerSliceMax),
			...endpointsDiffer(cluster, service),
			...mirrorsDiffer(cluster, service),
		]),
	];
}

function slicesDiffer(cluster: Cluster, service: Service, endpointsPerSliceMax: number): readonly string[] {
	if (endpointSelectorOf(service) === undefined) return [];
	const pods = selectedPods(cluster.pods, service);
	const world = { service, pods, nodes: cluster.nodes };
	const plan = planEndpointSlices({ ...world, existing: [] }, { endpointsPerSliceMax });
	const wanted = plan.families.flatMap(({ creates }) => creates);
	const existing = slicesOf(cluster, service, ENDPOINTSLICE_CONTROLLER);
	const next = planEndpointSlices({ ...world, existing }, { endpointsPerSliceMax });
	const left = [...next.families.flatMap(({ creates, updates, deletes }) => [creates, updates, deletes])].flat().length;
	return [
		...bagsDiffer(`slices of ${keyOf(service)}`, wanted, existing, cluster.excuses),
		...(cluster.excuses.zones || left + next.unsupported.length === 0
			? []
			: [`${keyOf(service)}: ${left} writes are left to do`]),
	];
}

function endpointsDiffer({ endpoints, pods }: Cluster, service: Service): readonly string[] {
	if (endpointSelectorOf(service) === undefined) return [];
	const existing = endpoints.find((object) => keyOf(object) === keyOf(service));
	const selected = selectedPods(pods, service);
	const plan = planEndpoints({ service, pods: selected, existing: undefined });
	const wanted = plan.kind === "create" ? plan.endpoints.subsets : undefined;
	if (canonicalText(wanted) === canonicalText(existing?.subsets)) return [];
	return [`Endpoints ${keyOf(service)}: want ${canonicalText(wanted)}, not ${canonicalText(existing?.subsets)}`];
}

function mirrorsDiffer(cluster: Cluster, service: Service): readonly string[] {
	const endpoints = cluster.endpoints.find((object) => keyOf(object) === keyOf(service));
	const isMirrored = endpoints !== undefined && mayBeMirrored(endpoints) && wantsMirror(service);
	const wanted = isMirrored ? planMirror({ endpoints, existing: [] }, { addressesPerSubsetMax: 1000 }).creates : [];
	return bagsDiffer(
		`mirror of ${keyOf(service)}`,
		wanted,
		slicesOf(cluster, service, ENDPOINTSLICEMIRRORING_CONTROLLER),
		cluster.excuses,
	);
}

function slicesOf({ slices }: Cluster, service: Service, manager: string): readonly EndpointSlice[] {
	return slices.filter((slice) => managerOf(slice) === manager && serviceKeyOf(slice) === keyOf(service));
}

function bagsDiffer(
	what: string,
	wanted: readonly Contents[],
	found: readonly Contents[],
	excuses: Excuses,
): readonly string[] {
	const [want, have] = [bagOf(wanted, excuses), bagOf(found, excuses)];
	if (want.join() === have.join()) return [];
	const missing = want.filter((line) => !have.includes(line));
	const twice = have.filter((line, at) => have.indexOf(line) !== at);
	const extra = have.filter((line) => !want.includes(line));
	return [`${what}: missing [${missing}], twice [${twice}], too much [${extra}]`];
}

/** `FAMILY PORTS ENDPOINT` for each, sorted: one that is there twice shows twice. */
function bagOf(slices: readonly Contents[], { zones }: Excuses): readonly string[] {
	const compared = ({ zone, hints, ...others }: Endpoint): object => (zones ? others : { zone, hints, ...others });
	return slices
		.flatMap(({ addressType, ports, endpoints }) =>
			(endpoints ?? []).map((endpoint) => `${addressType} ${canonicalText({ ports, endpoint: compared(endpoint) })}`),
		)
		.sort();
}

function managerOf({ metadata }: EndpointSlice): string | undefined {
	return metadata.labels?.[SLICE_MANAGED_BY_LABEL];
}

function serviceKeyOf({ metadata }: EndpointSlice): string {
	return `${metadata.namespace ?? ""}/${metadata.labels?.[SERVICE_NAME_LABEL] ?? ""}`;
}
