/** The rules of a Service's ports. */
import { repeatedIndexes } from "../../kernel/order.ts";
import { duplicate, errorsOf, type FieldError, forbidden, invalid, required } from "../field-error.ts";
import { invalids } from "../metadata-validation.ts";
import { dns1123LabelProblems, portNameProblems, portNumberProblems, qualifiedNameProblems } from "../names.ts";
import type { ServicePort, ServiceSpec } from "../types/core.ts";
import type { IntOrString } from "../types/meta.ts";
import { validateProtocol } from "./protocol-validation.ts";

export function validateServicePorts(ports: readonly ServicePort[]): readonly FieldError[] {
	const repeated = repeatedIndexes(ports, ({ name }) => name);
	return errorsOf(ports, (port, index) => {
		const field = `spec.ports[${index}]`;
		const { name = "", appProtocol } = port;
		return [
			...(name === "" && ports.length > 1 ? [required(`${field}.name`, "")] : []),
			...(name === "" ? [] : invalids(`${field}.name`, name, dns1123LabelProblems(name))),
			...(name !== "" && repeated.has(index) ? [duplicate(`${field}.name`, name)] : []),
			...invalids(`${field}.port`, port.port, portNumberProblems(port.port)),
			...validateProtocol(`${field}.protocol`, port.protocol),
			...validatePortNumberOrName(`${field}.targetPort`, port.targetPort ?? 0),
			...(appProtocol === undefined
				? []
				: invalids(`${field}.appProtocol`, appProtocol, qualifiedNameProblems(appProtocol))),
		];
	});
}

export function validatePortNumberOrName(field: string, value: IntOrString): readonly FieldError[] {
	return invalids(field, value, typeof value === "number" ? portNumberProblems(value) : portNameProblems(value));
}

/** Each (protocol, node port) and each (protocol, port) stands for one thing only. */
export function validatePortPairs({ type, ports = [] }: ServiceSpec): readonly FieldError[] {
	const repeatedNodePorts = repeatedIndexes(ports, ({ protocol, nodePort = 0 }) => `${protocol} ${nodePort}`);
	const repeatedPorts = repeatedIndexes(ports, ({ protocol, port }) => `${protocol} ${port}`);
	return [
		...errorsOf(ports, (port, index) =>
			type === "ClusterIP" && (port.nodePort ?? 0) !== 0
				? [forbidden(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'")]
				: [],
		),
		...errorsOf(ports, ({ nodePort = 0 }, index) =>
			nodePort !== 0 && repeatedNodePorts.has(index) ? [duplicate(`spec.ports[${index}].nodePort`, nodePort)] : [],
		),
		...errorsOf(ports, (port, index) =>
			repeatedPorts.has(index) ? [duplicate(`spec.ports[${index}]`, pairShown(port))] : [],
		),
	];
}

/** The struct that a real server compares, with the spelling that it prints. */
function pairShown({ protocol, port }: ServicePort): object {
	return { Name: "", Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 };
}

const HEALTH_CHECK_ONLY = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";

export function validateHealthCheckPort(port: number, isNeeded: boolean): readonly FieldError[] {
	const field = "spec.healthCheckNodePort";
	if (!isNeeded) return port === 0 ? [] : [invalid(field, port, HEALTH_CHECK_ONLY)];
	return port === 0 ? [required(field, "")] : invalids(field, port, portNumberProblems(port));
}
