/** What a client would be sent to, by the rules that a service proxy goes by. */

import type { Service } from "../api/types/core.ts";
import { HEADLESS_LABEL, SERVICE_PROXY_NAME_LABEL } from "../api/well-known.ts";
import { isExternallyAccessible } from "../plan/service-map/service-ports.ts";
import type { TablePort, Target } from "../plan/service-map/service-table.ts";
import { endpointText, isForOtherProxy } from "../plan/service-map/slice-endpoints.ts";
import { type ClientPlace, type Destination, verdictFor } from "../plan/service-map/verdict.ts";
import { viewOf } from "./client-place.ts";
import type { Subject, SubjectTable } from "./subject.ts";

const SHOWN_MAX = 8;

export function reachedLines(subject: Subject): readonly string[] {
	const { service, from, scene, namespace } = subject;
	if (service.spec.type === "ExternalName") return [`whatever ${service.spec.externalName ?? ""} leads to`];
	if (!scene.has("EndpointSlice", namespace)) return ["not known: EndpointSlices were not looked at"];
	const tables = subject.tables();
	const prefix = from.words === "" ? "" : `${from.words}: `;
	if (tables.every(({ table }) => table.ports.length === 0)) return [`${prefix}${unproxied(subject)}`];
	if (from.origin === undefined && isLocal(service)) return fromAnyNode(subject);
	// Nodes of a zone that see the same are told of once.
	const views = new Map<string, string[]>();
	for (const { node, table } of tables) {
		const text = table.ports.flatMap((port) => portLines(port, from.origin !== undefined)).join("\n");
		views.set(text, [...(views.get(text) ?? []), ...(node === undefined ? [] : [node])]);
	}
	return [...views].flatMap(([text, nodes]) => {
		const on = views.size === 1 ? prefix : `${prefix}on ${fewNodes(nodes)}: `;
		return text.split("\n").map((line) => `${on}${line}`);
	});
}

/** Whether a client gets anywhere from where it may be, by the same rules. */
export function isReached(subject: Subject): boolean {
	const { service, from } = subject;
	if (!isLocal(service) && from.origin === undefined && hasPlainEndpoint(subject)) return true;
	const anywhere = subject.tables();
	if (anywhere.every(({ table }) => table.ports.length === 0)) return readyAddresses(subject).length > 0;
	return [...anywhere, ...localTables(subject)].some(({ table }) => table.ports.some(leadsSomewhere));
}

/** Families of the Service in which no port leads anywhere, while there are others in which one does. */
export function familiesThatFail(subject: Subject): readonly string[] {
	const tables = [...subject.tables(), ...localTables(subject)];
	const ports = tables.flatMap(({ table }) => table.ports);
	const good = new Set(ports.filter(leadsSomewhere).map(({ family }) => family));
	return good.size === 0 ? [] : [...new Set(ports.map(({ family }) => family))].filter((family) => !good.has(family));
}

/** Tables of nodes that have endpoints, where the node decides and it is not known. */
function localTables(subject: Subject): readonly SubjectTable[] {
	const { service, from, scene } = subject;
	if (!isLocal(service) || from.nodes !== undefined) return [];
	return subject.tables(endpointNodes(subject).map((name) => viewOf(scene, name)));
}

/** What decides for nearly every Service that is well, without a table: something that is ready, at a port of it. */
function hasPlainEndpoint({ service, slices }: Subject): boolean {
	const { ports = [], clusterIP = "" } = service.spec;
	if (clusterIP === "" || clusterIP === "None" || isForOtherProxy(service.metadata)) return false;
	return slices.some(
		(slice) =>
			slice.addressType === (clusterIP.includes(":") ? "IPv6" : "IPv4") &&
			!isForOtherProxy(slice.metadata) &&
			(slice.endpoints ?? []).some(
				({ conditions, addresses }) => conditions?.ready !== false && addresses.length > 0,
			) &&
			(slice.ports ?? []).some(({ name, port, protocol = "TCP" }) =>
				ports.some((own) => port && (own.name ?? "") === name && (own.protocol ?? "TCP") === protocol),
			),
	);
}

function leadsSomewhere(port: TablePort): boolean {
	if (verdictFor(port, "cluster-ip", "pod").kind === "forward") return true;
	return isExternallyAccessible(port) && verdictFor(port, "external", "other").kind === "forward";
}

function isLocal({ spec }: Service): boolean {
	return spec.internalTrafficPolicy === "Local" || spec.externalTrafficPolicy === "Local";
}

/** Nodes of endpoints, but for those that are none: nobody asks from there. */
function endpointNodes({ slices, scene }: Subject): readonly string[] {
	const names = slices.flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ nodeName }) => nodeName || []));
	return [...new Set(names)].filter((name) => !scene.lacksNode(name)).sort();
}

/** Nobody asks from anywhere, and the node decides: the nodes that have endpoints are told of. */
function fromAnyNode(subject: Subject): readonly string[] {
	const { scene } = subject;
	const named = endpointNodes(subject);
	const nodes = named.slice(0, SHOWN_MAX);
	const tables = subject.tables(nodes.map((name) => viewOf(scene, name)));
	const lines = tables.flatMap(({ node, table }) =>
		table.ports.flatMap((port) => portLines(port, true)).map((line) => `on ${node}: ${line}`),
	);
	const all = scene.snapshot.nodes.map(({ metadata }) => metadata.name);
	if (all.length > 0 && all.every((name) => nodes.includes(name))) return lines;
	const elsewhere = subject.tables().flatMap(({ table }) => table.ports.flatMap((port) => portLines(port, false)));
	const where = nodes.length === 0 ? "any node" : "other nodes";
	return [...lines, ...elsewhere.map((line) => `on ${where}: ${line}`)];
}

function fewNodes(nodes: readonly string[]): string {
	return nodes.length > SHOWN_MAX
		? `${nodes.slice(0, SHOWN_MAX).join(", ")} and ${nodes.length - SHOWN_MAX} more`
		: nodes.join(", ");
}

/** No proxy of the cluster is between: names lead to addresses that are ready, or to a cluster IP of somebody else. */
function unproxied(subject: Subject): string {
	const { clusterIP = "" } = subject.service.spec;
	const { labels = {} } = subject.service.metadata;
	const ready = listed(readyAddresses(subject));
	if (clusterIP === "None") return `by its name: ${ready}`;
	if (clusterIP === "") return `once it has a cluster IP: ${ready}`;
	const proxy = labels[SERVICE_PROXY_NAME_LABEL];
	if (Object.hasOwn(labels, HEADLESS_LABEL) || proxy === undefined) {
		return `${clusterIP} -> nothing: its label ${HEADLESS_LABEL} keeps proxies from it`;
	}
	return `${clusterIP} -> what proxy ${proxy || "of no name"} makes of: ${ready}`;
}

function readyAddresses({ slices }: Subject): readonly string[] {
	const ready = slices
		.filter(({ addressType }) => addressType !== "FQDN")
		.flatMap(({ endpoints }) => endpoints ?? [])
		.filter(({ conditions }) => conditions?.ready !== false);
	return [...new Set(ready.flatMap(({ addresses: [first] }) => first ?? []))];
}

/** @param isPlaced Whether it is known where the client is. */
function portLines(port: TablePort, isPlaced: boolean): readonly string[] {
	const name = port.name === "" ? String(port.port) : port.name;
	const isDual = port.family === "IPv6" ? " (IPv6)" : "";
	const inside = outcome(port, "cluster-ip", "pod");
	const outside = isExternallyAccessible(port) ? outcome(port, "external", "other") : inside;
	return [
		`${name}${isDual} -> ${inside}${hintText(port, isPlaced)}${skippedText(port)}`,
		...(outside === inside ? [] : [`${name}${isDual}, from outside the cluster -> ${outside}`]),
	];
}

function outcome(port: TablePort, destination: Destination, client: ClientPlace): string {
	const verdict = verdictFor(port, destination, client);
	if (verdict.kind === "forward") return listed(verdict.targets.map(targetText));
	return verdict.kind === "drop" ? "nothing: dropped, no endpoint is on the node" : "nothing: refused";
}

function targetText(target: Target): string {
	const { podKey, nodeName } = target;
	const pod = podKey?.slice(podKey.indexOf("/") + 1);
	const traits = [...(pod === undefined ? [] : [pod]), ...(nodeName === undefined ? [] : [`on ${nodeName}`])];
	return `${endpointText(target)}${traits.length === 0 ? "" : ` (${traits.join(" ")})`}`;
}

function hintText({ hints }: TablePort, isPlaced: boolean): string {
	if (hints.ignored !== undefined && !isPlaced) return "; hints hold by where the client is (--from-zone, --from-node)";
	if (hints.ignored !== undefined) return `; hints are ignored: ${hints.ignored}`;
	return hints.mode === "none" ? "" : `; by hints: ${hints.mode}`;
}

function skippedText({ skipped }: TablePort): string {
	if (skipped.length === 0) return "";
	return `; left out: ${listed(skipped.map((each) => `${endpointText(each)} (${each.why})`))}`;
}

function listed(texts: readonly string[]): string {
	if (texts.length === 0) return "nothing";
	const rest = texts.length - SHOWN_MAX;
	return `${texts.slice(0, SHOWN_MAX).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}
