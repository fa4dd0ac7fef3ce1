/** What a container that runs as a process of this machine is told: its variables, and its command. */
import type { Container, Pod } from "../../api/types/core.ts";
import { isObject, ownValue } from "../../kernel/json.ts";

export interface ProcessPlace {
	readonly podIPs: readonly string[];
	readonly hostIPs: readonly string[];
	/** Ports of this machine, by those of the container. */
	readonly ports: Readonly<Record<number, number>>;
}

export interface ProcessEnvironment {
	readonly variables: ReadonlyMap<string, string>;
	/** Variables of the spec that have no value here, as sentences. */
	readonly problems: readonly string[];
}

/** `PORT_8080` for each port of the container, `PORT` for its first one, then the variables of its spec. */
export function environmentOf(pod: Pod, { ports = [], env = [] }: Container, place: ProcessPlace): ProcessEnvironment {
	const variables = new Map<string, string>();
	const problems: string[] = [];
	for (const { containerPort } of ports) {
		const port = String(place.ports[containerPort] ?? containerPort);
		variables.set(`PORT_${containerPort}`, port);
		if (!variables.has("PORT")) variables.set("PORT", port);
	}
	for (const { name, value = "", valueFrom } of env) {
		const text = valueFrom === undefined ? expanded(value, variables) : fieldOf(pod, place, valueFrom);
		if (text === undefined) problems.push(`variable ${name}: only values and fieldRef can be given to a process`);
		else variables.set(name, text);
	}
	return { variables, problems };
}

/** `$(NAME)` stands for a variable, `$$` for a dollar; a name that is not there stays as it is. */
export function expanded(text: string, variables: ReadonlyMap<string, string>): string {
	return text.replaceAll(/\$\$|\$\(([^)]*)\)/g, (match, name: string | undefined) =>
		match === "$$" ? "$" : (variables.get(name ?? "") ?? match),
	);
}

function fieldOf(pod: Pod, place: ProcessPlace, { fieldRef }: Readonly<Record<string, unknown>>): string | undefined {
	if (!isObject(fieldRef)) return undefined;
	const { metadata, spec } = pod;
	const path = String(fieldRef["fieldPath"] ?? "");
	const [, map, key = ""] = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path) ?? [];
	if (map === "labels" || map === "annotations") return String(ownValue(metadata[map] ?? {}, key) ?? "");
	const fields: ReadonlyMap<string, string> = new Map([
		["metadata.name", metadata.name],
		["metadata.namespace", metadata.namespace ?? ""],
		["metadata.uid", metadata.uid],
		["spec.nodeName", spec.nodeName ?? ""],
		["spec.serviceAccountName", spec.serviceAccountName ?? ""],
		["status.podIP", place.podIPs[0] ?? ""],
		["status.podIPs", place.podIPs.join(",")],
		["status.hostIP", place.hostIPs[0] ?? ""],
		["status.hostIPs", place.hostIPs.join(",")],
	]);
	return fields.get(path);
}
