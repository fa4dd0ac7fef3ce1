/** Do ports of the Service lead to ports of its endpoints, in its IP families? */
import { familyOf } from "../api/ip.ts";
import type { ContainerPort, Pod, ServicePort } from "../api/types/core.ts";
import { hasLiveAddress, resolvedPort } from "../plan/pod-facts.ts";
import { isHeadless } from "../plan/service-selector.ts";
import { type Finding, few, finding } from "./finding.ts";
import { type Fix, patchFix } from "./fix.ts";
import { podName, type Subject, serviceName, serviceTarget } from "./subject.ts";

export function portFindings(subject: Subject): readonly Finding[] {
	const { service, pods, selector } = subject;
	const ports = service.spec.ports ?? [];
	const live = pods.filter(hasLiveAddress);
	return [
		...familyFindings(subject, live),
		...(selector === undefined ? [] : ports.flatMap((port, index) => targetFindings(subject, port, index, live))),
		...(selector !== undefined && ports.length === 0 && isHeadless(service) ? [withoutPorts(subject)] : []),
	];
}

function withoutPorts(subject: Subject): Finding {
	const text = "The Service is headless and has no ports: names lead to addresses, without a port.";
	return finding("headless-without-ports", text, [{ object: serviceName(subject), field: "spec.ports" }]);
}

function addressesOf({ status }: Pod): readonly string[] {
	const ips = (status?.podIPs ?? []).map(({ ip }) => ip ?? "");
	return ips.length > 0 ? ips : [status?.podIP ?? ""];
}

function familyFindings(subject: Subject, pods: readonly Pod[]): readonly Finding[] {
	const families = subject.service.spec.ipFamilies ?? [];
	return families.flatMap((family) => {
		const without = pods.filter((pod) => !addressesOf(pod).some((ip) => familyOf(ip) === family));
		if (without.length === 0) return [];
		// A dual-stack Service is served by the family that its Pods have.
		if (families.length > 1 && without.length === pods.length) return [];
		const names = without.map((pod) => `${pod.metadata.name} has ${addressesOf(pod).join(", ")}`);
		return [
			finding(
				"pods-have-no-address-of-family",
				`The Service is ${families.join(" and ")}, and Pods have no ${family} address: ${few(names)}.`,
				without
					.slice(0, 3)
					.map((pod) => ({ object: podName(pod), field: "status.podIPs", value: addressesOf(pod).join(",") })),
				`make the Service anew with spec.ipFamilies of its Pods (the first one cannot be changed), or give the Pods ${family} addresses`,
			),
		];
	});
}

function containerPorts(pod: Pod): readonly ContainerPort[] {
	const sidecars = (pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
	return [...pod.spec.containers, ...sidecars].flatMap(({ ports = [] }) => ports);
}

function targetFindings(subject: Subject, port: ServicePort, index: number, pods: readonly Pod[]): readonly Finding[] {
	const target = port.targetPort ?? port.port;
	const protocol = port.protocol ?? "TCP";
	const at = { object: serviceName(subject), field: `spec.ports[${index}].targetPort`, value: String(target) };
	if (typeof target === "number") return undeclared(at, target, protocol, pods);
	const without = pods.filter((pod) => resolvedPort(pod, port) === undefined);
	const twice = pods.filter((pod) => containerPorts(pod).filter((each) => isNamed(each, target, protocol)).length > 1);
	return [
		...(without.length === 0
			? []
			: [missingName(at, target, protocol, without, renaming(subject, port, index, without))]),
		...(twice.length === 0 ? [] : [declaredTwice(at, target, protocol, twice)]),
	];
}

function isNamed(port: ContainerPort, name: string, protocol: string): boolean {
	return port.name === name && (port.protocol ?? "TCP") === protocol;
}

type At = { readonly object: string; readonly field: string; readonly value: string };

/** The one port that every Pod has, if it is sure enough that it is meant: its name, or the protocol that it has. */
function renaming(subject: Subject, port: ServicePort, index: number, pods: readonly Pod[]): Fix | undefined {
	const [first, ...rest] = pods.map(containerPorts);
	const protocol = port.protocol ?? "TCP";
	const has = (list: readonly ContainerPort[], wanted: ContainerPort): boolean =>
		list.some(({ name, protocol: own = "TCP" }) => name === wanted.name && own === protocol);
	const shared = (first ?? []).filter(
		(each) => each.name !== undefined && (each.protocol ?? "TCP") === protocol && rest.every((list) => has(list, each)),
	);
	const [only, second] = shared;
	if (only?.name === undefined || second !== undefined) return undefined;
	const path = `/spec/ports/${index}/targetPort`;
	return patchFix(
		serviceTarget(subject),
		[{ op: port.targetPort === undefined ? "add" : "replace", path, value: only.name }],
		`if port ${only.name} of the containers is meant`,
	);
}

function missingName(at: At, target: string, protocol: string, pods: readonly Pod[], fix: Fix | undefined): Finding {
	const [pod] = pods;
	const declared = pod === undefined ? [] : containerPorts(pod);
	const same = declared.filter(({ name }) => name === target);
	const names = declared.map(
		({ name = "unnamed", containerPort, protocol: own = "TCP" }) => `${name} ${containerPort}/${own}`,
	);
	const why =
		same.length > 0
			? `it is declared as ${same.map(({ protocol: own = "TCP" }) => own).join(", ")}, and the Service's port is ${protocol}`
			: `declared are ${names.length === 0 ? "no ports" : few(names)}`;
	return finding(
		"named-port-missing-in-pod",
		`targetPort ${target}/${protocol} is a name that no container of ${few(pods.map(({ metadata }) => metadata.name))} declares: ${why}.`,
		[
			at,
			...(pod === undefined
				? []
				: [{ object: podName(pod), field: "spec.containers[*].ports", value: names.join(",") }]),
		],
		fix ?? "give the container port that name and protocol, or name the number in targetPort",
	);
}

function declaredTwice(at: At, target: string, protocol: string, pods: readonly Pod[]): Finding {
	const [pod] = pods;
	const numbers = pod === undefined ? [] : containerPorts(pod).filter((each) => isNamed(each, target, protocol));
	const text = `Port name ${target} is declared more than once in ${few(pods.map(({ metadata }) => metadata.name))} (${numbers.map(({ containerPort }) => containerPort).join(", ")}): the first one counts.`;
	return finding("named-port-declared-twice", text, [at], "give the ports different names");
}

function undeclared(at: At, target: number, protocol: string, pods: readonly Pod[]): readonly Finding[] {
	const without = pods.filter((pod) => {
		const ports = containerPorts(pod);
		return (
			ports.length > 0 && !ports.some((each) => each.containerPort === target && (each.protocol ?? "TCP") === protocol)
		);
	});
	if (without.length === 0) return [];
	const declared = few(containerPorts(without[0] as Pod).map(({ containerPort }) => String(containerPort)));
	const text = `targetPort ${target} is not among the ports that containers of ${few(without.map(({ metadata }) => metadata.name))} declare (${declared}).`;
	return [finding("target-port-not-declared", text, [at])];
}
