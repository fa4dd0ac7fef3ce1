/** A named targetPort, and Pods that have no port of the name. */
import type { ContainerPort, Pod, ServicePort } from "../api/types/core.ts";
import { resolvedPort } from "../plan/pod-facts.ts";
import { type Evidence, type Finding, few, finding } from "./finding.ts";
import { type Fix, patchFix } from "./fix.ts";
import { isOwnLabel } from "./snapshot.ts";
import { podName, type Subject, selectorText, serviceName, serviceTarget } from "./subject.ts";

/** A port with its place in the Service, and the Pods that may have it. */
export interface NamedTarget {
	readonly port: ServicePort;
	readonly index: number;
	readonly target: string;
	readonly pods: readonly Pod[];
}

export function containerPorts(pod: Pod): readonly ContainerPort[] {
	const sidecars = (pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
	return [...pod.spec.containers, ...sidecars].flatMap(({ ports = [] }) => ports);
}

export function namedPortFindings(subject: Subject, named: NamedTarget): readonly Finding[] {
	const { port, target, pods } = named;
	const protocol = port.protocol ?? "TCP";
	const without = pods.filter((pod) => resolvedPort(pod, port) === undefined);
	const twice = pods.filter((pod) => containerPorts(pod).filter((each) => isNamed(each, target, protocol)).length > 1);
	return [
		...(without.length === 0 ? [] : [missingName(subject, named, without)]),
		...(twice.length === 0 ? [] : [declaredTwice(evidenceOf(subject, named), { target, protocol, pods: twice })]),
	];
}

function evidenceOf(subject: Subject, { index, target }: NamedTarget): Evidence {
	return { object: serviceName(subject), field: `spec.ports[${index}].targetPort`, value: target };
}

function isNamed(port: ContainerPort, name: string, protocol: string): boolean {
	return port.name === name && (port.protocol ?? "TCP") === protocol;
}

function missingName(subject: Subject, named: NamedTarget, without: readonly Pod[]): Finding {
	const { port, target, pods } = named;
	const protocol = port.protocol ?? "TCP";
	const [pod] = without;
	const declared = pod === undefined ? [] : containerPorts(pod);
	const same = declared.filter(({ name }) => name === target);
	const names = declared.map(
		({ name = "unnamed", containerPort, protocol: own = "TCP" }) => `${name} ${containerPort}/${own}`,
	);
	const why =
		same.length > 0
			? `it is declared as ${same.map(({ protocol: own = "TCP" }) => own).join(", ")}, and the Service's port is ${protocol}`
			: `declared are ${names.length === 0 ? "no ports" : few(names)}`;
	const good = pods.filter((each) => !without.includes(each));
	const wide = good.length === 0 ? undefined : tooWide(subject, target, good, without);
	const fix = wide === undefined ? renaming(subject, named, without) : wide.fix;
	return finding(
		"named-port-missing-in-pod",
		`targetPort ${target}/${protocol} is a name that no container of ${few(without.map(({ metadata }) => metadata.name))} declares: ${why}.${wide?.text ?? ""}`,
		[
			evidenceOf(subject, named),
			...(pod === undefined
				? []
				: [{ object: podName(pod), field: "spec.containers[*].ports", value: names.join(",") }]),
			...(wide === undefined ? [] : [wide.evidence]),
		],
		fix ?? "give the container port that name and protocol, or name the number in targetPort",
	);
}

interface TooWide {
	readonly text: string;
	readonly evidence: Evidence;
	readonly fix: Fix | string;
}

/** Where other Pods have the port, another name would take it from those: the selector means too many. */
function tooWide(subject: Subject, target: string, good: readonly Pod[], bad: readonly Pod[]): TooWide {
	const { selector = {} } = subject;
	const has = ({ metadata }: Pod, key: string, value: string): boolean => metadata.labels?.[key] === value;
	const apart = Object.entries(good[0]?.metadata.labels ?? {}).find(
		([key, value]) =>
			!isOwnLabel(key) && good.every((pod) => has(pod, key, value)) && !bad.some((pod) => has(pod, key, value)),
	);
	const names = few(good.map(({ metadata }) => metadata.name));
	const words = `if only ${names} is meant`;
	return {
		text: ` ${names} has it: the selector may mean too many Pods.`,
		evidence: { object: serviceName(subject), field: "spec.selector", value: selectorText(selector) },
		fix:
			apart === undefined
				? `narrow spec.selector with a label that only Pods with a port ${target} have, ${words}; or give all of them that port`
				: patchFix(serviceTarget(subject), { spec: { selector: { [apart[0]]: apart[1] } } }, words),
	};
}

/** The one port that every Pod has, if it is sure enough that it is meant: its name, or the protocol that it has. */
function renaming(subject: Subject, { port, index }: NamedTarget, pods: readonly Pod[]): Fix | undefined {
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

interface Twice {
	readonly target: string;
	readonly protocol: string;
	readonly pods: readonly Pod[];
}

function declaredTwice(at: Evidence, { target, protocol, pods }: Twice): Finding {
	const [pod] = pods;
	const numbers = pod === undefined ? [] : containerPorts(pod).filter((each) => isNamed(each, target, protocol));
	const text = `Port name ${target} is declared more than once in ${few(pods.map(({ metadata }) => metadata.name))} (${numbers.map(({ containerPort }) => containerPort).join(", ")}): the first one counts.`;
	return finding("named-port-declared-twice", text, [at], "give the ports different names");
}
