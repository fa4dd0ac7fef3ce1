/**
 * The endpoints of one Service, from all its slices: one list for each port.
 *
 * A slice holds a part of a Service only, and one endpoint may stand in two slices while it is moved,
 * so nothing may be read off a single slice.
 */
import { canonicalIP, familyOf } from "../../api/ip.ts";
import type { Endpoint, EndpointPort, EndpointSlice } from "../../api/types/discovery.ts";
import type { IPFamily, ObjectMeta, Protocol } from "../../api/types/meta.ts";
import { HEADLESS_LABEL, SERVICE_NAME_LABEL, SERVICE_PROXY_NAME_LABEL } from "../../api/well-known.ts";
import { compareStrings } from "../../kernel/order.ts";

/** One address and port behind a Service, with the conditions as a proxy reads them: unset is filled in. */
export interface ServiceEndpoint {
	readonly ip: string;
	readonly port: number;
	readonly isReady: boolean;
	readonly isServing: boolean;
	readonly isTerminating: boolean;
	/** On the proxy's own node. */
	readonly isLocal: boolean;
	readonly zoneHints: readonly string[];
	readonly nodeHints: readonly string[];
	readonly nodeName?: string;
	/** `namespace/name` of the Pod that it stands for. */
	readonly podKey?: string;
}

/** Where the proxy stands; without a node nothing is local, without a zone zone hints do not apply. */
export interface ProxyPlace {
	readonly nodeName?: string;
	readonly zone?: string;
	/** False: endpoints that are terminating get nothing, as before KEP-1669. For tests that show what that loses. */
	readonly terminatingFallback?: boolean;
}

/** `10.0.0.1:80`, `[fd00::1]:80`: what makes two endpoints of one port the same. */
export function endpointText({ ip, port }: { readonly ip: string; readonly port: number }): string {
	return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}

/** Ports of Services and slices are joined by name and protocol; the Service's targetPort plays no part. */
export function portKey(name: string, protocol: Protocol): string {
	return `${protocol}/${name}`;
}

/** Services and slices with these labels are not for this kind of proxy. */
export function isForOtherProxy({ labels }: Pick<ObjectMeta, "labels">): boolean {
	return (
		labels !== undefined && (Object.hasOwn(labels, SERVICE_PROXY_NAME_LABEL) || Object.hasOwn(labels, HEADLESS_LABEL))
	);
}

/** `namespace/name` of the Service that the slice names; undefined when it names none. */
export function serviceNamedBy({ metadata }: EndpointSlice): string | undefined {
	const { namespace = "", labels } = metadata;
	const name = labels === undefined || !Object.hasOwn(labels, SERVICE_NAME_LABEL) ? "" : labels[SERVICE_NAME_LABEL];
	return name === undefined || name === "" ? undefined : `${namespace}/${name}`;
}

/** The same for slices that rules are made of: headless Services have names only, and other proxies their own. */
export function serviceKeyOfSlice(slice: EndpointSlice): string | undefined {
	return isForOtherProxy(slice.metadata) ? undefined : serviceNamedBy(slice);
}

/** What of a slice no rules are made of, and why, for a log; nothing is said of slices that are for other proxies. */
export function ignoredParts(slice: EndpointSlice): readonly string[] {
	if (isForOtherProxy(slice.metadata)) return [];
	if (serviceNamedBy(slice) === undefined) return [`no Service: label ${SERVICE_NAME_LABEL} is missing or empty`];
	if (slice.addressType === "FQDN") return ["addressType FQDN: want IPv4 or IPv6"];
	const ports = (slice.ports ?? []).flatMap(({ name, port }, index) => {
		if (name === undefined || name === null) return [`ports[${index}]: no name`];
		return port ? [] : [`ports[${index}] ${name}: no number`];
	});
	const empty = (slice.endpoints ?? []).flatMap(({ addresses }, index) =>
		addresses.length === 0 ? [`endpoints[${index}]: no addresses`] : [],
	);
	return [...ports, ...empty];
}

/** Lists by {@link portKey}, each sorted by address and port as text, each endpoint once. */
export function endpointsByPort(
	slices: readonly EndpointSlice[],
	family: IPFamily,
	place: ProxyPlace,
): ReadonlyMap<string, readonly ServiceEndpoint[]> {
	const found = new Map<string, Map<string, Candidate>>();
	for (const slice of slices) {
		if (slice.addressType !== family) continue;
		const hosts = (slice.endpoints ?? []).flatMap((endpoint) => hostOf(endpoint, family, place));
		for (const port of slice.ports ?? []) addPort(found, { slice, port, hosts });
	}
	const lists = new Map<string, readonly ServiceEndpoint[]>();
	for (const [key, byText] of found) {
		const sorted = [...byText].sort(([a], [b]) => compareStrings(a, b));
		lists.set(
			key,
			sorted.map(([, { endpoint }]) => endpoint),
		);
	}
	return lists;
}

type Host = Omit<ServiceEndpoint, "port">;

interface Candidate {
	readonly endpoint: ServiceEndpoint;
	readonly slice: EndpointSlice;
}

interface PortOfSlice {
	readonly slice: EndpointSlice;
	readonly port: EndpointPort;
	readonly hosts: readonly Host[];
}

/** A port without a name or number is skipped: "all ports" means nothing to a proxy. */
function addPort(found: Map<string, Map<string, Candidate>>, { slice, port, hosts }: PortOfSlice): void {
	const { name, port: number } = port;
	if (name === undefined || name === null || !number) return;
	const key = portKey(name, port.protocol ?? "TCP");
	const byText = found.get(key) ?? new Map<string, Candidate>();
	found.set(key, byText);
	for (const host of hosts) {
		const candidate = { endpoint: { ...host, port: number }, slice };
		const text = endpointText(candidate.endpoint);
		const known = byText.get(text);
		if (known === undefined || isBetter(candidate, known)) byText.set(text, candidate);
	}
}

/** Only the first address counts: the API says that they are interchangeable. */
function hostOf(endpoint: Endpoint, family: IPFamily, { nodeName: ownNode }: ProxyPlace): readonly Host[] {
	const [address = ""] = endpoint.addresses;
	const ip = familyOf(address) === family ? canonicalIP(address) : undefined;
	if (ip === undefined) return [];
	const { conditions, nodeName = "", targetRef, hints } = endpoint;
	return [
		{
			ip,
			isReady: conditions.ready ?? true,
			isServing: conditions.serving ?? true,
			isTerminating: conditions.terminating ?? false,
			isLocal: nodeName !== "" && nodeName === ownNode,
			zoneHints: (hints?.forZones ?? []).map(({ name }) => name),
			nodeHints: (hints?.forNodes ?? []).map(({ name }) => name),
			...(nodeName === "" ? {} : { nodeName }),
			...(targetRef?.kind === "Pod" ? { podKey: `${targetRef.namespace ?? ""}/${targetRef.name ?? ""}` } : {}),
		},
	];
}

/**
 * Which of two copies of an endpoint counts. A terminating one never hides one that is not: an address may
 * be in use again while its last owner is still listed. The rest only makes the choice the same every time.
 */
function isBetter(a: Candidate, b: Candidate): boolean {
	const order =
		preference(a.endpoint.isTerminating, b.endpoint.isTerminating) ||
		preference(b.endpoint.isReady, a.endpoint.isReady) ||
		preference(b.endpoint.isServing, a.endpoint.isServing) ||
		preference(b.endpoint.isLocal, a.endpoint.isLocal) ||
		(b.slice.metadata.generation ?? 0) - (a.slice.metadata.generation ?? 0) ||
		compareStrings(b.slice.metadata.creationTimestamp, a.slice.metadata.creationTimestamp) ||
		compareStrings(a.slice.metadata.name, b.slice.metadata.name);
	return order < 0;
}

/** Negative when only the second holds. */
function preference(first: boolean, second: boolean): number {
	return Number(first) - Number(second);
}
