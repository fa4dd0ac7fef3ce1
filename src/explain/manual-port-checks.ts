/** Do the ports of endpoints that somebody makes by hand meet the Service's? By name and protocol they must. */
import type { ServicePort } from "../api/types/core.ts";
import type { EndpointPort, EndpointSlice } from "../api/types/discovery.ts";
import { ENDPOINTSLICE_CONTROLLER, SLICE_MANAGED_BY_LABEL } from "../api/well-known.ts";
import { isTypo } from "./edits.ts";
import { type Finding, finding } from "./finding.ts";
import { type Fix, type FixTarget, patchFix } from "./fix.ts";
import { type Subject, serviceName } from "./subject.ts";

export function portNames(subject: Subject): readonly Finding[] {
	const { service, slices, endpoints, selector } = subject;
	// Beside a selector those of the controller are as they should be, and others are somebody's own.
	const byHand =
		selector === undefined ? slices : slices.filter((slice) => managerOf(slice) !== ENDPOINTSLICE_CONTROLLER);
	const used = byHand.filter((slice) => (slice.endpoints ?? []).length > 0);
	const [first] = used;
	if (first === undefined) return [];
	const offered = used.flatMap(({ ports }) => ports ?? []);
	const missing = (service.spec.ports ?? []).filter((port) => !offered.some((each) => isSame(port, each)));
	if (missing.length === 0) return [];
	const source =
		endpoints === undefined || selector !== undefined
			? `EndpointSlice/${first.metadata.name}`
			: `Endpoints/${endpoints.metadata.name}`;
	// Where only the protocol differs, the name alone would look right.
	const differs = missing.some(({ name = "" }) => offered.some((each) => (each.name ?? "") === name));
	const word = ({ name, protocol }: PortName): string =>
		`${name === undefined || name === "" ? "unnamed" : name}${differs ? `/${protocol ?? "TCP"}` : ""}`;
	const wants = missing.map(word).join(", ");
	const has = [...new Set(offered.map(word))].join(", ");
	const why = offered.length === 0 ? `${source} has no ports` : `ports of ${source} are ${has}`;
	return [
		finding(
			"port-name-mismatch",
			`Port ${wants} of the Service leads nowhere: ${why}. Names and protocols must be the same.`,
			[
				{ object: serviceName(subject), field: `spec.ports[*].${differs ? "protocol" : "name"}`, value: wants },
				{
					object: source,
					field: offered.length === 0 ? "ports" : `ports[*].${differs ? "protocol" : "name"}`,
					value: has || "none",
				},
			],
			portFix(subject, { source, used, missing }),
		),
	];
}

interface PortName {
	readonly name?: string | null | undefined;
	readonly protocol?: string | null | undefined;
}

function isSame(a: PortName, b: PortName): boolean {
	return (a.name ?? "") === (b.name ?? "") && (a.protocol ?? "TCP") === (b.protocol ?? "TCP");
}

function managerOf({ metadata }: EndpointSlice): string | undefined {
	return metadata.labels?.[SLICE_MANAGED_BY_LABEL];
}

interface Mismatch {
	readonly source: string;
	readonly used: readonly EndpointSlice[];
	readonly missing: readonly ServicePort[];
}

/** A patch where there is no doubt which port is meant: the only one that is left over, or one that is a typo away. */
function portFix({ service, endpoints, namespace }: Subject, { source, used, missing }: Mismatch): Fix | string {
	const own = service.spec.ports ?? [];
	const [kind = "", name = ""] = source.split("/");
	const words = `name the ports of ${source} as those of the Service`;
	const isSlice = kind === "EndpointSlice";
	const subsets = endpoints?.subsets ?? [];
	const ports = isSlice ? used[0]?.ports : subsets[0]?.ports;
	if (used.length !== 1 || (!isSlice && subsets.length !== 1)) return words;
	const target = { kind, namespace, name };
	const path = `${isSlice ? "" : "/subsets/0"}/ports`;
	if (ports === undefined || ports === null || ports.length === 0) {
		const value = own.map(guessed);
		const numbers = value.map(({ port }) => String(port)).join(", ");
		return patchFix(target, [{ op: "add", path, value }], `if the endpoints listen on ${numbers}`);
	}
	const [port, second] = missing;
	const found = port === undefined || second !== undefined ? undefined : meantPort(port, own, ports);
	return port === undefined || found === undefined ? words : changed({ target, path, words }, { port, ports, found });
}

interface Place {
	readonly target: FixTarget;
	readonly path: string;
	readonly words: string;
}

interface Meant {
	readonly port: ServicePort;
	readonly ports: readonly EndpointPort[];
	readonly found: number;
}

function changed({ target, path, words }: Place, { port, ports, found }: Meant): Fix {
	const isProtocol = (ports[found]?.name ?? "") === (port.name ?? "");
	const field = isProtocol ? "protocol" : "name";
	const value = isProtocol ? (port.protocol ?? "TCP") : (port.name ?? "");
	return patchFix(
		target,
		[{ op: "add", path: `${path}/${found}/${field}`, value }],
		isProtocol ? `if ${value} is what they serve; else change it in the Service` : words,
	);
}

function guessed({ name = "", protocol = "TCP", port, targetPort }: ServicePort) {
	return { ...(name === "" ? {} : { name }), protocol, port: typeof targetPort === "number" ? targetPort : port };
}

/** Its place; undefined: several may be meant, or none. */
function meantPort(port: ServicePort, own: readonly ServicePort[], ports: readonly EndpointPort[]): number | undefined {
	const { name = "", protocol = "TCP" } = port;
	const free = ports.flatMap((each, at) => (own.some((other) => isSame(other, each)) ? [] : [{ each, at }]));
	const sameName = free.filter(({ each }) => (each.name ?? "") === name);
	if (sameName.length > 0) return sameName.length === 1 ? sameName[0]?.at : undefined;
	const sameProtocol = free.filter(({ each }) => (each.protocol ?? "TCP") === protocol);
	const [only, another] = sameProtocol;
	if (only !== undefined && another === undefined && own.length === 1 && ports.length === 1) return only.at;
	const typos = sameProtocol.filter(({ each }) => each.name && name !== "" && isTypo(each.name, name));
	return typos.length === 1 ? typos[0]?.at : undefined;
}
