/** Endpoints that somebody makes by hand: are any ready, and do the Pods that they stand for exist? */
import type { Endpoints } from "../api/types/core.ts";
import type { Endpoint, EndpointSlice } from "../api/types/discovery.ts";
import { ENDPOINTSLICEMIRRORING_CONTROLLER, SLICE_MANAGED_BY_LABEL } from "../api/well-known.ts";
import { type Evidence, type Finding, few, finding } from "./finding.ts";
import { type Fix, kubectl, patchFix } from "./fix.ts";
import { isStale } from "./stale-checks.ts";
import type { Subject } from "./subject.ts";

/** Of a Service without a selector. */
export function manualEndpoints(subject: Subject): readonly Finding[] {
	return [...unready(subject), ...missingPods(subject), ...otherNamespaces(subject)];
}

export function endpointsName({ metadata }: Endpoints): string {
	return `Endpoints/${metadata.name}`;
}

interface Listed {
	readonly slice: EndpointSlice;
	readonly endpoint: Endpoint;
	/** Its place in the slice. */
	readonly at: number;
}

function listed({ slices }: Subject): readonly Listed[] {
	return slices
		.filter((slice) => !isStale(slice))
		.flatMap((slice) => (slice.endpoints ?? []).map((endpoint, at) => ({ slice, endpoint, at })));
}

function nameOf({ metadata }: EndpointSlice): string {
	return `EndpointSlice/${metadata.name}`;
}

function isMirrored({ metadata }: EndpointSlice): boolean {
	return metadata.labels?.[SLICE_MANAGED_BY_LABEL] === ENDPOINTSLICEMIRRORING_CONTROLLER;
}

function isReady({ conditions }: Endpoint): boolean {
	return conditions?.ready !== false;
}

function addressOf({ addresses }: Endpoint): string {
	return addresses[0] ?? "no address";
}

function unready(subject: Subject): readonly Finding[] {
	const { slices, endpoints } = subject;
	const all = listed(subject);
	if (all.length === 0) {
		// Of an address in both lists its slices say what it is.
		const isClear =
			slices.length === 0 && (endpoints?.subsets ?? []).every(({ addresses = [] }) => addresses.length === 0);
		return endpoints !== undefined && isClear ? unreadyEndpoints(subject, endpoints) : [];
	}
	// Those that are terminating serve when there are no others.
	if (
		slices.some((slice) => isStale(slice)) ||
		all.some(({ endpoint }) => isReady(endpoint) || isLastResort(endpoint))
	) {
		return [];
	}
	if (endpoints !== undefined && all.every(({ slice }) => isMirrored(slice)))
		return unreadyEndpoints(subject, endpoints);
	const names = few(all.map(({ endpoint }) => addressOf(endpoint)));
	return [
		finding(
			"manual-endpoints-not-ready",
			`No endpoint that was made by hand is ready (${names}), and those that are not get no traffic.`,
			all.slice(0, 3).map(({ slice, at }) => ({
				object: nameOf(slice),
				field: `endpoints[${at}].conditions.ready`,
				value: "false",
			})),
			readyFix(subject, all),
		),
	];
}

function isLastResort({ conditions }: Endpoint): boolean {
	return conditions?.terminating === true && conditions.serving !== false;
}

const IF_IT_SERVES = "if they serve: nobody but you says so";

/** Of the one slice there is. */
function readyFix({ namespace }: Subject, all: readonly Listed[]): Fix | string {
	const [first] = all;
	if (first === undefined || all.some(({ slice }) => slice !== first.slice || isMirrored(slice))) return IF_IT_SERVES;
	const target = { kind: "EndpointSlice", namespace, name: first.slice.metadata.name };
	const patch = all.map(({ at }) => ({ op: "add", path: `/endpoints/${at}/conditions/ready`, value: true }));
	return patchFix(target, patch, IF_IT_SERVES);
}

/** An address that is in both lists of them is not ready in the slices that are made of them. */
function unreadyEndpoints({ namespace }: Subject, endpoints: Endpoints): readonly Finding[] {
	const { subsets = [] } = endpoints;
	const waiting = subsets.flatMap(({ notReadyAddresses = [] }) => notReadyAddresses.map(({ ip }) => ip));
	const ready = subsets.flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip));
	if (waiting.length === 0 || ready.some((ip) => !waiting.includes(ip))) return [];
	const target = { kind: "Endpoints", namespace, name: endpoints.metadata.name };
	const [only] = subsets;
	const path = "/subsets/0/notReadyAddresses";
	const patch =
		ready.length > 0
			? [{ op: "remove", path }]
			: [
					{ op: "add", path: "/subsets/0/addresses", value: only?.notReadyAddresses },
					{ op: "remove", path },
				];
	return [
		finding(
			"manual-endpoints-not-ready",
			`All addresses of ${endpointsName(endpoints)} are in notReadyAddresses (${few(waiting)}), and those that are not ready get no traffic.`,
			[{ object: endpointsName(endpoints), field: "subsets[*].notReadyAddresses", value: few(waiting) }],
			subsets.length === 1 ? patchFix(target, patch, IF_IT_SERVES) : `move them to addresses, ${IF_IT_SERVES}`,
		),
	];
}

/** Endpoints that are ready and stand for Pods that are not there: nobody has told their maker. */
function missingPods(subject: Subject): readonly Finding[] {
	const { scene, namespace } = subject;
	const ready = listed(subject).filter(
		({ endpoint }) => isReady(endpoint) && endpoint.conditions?.terminating !== true,
	);
	const gone = ready.filter(({ endpoint: { targetRef } }) => {
		if (targetRef?.kind !== "Pod") return false;
		const { namespace: own = namespace, name = "" } = targetRef;
		return scene.has("Pod", own) && scene.pod(own, name) === undefined;
	});
	const [first] = gone;
	if (first === undefined) return [];
	const isAll = gone.length === ready.length;
	const names = few(gone.map(({ endpoint }) => `${addressOf(endpoint)} of Pod/${endpoint.targetRef?.name ?? ""}`));
	const which = isAll ? "All endpoints" : `${gone.length} of ${ready.length} endpoints`;
	return [
		finding(
			isAll ? "endpoints-of-missing-pods" : "endpoint-of-missing-pod",
			`${which} stand for Pods that do not exist: ${names}. Without a selector nobody updates them.`,
			gone.slice(0, 3).map(targetEvidence),
			removal(subject, first, isAll),
		),
	];
}

function targetEvidence({ slice, endpoint, at }: Listed): Evidence {
	return { object: nameOf(slice), field: `endpoints[${at}].targetRef.name`, value: endpoint.targetRef?.name ?? "" };
}

function removal({ namespace, service }: Subject, { slice, at }: Listed, isAll: boolean): Fix | string {
	const { name } = service.metadata;
	const selector = `give the Service a selector, so that a controller keeps its endpoints`;
	if (isMirrored(slice)) {
		if (!isAll) return `take the address out of Endpoints/${name}, or ${selector}`;
		return kubectl(["-n", namespace, "delete", "endpoints", name], `then ${selector}`);
	}
	const target = { kind: "EndpointSlice", namespace, name: slice.metadata.name };
	if (isAll) return kubectl(["-n", namespace, "delete", "endpointslice", slice.metadata.name], `then ${selector}`);
	return patchFix(target, [{ op: "remove", path: `/endpoints/${at}` }], `or ${selector}`);
}

function otherNamespaces(subject: Subject): readonly Finding[] {
	const { namespace, service } = subject;
	const foreign = listed(subject).filter(
		({ endpoint: { targetRef } }) => targetRef?.kind === "Pod" && (targetRef.namespace ?? namespace) !== namespace,
	);
	const [first] = foreign;
	if (first === undefined) return [];
	const names = few(
		foreign.map(({ endpoint: { targetRef } }) => `${targetRef?.namespace ?? ""}/${targetRef?.name ?? ""}`),
	);
	const other = first.endpoint.targetRef?.namespace ?? "";
	return [
		finding(
			"target-in-other-namespace",
			`Endpoints of the Service point at Pods of other namespaces: ${names}.`,
			foreign.slice(0, 3).map(({ slice, endpoint, at }) => ({
				object: nameOf(slice),
				field: `endpoints[${at}].targetRef.namespace`,
				value: endpoint.targetRef?.namespace ?? "",
			})),
			`make a Service with a selector in namespace ${other}, and ${service.metadata.name} one of type ExternalName to it`,
		),
	];
}
