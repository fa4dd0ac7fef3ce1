/** What a client would be sent to, by the rules that a service proxy goes by. */
import { isExternallyAccessible } from "../plan/service-map/service-ports.ts";
import type { TablePort, Target } from "../plan/service-map/service-table.ts";
import { endpointText } from "../plan/service-map/slice-endpoints.ts";
import { type ClientPlace, type Destination, verdictFor } from "../plan/service-map/verdict.ts";
import type { Subject } from "./subject.ts";

const SHOWN_MAX = 8;

export function reachedLines(subject: Subject): readonly string[] {
	const { service, from } = subject;
	if (service.spec.type === "ExternalName") return [`whatever ${service.spec.externalName ?? ""} leads to`];
	const tables = subject.tables();
	const prefix = from.words === "" ? "" : `${from.words}: `;
	if (tables.every(({ table }) => table.ports.length === 0)) return [`${prefix}${unproxied(subject)}`];
	// Nodes of a zone that see the same are told of once.
	const views = new Map<string, string[]>();
	for (const { node, table } of tables) {
		const text = table.ports.flatMap(portLines).join("\n");
		views.set(text, [...(views.get(text) ?? []), ...(node === undefined ? [] : [node])]);
	}
	return [...views].flatMap(([text, nodes]) => {
		const on =
			views.size === 1 && tables.length > 1
				? `${prefix}`
				: tables.length > 1
					? `${prefix}on ${fewNodes(nodes)}: `
					: prefix;
		return text.split("\n").map((line) => `${on}${line}`);
	});
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

function portLines(port: TablePort): readonly string[] {
	const name = port.name === "" ? String(port.port) : port.name;
	const isDual = port.family === "IPv6" ? " (IPv6)" : "";
	const inside = outcome(port, "cluster-ip", "pod");
	const outside = isExternallyAccessible(port) ? outcome(port, "external", "other") : inside;
	return [
		`${name}${isDual} -> ${inside}${hintText(port)}${skippedText(port)}`,
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

function hintText({ hints }: TablePort): string {
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
