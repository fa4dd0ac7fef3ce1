/** What a client would be sent to, by the rules that a service proxy goes by. */

import type { Service } from "../api/types/core.ts";
import { isExternallyAccessible } from "../plan/service-map/service-ports.ts";
import type { TablePort, Target } from "../plan/service-map/service-table.ts";
import { endpointText } from "../plan/service-map/slice-endpoints.ts";
import { type ClientPlace, type Destination, verdictFor } from "../plan/service-map/verdict.ts";
import { viewOf } from "./client-place.ts";
import type { Subject } from "./subject.ts";

const SHOWN_MAX = 8;

export function reachedLines(subject: Subject): readonly string[] {
	const { service, from } = subject;
	if (service.spec.type === "ExternalName") return [`whatever ${service.spec.externalName ?? ""} leads to`];
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

function isLocal({ spec }: Service): boolean {
	return spec.internalTrafficPolicy === "Local" || spec.externalTrafficPolicy === "Local";
}

/** Nobody asks from anywhere, and the node decides: the nodes that have endpoints are told of. */
function fromAnyNode(subject: Subject): readonly string[] {
	const { slices, scene } = subject;
	const names = slices.flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ nodeName }) => nodeName ?? []));
	const nodes = [...new Set(names)].sort().slice(0, SHOWN_MAX);
	const tables = subject.tables(nodes.map((name) => viewOf(scene, name)));
	const lines = tables.flatMap(({ node, table }) =>
		table.ports.flatMap((port) => portLines(port, true)).map((line) => `on ${node}: ${line}`),
	);
	const elsewhere = subject.tables().flatMap(({ table }) => table.ports.flatMap((port) => portLines(port, false)));
	return [...lines, ...elsewhere.map((line) => `on other nodes: ${line}`)];
}

function fewNodes(nodes: readonly string[]): string {
	return nodes.length > SHOWN_MAX
		? `${nodes.slice(0, SHOWN_MAX).join(", ")} and ${nodes.length - SHOWN_MAX} more`
		: nodes.join(", ");
}

/** Without a cluster IP there is no proxy between: names lead to addresses, and to those that are ready. */
function unproxied({ service, slices }: Subject): string {
	const { clusterIP = "" } = service.spec;
	const ready = slices
		.filter(({ addressType }) => addressType !== "FQDN")
		.flatMap(({ endpoints }) => endpoints ?? [])
		.filter(({ conditions }) => conditions?.ready !== false);
	const addresses = [...new Set(ready.flatMap(({ addresses: [first] }) => first ?? []))];
	return `${clusterIP === "" ? "once it has a cluster IP" : "by its name"}: ${listed(addresses)}`;
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
