/** What is left of endpoints that followed Pods. */
import type { Endpoints } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import { ENDPOINTSLICE_CONTROLLER, SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL } from "../api/well-known.ts";
import { type Finding, few, finding } from "./finding.ts";
import { type Fix, inTurn, kubectl } from "./fix.ts";
import type { Subject } from "./subject.ts";

export function isStale({ metadata }: EndpointSlice): boolean {
	const isControllers = metadata.labels?.[SLICE_MANAGED_BY_LABEL] === ENDPOINTSLICE_CONTROLLER;
	return isControllers && metadata.ownerReferences !== undefined;
}

/** Slices of the controller for a Service that has no selector any more. */
export function staleSlices({ service, slices, scene, namespace, key, endpoints }: Subject): readonly Finding[] {
	if (service.spec.type === "ExternalName") return [];
	const own = slices.filter(isStale);
	if (own.length === 0) return [];
	const pods = new Set(scene.podsIn(namespace).map(({ metadata }) => metadata.name));
	const gone = own
		.flatMap(({ endpoints: list }) => list ?? [])
		.flatMap(({ targetRef }) =>
			targetRef?.kind === "Pod" && !pods.has(targetRef.name ?? "") ? [targetRef.name ?? ""] : [],
		);
	const isSeen = gone.length > 0 && scene.has("Pod", namespace);
	const ghosts = isSeen ? ` Of what they list, pod ${few(gone)} does not exist.` : "";
	const copied = endpoints !== undefined && isSameAs(endpoints, own) ? endpoints : undefined;
	const also =
		copied === undefined
			? ""
			: ` So is Endpoints/${copied.metadata.name}, of which the mirroring controller makes slices again.`;
	return [
		finding(
			"stale-endpoints-of-removed-selector",
			`The Service has no selector, and has EndpointSlices of ${ENDPOINTSLICE_CONTROLLER} from when it had one; nobody updates them.${also}${ghosts}`,
			[
				...own.map(({ metadata }) => ({
					object: `EndpointSlice/${metadata.name}`,
					field: "metadata.labels",
					value: ENDPOINTSLICE_CONTROLLER,
				})),
				...(copied === undefined ? [] : [{ object: `Endpoints/${copied.metadata.name}`, field: "subsets" }]),
			],
			removal(namespace, service.metadata.name, copied, `or give ${key} its selector back`),
		),
	];
}

/** Whether the controller made them of the same Pods: they list nothing that the slices do not. */
function isSameAs({ subsets = [] }: Endpoints, slices: readonly EndpointSlice[]): boolean {
	const known = new Set(slices.flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses)));
	const listed = subsets.flatMap(({ addresses = [], notReadyAddresses = [] }) => [...addresses, ...notReadyAddresses]);
	return listed.length > 0 && listed.every(({ ip }) => known.has(ip));
}

/** The Endpoints go first: slices would be copied of them again. Slices of others stay. */
function removal(namespace: string, name: string, copied: Endpoints | undefined, text: string): Fix {
	const labels = `${SERVICE_NAME_LABEL}=${name},${SLICE_MANAGED_BY_LABEL}=${ENDPOINTSLICE_CONTROLLER}`;
	const slices = kubectl(["-n", namespace, "delete", "endpointslices", "-l", labels], text);
	if (copied === undefined) return slices;
	return inTurn([kubectl(["-n", namespace, "delete", "endpoints", copied.metadata.name]), slices], text);
}
