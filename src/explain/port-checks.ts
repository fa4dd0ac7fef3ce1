/** Do ports of the Service lead to ports of its endpoints, in its IP families? */
import { familyOf } from "../api/ip.ts";
import type { Pod, ServicePort } from "../api/types/core.ts";
import { hasLiveAddress } from "../plan/pod-facts.ts";
import { isHeadless } from "../plan/service-selector.ts";
import { type Evidence, type Finding, few, finding } from "./finding.ts";
import { containerPorts, namedPortFindings } from "./named-port-checks.ts";
import { podName, type Subject, serviceName } from "./subject.ts";

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

function targetFindings(subject: Subject, port: ServicePort, index: number, pods: readonly Pod[]): readonly Finding[] {
	const target = port.targetPort ?? port.port;
	const protocol = port.protocol ?? "TCP";
	const at = { object: serviceName(subject), field: `spec.ports[${index}].targetPort`, value: String(target) };
	if (typeof target === "number") return undeclared(at, target, protocol, pods);
	return namedPortFindings(subject, { port, index, target, pods });
}

function undeclared(at: Evidence, target: number, protocol: string, pods: readonly Pod[]): readonly Finding[] {
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
