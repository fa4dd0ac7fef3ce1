/** One endpoint: what a Pod looks like in a slice, and when two endpoints are the same. */
import { canonicalIP, familyOf } from "../../api/ip.ts";
import type { Node, Pod, Service } from "../../api/types/core.ts";
import type { Endpoint } from "../../api/types/discovery.ts";
import type { IPFamily, ObjectReference } from "../../api/types/meta.ts";
import { ZONE_LABEL } from "../../api/well-known.ts";
import { hostnameUnder, isReady, isTerminating } from "../pod-facts.ts";

/** undefined when the Pod has no address of the family. Without its Node an endpoint has no zone. */
export function endpointOf(
	pod: Pod,
	service: Service,
	where: { readonly node: Node | undefined; readonly family: IPFamily },
): Endpoint | undefined {
	const addresses = addressesOf(pod, where.family);
	if (addresses.length === 0) return undefined;
	const serving = isReady(pod);
	const terminating = isTerminating(pod);
	const ready = service.spec.publishNotReadyAddresses === true || (serving && !terminating);
	const hostname = hostnameUnder(service, pod);
	const { nodeName } = pod.spec;
	const zone = where.node?.metadata.labels?.[ZONE_LABEL];
	return {
		addresses,
		conditions: { ready, serving, terminating },
		...(hostname === undefined ? {} : { hostname }),
		targetRef: referenceTo(pod),
		...(nodeName === undefined || nodeName === "" ? {} : { nodeName }),
		...(zone === undefined || zone === "" ? {} : { zone }),
	};
}

/**
 * Only `podIPs` counts. What is no address at all counts as IPv4, and shows as Go shows it. Two of one family are
 * in the order of their texts, for upstream sorts them to tell endpoints apart.
 */
function addressesOf(pod: Pod, family: IPFamily): readonly string[] {
	const addresses: string[] = [];
	for (const { ip = "" } of pod.status?.podIPs ?? []) {
		if ((familyOf(ip) ?? "IPv4") === family) addresses.push(canonicalIP(ip) ?? "<nil>");
	}
	return addresses.sort();
}

function referenceTo(pod: Pod): ObjectReference {
	const { namespace, name, uid } = pod.metadata;
	return { kind: "Pod", ...(namespace === undefined ? {} : { namespace }), name, uid };
}

/**
 * What an endpoint is, across updates: its addresses, its hostname and the name of its Pod. A Pod
 * that comes back under its name and address is the same endpoint, changed in place.
 */
export function identityOf({ addresses, hostname, targetRef }: Endpoint): string {
	const sorted = addresses.length === 1 ? addresses[0] : addresses.toSorted().join();
	return `${sorted}|${hostname ?? ""}|${targetRef?.namespace ?? ""}|${targetRef?.name ?? ""}`;
}

/** Whether two endpoints of one identity need no write. Hints are not compared: they are set later. */
export function sameEndpoint(a: Endpoint, b: Endpoint): boolean {
	if (a === b) return true;
	return (
		same(a.nodeName, b.nodeName) &&
		same(a.zone, b.zone) &&
		same(a.conditions.ready, b.conditions.ready) &&
		same(a.conditions.serving, b.conditions.serving) &&
		same(a.conditions.terminating, b.conditions.terminating) &&
		sameTarget(a.targetRef, b.targetRef)
	);
}

/** Null is absent, but absent is not false. */
function same(a: unknown, b: unknown): boolean {
	return (a ?? null) === (b ?? null);
}

/** All fields but the resourceVersion. */
function sameTarget(a: ObjectReference | undefined, b: ObjectReference | undefined): boolean {
	if (a === undefined || b === undefined) return a === b;
	return (
		(a.kind ?? "") === (b.kind ?? "") &&
		(a.namespace ?? "") === (b.namespace ?? "") &&
		(a.name ?? "") === (b.name ?? "") &&
		(a.uid ?? "") === (b.uid ?? "") &&
		(a.apiVersion ?? "") === (b.apiVersion ?? "") &&
		(a.fieldPath ?? "") === (b.fieldPath ?? "")
	);
}
