/** The rules of an EndpointSlice. */
import { deepEqual } from "../../kernel/json.ts";
import { duplicate, errorsOf, type FieldError, invalid, required, tooMany } from "../field-error.ts";
import { familyOf } from "../ip.ts";
import { validateEndpointIP, validateLegacyIP, validateStrictIP } from "../ip-validation.ts";
import { invalids, validateLabels } from "../metadata-validation.ts";
import { dns1123LabelProblems, dns1123SubdomainProblems, labelValueProblems, qualifiedNameProblems } from "../names.ts";
import type { AddressType, Endpoint, EndpointHints, EndpointPort, EndpointSlice } from "../types/discovery.ts";
import { validateOneOf, validateProtocol } from "./protocol-validation.ts";

const ADDRESS_TYPES: readonly string[] = ["FQDN", "IPv4", "IPv6"];
/** What the server enforces; its documentation promises 100 ports. */
const PORTS_MAX = 20_000;
const ENDPOINTS_MAX = 1000;
const ADDRESSES_MAX = 100;
const TOPOLOGY_LABELS_MAX = 16;
const HINTS_MAX = 8;

export function validateEndpointSlice(slice: EndpointSlice): readonly FieldError[] {
	return [...validateHead(slice), ...validateEndpoints(slice)];
}

export function validateEndpointSliceUpdate(next: EndpointSlice, stored: EndpointSlice): readonly FieldError[] {
	return [
		...validateHead(next),
		// What did not change was accepted once, maybe by an older server with other rules.
		...(deepEqual(next.endpoints ?? [], stored.endpoints ?? []) ? [] : validateEndpoints(next)),
		...(next.addressType === stored.addressType
			? []
			: [invalid("addressType", next.addressType, "field is immutable")]),
	];
}

function validateHead(slice: EndpointSlice): readonly FieldError[] {
	return [...validateOneOf("addressType", slice.addressType ?? "", ADDRESS_TYPES), ...validatePorts(slice.ports ?? [])];
}

function validatePorts(ports: readonly EndpointPort[]): readonly FieldError[] {
	if (ports.length > PORTS_MAX) return [tooMany("ports", ports.length, PORTS_MAX)];
	const names = new Set<string>();
	return errorsOf(ports, (port, index) => {
		const name = port.name ?? "";
		const isRepeated = names.has(name);
		names.add(name);
		return [
			...(name === "" ? [] : invalids(`ports[${index}].name`, name, dns1123LabelProblems(name))),
			// The empty name counts: two ports without a name clash.
			...(isRepeated ? [duplicate(`ports[${index}].name`, name)] : []),
			...validateProtocol(`ports[${index}].protocol`, port.protocol),
			...(port.appProtocol === undefined || port.appProtocol === null
				? []
				: invalids(`ports[${index}].appProtocol`, port.appProtocol, qualifiedNameProblems(port.appProtocol))),
		];
	});
}

function validateEndpoints(slice: EndpointSlice): readonly FieldError[] {
	const endpoints = slice.endpoints ?? [];
	if (endpoints.length > ENDPOINTS_MAX) return [tooMany("endpoints", endpoints.length, ENDPOINTS_MAX)];
	return errorsOf(endpoints, (endpoint, index) => validateEndpoint(`endpoints[${index}]`, endpoint, slice.addressType));
}

function validateEndpoint(field: string, endpoint: Endpoint, type: AddressType): readonly FieldError[] {
	const { nodeName, hostname, deprecatedTopology, hints } = endpoint;
	return [
		...validateAddresses(`${field}.addresses`, endpoint.addresses ?? [], type),
		...(nodeName === undefined ? [] : invalids(`${field}.nodeName`, nodeName, dns1123SubdomainProblems(nodeName))),
		...validateTopology(`${field}.deprecatedTopology`, deprecatedTopology),
		...(hostname === undefined ? [] : invalids(`${field}.hostname`, hostname, dns1123LabelProblems(hostname))),
		...(hints === undefined ? [] : validateHints(`${field}.hints`, hints)),
	];
}

function validateTopology(field: string, topology: Endpoint["deprecatedTopology"]): readonly FieldError[] {
	const count = Object.keys(topology ?? {}).length;
	return [
		...(count > TOPOLOGY_LABELS_MAX ? [tooMany(field, count, TOPOLOGY_LABELS_MAX)] : []),
		...validateLabels(field, topology),
	];
}

function validateAddresses(field: string, addresses: readonly string[], type: AddressType): readonly FieldError[] {
	return [
		...(addresses.length === 0 ? [required(field, "must contain at least 1 address")] : []),
		...(addresses.length > ADDRESSES_MAX ? [tooMany(field, addresses.length, ADDRESSES_MAX)] : []),
		...errorsOf(addresses, (address, index) => validateAddress(field, index, { address, type })),
	];
}

interface TypedAddress {
	readonly address: string;
	readonly type: AddressType;
}

function validateAddress(field: string, index: number, { address, type }: TypedAddress): readonly FieldError[] {
	const at = `${field}[${index}]`;
	switch (type) {
		case "IPv4":
		case "IPv6": {
			const format = type === "IPv4" ? validateLegacyIP(at, address) : validateStrictIP(at, address);
			if (format.length > 0) return format;
			// The path of this error has no index: so it is on a real server.
			const family = familyOf(address) === type ? [] : [invalid(field, address, `must be an ${type} address`)];
			return [...family, ...validateEndpointIP(at, address)];
		}
		case "FQDN":
			return validateFullName(at, address);
		default:
			return []; // The type itself is the error.
	}
}

function validateFullName(field: string, name: string): readonly FieldError[] {
	const domain = name.endsWith(".") ? name.slice(0, -1) : name;
	const format = invalids(field, name, dns1123SubdomainProblems(domain));
	if (format.length > 0) return format;
	const segments = domain.split(".");
	if (segments.length < 2) {
		return [invalid(field, name, "should be a domain with at least two segments separated by dots")];
	}
	return errorsOf(segments, (segment) => invalids(field, segment, dns1123LabelProblems(segment)));
}

function validateHints(field: string, hints: EndpointHints): readonly FieldError[] {
	return [
		...validateHintList(`${field}.forZones`, hints.forZones ?? [], labelValueProblems),
		...validateHintList(`${field}.forNodes`, hints.forNodes ?? [], dns1123SubdomainProblems),
	];
}

function validateHintList(
	field: string,
	hints: readonly { readonly name: string }[],
	problemsOf: (name: string) => readonly string[],
): readonly FieldError[] {
	if (hints.length > HINTS_MAX) return [tooMany(field, hints.length, HINTS_MAX)];
	const names = hints.map(({ name }) => name);
	return errorsOf(names, (name, index) => [
		...(names.indexOf(name) < index ? [duplicate(`${field}[${index}].name`, name)] : []),
		...invalids(`${field}[${index}].name`, name, problemsOf(name)),
	]);
}
