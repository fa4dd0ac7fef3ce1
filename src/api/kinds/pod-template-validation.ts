/** Rules of a pod's spec, the same in a Pod and in the template of a workload. */

import { ownValue } from "../../kernel/json.ts";
import { repeatedIndexes } from "../../kernel/order.ts";
import { duplicate, errorsOf, type FieldError, invalid, notSupported, required } from "../field-error.ts";
import { validateLegacyIP } from "../ip-validation.ts";
import { invalids, validateAnnotations, validateLabels } from "../metadata-validation.ts";
import {
	dns1123LabelProblems,
	dns1123SubdomainProblems,
	portNameProblems,
	portNumberProblems,
	qualifiedNameProblems,
} from "../names.ts";
import { isMoreThan } from "../quantity.ts";
import type { Container, ContainerPort, PodSpec, PodTemplateSpec } from "../types/core.ts";
import type { StringMap } from "../types/meta.ts";
import { validateMounts, validateProbes, validateVariables, validateVolumes } from "./container-validation.ts";
import { validateOneOf, validateProtocol } from "./protocol-validation.ts";

const RESTART_POLICIES: readonly string[] = ["Always", "OnFailure", "Never"];
const DNS_POLICIES: readonly string[] = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const PULL_POLICIES: readonly string[] = ["Always", "IfNotPresent", "Never"];
const INT32_MAX = 2_147_483_647;

/**
 * A template's labels have the path `<field>.labels`, without `metadata`: so does a real server.
 * @param claims Names of volumes that come from elsewhere.
 */
export function validatePodTemplate(
	field: string,
	template: PodTemplateSpec,
	claims: readonly string[] = [],
): readonly FieldError[] {
	return [
		...validateLabels(`${field}.labels`, template.metadata?.labels),
		...validateAnnotations(`${field}.annotations`, template.metadata?.annotations),
		...validatePodSpec(`${field}.spec`, template.spec, claims),
	];
}

export function validatePodSpec(field: string, spec: PodSpec, claims: readonly string[] = []): readonly FieldError[] {
	const { containers = [], initContainers = [] } = spec;
	return [
		...validateVolumes(`${field}.volumes`, spec.volumes),
		...(containers.length === 0 ? [required(`${field}.containers`, "")] : []),
		...validateContainers(field, spec, claims),
		...errorsOf(initContainers, ({ restartPolicy }, index) =>
			restartPolicy === undefined || restartPolicy === "Always"
				? []
				: [notSupported(`${field}.initContainers[${index}].restartPolicy`, restartPolicy, ["Always"])],
		),
		...validateOneOf(`${field}.restartPolicy`, spec.restartPolicy ?? "", RESTART_POLICIES),
		...validateOneOf(`${field}.dnsPolicy`, spec.dnsPolicy ?? "", DNS_POLICIES),
		...validateLabels(`${field}.nodeSelector`, spec.nodeSelector),
		...validateNames(field, spec),
		...validateDeadline(`${field}.activeDeadlineSeconds`, spec.activeDeadlineSeconds),
		...validateGates(field, spec),
		...validateTolerations(field, spec),
	];
}

function validateContainers(field: string, spec: PodSpec, claims: readonly string[]): readonly FieldError[] {
	const volumes = new Set([...claims, ...(spec.volumes ?? []).map((volume) => volume["name"])]);
	const names = new Set<string>();
	const check = (list: string, containers: readonly Container[] = []): readonly FieldError[] =>
		errorsOf(containers, (container, index) => {
			const at = `${field}.${list}[${index}]`;
			const isRepeated = names.has(container.name);
			names.add(container.name);
			return [
				...validateContainer(at, container, spec.hostNetwork === true, volumes),
				...(isRepeated ? [duplicate(`${at}.name`, container.name)] : []),
			];
		});
	return [...check("containers", spec.containers), ...check("initContainers", spec.initContainers)];
}

function validateContainer(
	field: string,
	container: Container,
	isHostNetwork: boolean,
	volumes: ReadonlySet<unknown>,
): readonly FieldError[] {
	const { name = "", image = "", ports = [], imagePullPolicy = "" } = container;
	const repeated = repeatedIndexes(ports, (port) => port.name);
	return [
		...(name === "" ? [required(`${field}.name`, "")] : invalids(`${field}.name`, name, dns1123LabelProblems(name))),
		...validateImage(`${field}.image`, image),
		...errorsOf(ports, (port, index) => [
			...validateContainerPort(`${field}.ports[${index}]`, port, isHostNetwork),
			...((port.name ?? "") !== "" && repeated.has(index)
				? [duplicate(`${field}.ports[${index}].name`, port.name)]
				: []),
		]),
		...validateVariables(field, container),
		...validateMounts(field, container, volumes),
		...validateOneOf(`${field}.imagePullPolicy`, imagePullPolicy, PULL_POLICIES),
		...validateResources(`${field}.resources`, container.resources ?? {}),
		...validateProbes(field, container),
	];
}

function validateResources(
	field: string,
	{ limits = {}, requests = {} }: NonNullable<Container["resources"]>,
): readonly FieldError[] {
	return [
		...validateAmounts(`${field}.limits`, limits),
		...validateAmounts(`${field}.requests`, requests),
		...errorsOf(Object.entries(requests), ([resource, amount]) => {
			const limit = ownValue(limits, resource);
			return typeof limit === "string" && isMoreThan(amount, limit)
				? [invalid(`${field}.requests`, amount, `must be less than or equal to ${resource} limit of ${limit}`)]
				: [];
		}),
	];
}

function validateAmounts(field: string, amounts: StringMap): readonly FieldError[] {
	return errorsOf(Object.entries(amounts), ([resource, amount]) =>
		isMoreThan("0", amount) ? [invalid(`${field}[${resource}]`, amount, "must be greater than or equal to 0")] : [],
	);
}

function validateImage(field: string, image: string): readonly FieldError[] {
	if (image === "") return [required(field, "")];
	return image.trim() === image ? [] : [invalid(field, image, "must not have leading or trailing whitespace")];
}

function validateContainerPort(field: string, port: ContainerPort, isHostNetwork: boolean): readonly FieldError[] {
	const { name = "", containerPort = 0, hostPort = 0, hostIP = "" } = port;
	const number = `${field}.containerPort`;
	return [
		...(name === "" ? [] : invalids(`${field}.name`, name, portNameProblems(name))),
		...(containerPort === 0
			? [required(number, "")]
			: invalids(number, containerPort, portNumberProblems(containerPort))),
		...(hostPort === 0 ? [] : invalids(`${field}.hostPort`, hostPort, portNumberProblems(hostPort))),
		...(isHostNetwork && hostPort !== 0 && hostPort !== containerPort
			? [invalid(number, containerPort, "must match `hostPort` when `hostNetwork` is true")]
			: []),
		...(hostIP === "" ? [] : validateLegacyIP(`${field}.hostIP`, hostIP)),
		...validateProtocol(`${field}.protocol`, port.protocol),
	];
}

function validateNames(field: string, spec: PodSpec): readonly FieldError[] {
	const { serviceAccountName = "", nodeName = "", hostname = "", subdomain = "" } = spec;
	const check = (key: string, value: string, problemsOf: (value: string) => readonly string[]) =>
		value === "" ? [] : invalids(`${field}.${key}`, value, problemsOf(value));
	return [
		...check("serviceAccountName", serviceAccountName, dns1123SubdomainProblems),
		...check("nodeName", nodeName, dns1123SubdomainProblems),
		...check("hostname", hostname, dns1123LabelProblems),
		...check("subdomain", subdomain, dns1123LabelProblems),
	];
}

function validateDeadline(field: string, seconds: number | undefined): readonly FieldError[] {
	return seconds === undefined || (seconds >= 1 && seconds <= INT32_MAX)
		? []
		: [invalid(field, seconds, `must be between 1 and ${INT32_MAX}, inclusive`)];
}

function validateGates(field: string, spec: PodSpec): readonly FieldError[] {
	const { readinessGates = [], schedulingGates = [] } = spec;
	const repeatedGates = repeatedIndexes(schedulingGates, ({ name }) => name);
	return [
		...errorsOf(readinessGates, ({ conditionType }, index) =>
			invalids(
				`${field}.readinessGates[${index}].conditionType`,
				conditionType,
				qualifiedNameProblems(conditionType ?? ""),
			),
		),
		...errorsOf(schedulingGates, ({ name }, index) => [
			...invalids(`${field}.schedulingGates[${index}]`, name, qualifiedNameProblems(name ?? "")),
			...(repeatedGates.has(index) ? [duplicate(`${field}.schedulingGates[${index}]`, name)] : []),
		]),
	];
}

function validateTolerations(field: string, { tolerations = [] }: PodSpec): readonly FieldError[] {
	return errorsOf(tolerations, ({ key = "", operator = "", effect, tolerationSeconds }, index) => {
		const at = `${field}.tolerations[${index}]`;
		return [
			...(key === "" ? [] : invalids(`${at}.key`, key, qualifiedNameProblems(key))),
			...(key === "" && operator !== "Exists"
				? [
						invalid(
							`${at}.operator`,
							operator,
							'operator must be Exists when `key` is empty, which means "match all values and all keys"',
						),
					]
				: []),
			...(tolerationSeconds !== undefined && effect !== "NoExecute"
				? [invalid(`${at}.effect`, effect ?? "", "effect must be 'NoExecute' when `tolerationSeconds` is set")]
				: []),
		];
	});
}
