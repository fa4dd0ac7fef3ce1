/** The rules of a `v1` Endpoints. */
import { deepEqual } from "../../kernel/json.ts";
import { errorsOf, type FieldError, required } from "../field-error.ts";
import { validateEndpointIP, validateLegacyIP } from "../ip-validation.ts";
import { invalids } from "../metadata-validation.ts";
import { dns1123LabelProblems, dns1123SubdomainProblems, portNumberProblems, qualifiedNameProblems } from "../names.ts";
import type { EndpointAddress, EndpointSubset, Endpoints, SubsetPort } from "../types/core.ts";
import { validateProtocol } from "./protocol-validation.ts";

export function validateEndpoints({ subsets = [] }: Endpoints): readonly FieldError[] {
	return errorsOf(subsets, (subset, index) => validateSubset(`subsets[${index}]`, subset));
}

/** What did not change was accepted once, maybe by an older server with other rules. */
export function validateEndpointsUpdate(next: Endpoints, stored: Endpoints): readonly FieldError[] {
	return deepEqual(next.subsets ?? [], stored.subsets ?? []) ? [] : validateEndpoints(next);
}

function validateSubset(field: string, subset: EndpointSubset): readonly FieldError[] {
	const { addresses = [], notReadyAddresses = [], ports = [] } = subset;
	if (addresses.length + notReadyAddresses.length === 0) {
		return [required(field, "must specify `addresses` or `notReadyAddresses`"), ...validatePorts(field, ports)];
	}
	return [
		...errorsOf(addresses, (address, index) => validateAddress(`${field}.addresses[${index}]`, address)),
		...errorsOf(notReadyAddresses, (address, index) =>
			validateAddress(`${field}.notReadyAddresses[${index}]`, address),
		),
		...validatePorts(field, ports),
	];
}

/** A text that is no address at all breaks both rules, and is named twice. */
function validateAddress(field: string, address: EndpointAddress): readonly FieldError[] {
	const { ip, hostname = "", nodeName } = address;
	return [
		...validateLegacyIP(`${field}.ip`, ip),
		...(hostname === "" ? [] : invalids(`${field}.hostname`, hostname, dns1123LabelProblems(hostname))),
		...(nodeName === undefined ? [] : invalids(`${field}.nodeName`, nodeName, dns1123SubdomainProblems(nodeName))),
		...validateEndpointIP(`${field}.ip`, ip),
	];
}

function validatePorts(field: string, ports: readonly SubsetPort[]): readonly FieldError[] {
	return errorsOf(ports, (port, index) => validatePort(`${field}.ports[${index}]`, port, ports.length > 1));
}

/** Two ports of one name are accepted: they always were. */
function validatePort(field: string, port: SubsetPort, needsName: boolean): readonly FieldError[] {
	const { name = "", appProtocol } = port;
	return [
		...(name === "" && needsName ? [required(`${field}.name`, "")] : []),
		...(name === "" ? [] : invalids(`${field}.name`, name, dns1123LabelProblems(name))),
		...invalids(`${field}.port`, port.port, portNumberProblems(port.port)),
		...validateProtocol(`${field}.protocol`, port.protocol),
		...(appProtocol === undefined
			? []
			: invalids(`${field}.appProtocol`, appProtocol, qualifiedNameProblems(appProtocol))),
	];
}
