/** An endpoint in one line: `10.1.0.10 RSt pod=web-a node=n1`. */
import type { Endpoint, EndpointSlice } from "../../api/types/discovery.ts";

const KEYS = ["pod", "node", "zone", "hostname", "hints"] as const;
type Key = (typeof KEYS)[number];

export interface EndpointText {
	readonly address: string;
	/** `RSt`: capital true, small false, `-` absent. */
	readonly flags: string;
	readonly keys: Readonly<Partial<Record<Key, string>>>;
}

export function parsedEndpoint(text: string): EndpointText {
	const [address = "", flags = "", ...words] = text.split(" ");
	const keys = words.map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)] as const);
	return { address, flags, keys: Object.fromEntries(keys) };
}

/** One for each address of each endpoint, with every key that it has. */
export function endpointsOf(slice: EndpointSlice): readonly EndpointText[] {
	return (slice.endpoints ?? []).flatMap((endpoint) =>
		endpoint.addresses.map((address) => ({ address, flags: flagsOf(endpoint), keys: keysOf(endpoint) })),
	);
}

/** Keys that are not wanted are not compared; a wanted `-` is a key that is not there. */
export function fitsEndpoint(wanted: EndpointText, found: EndpointText): boolean {
	if (wanted.address !== found.address || wanted.flags !== found.flags) return false;
	return KEYS.every((key) => wanted.keys[key] === undefined || wanted.keys[key] === (found.keys[key] ?? "-"));
}

export function endpointText({ address, flags, keys }: EndpointText): string {
	const words = KEYS.flatMap((key) => (keys[key] === undefined ? [] : [`${key}=${keys[key]}`]));
	return [address, flags, ...words].join(" ");
}

/** The slice's ports as `http:8080/TCP`. */
export function portsOf({ ports }: EndpointSlice): readonly string[] {
	return (ports ?? []).map(({ name = "", port, protocol = "TCP" }) => `${name}:${port ?? ""}/${protocol}`);
}

function flagsOf({ conditions = {} }: Endpoint): string {
	const { ready, serving, terminating } = conditions;
	return flag("r", ready) + flag("s", serving) + flag("t", terminating);
}

function flag(letter: string, value: boolean | null | undefined): string {
	if (value === undefined || value === null) return "-";
	return value ? letter.toUpperCase() : letter;
}

function keysOf({ targetRef, nodeName, zone, hostname, hints }: Endpoint): EndpointText["keys"] {
	const zones = hints?.forZones?.map(({ name }) => name);
	return {
		...(targetRef?.name === undefined ? {} : { pod: targetRef.name }),
		...(nodeName === undefined ? {} : { node: nodeName }),
		...(zone === undefined ? {} : { zone }),
		...(hostname === undefined ? {} : { hostname }),
		...(zones === undefined ? {} : { hints: zones.join(",") }),
	};
}
