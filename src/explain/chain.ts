/** The chain from a Service to what answers, link by link, for people who look for the weak one. */
import { familyOf } from "../api/ip.ts";
import type { Pod, ServicePort } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import {
	ENDPOINTSLICE_CONTROLLER,
	ENDPOINTSLICEMIRRORING_CONTROLLER,
	SERVICE_NAME_LABEL,
	SLICE_MANAGED_BY_LABEL,
	ZONE_LABEL,
} from "../api/well-known.ts";
import { hasLiveAddress, isReady, isTerminating, resolvedPort } from "../plan/pod-facts.ts";
import { isHeadless } from "../plan/service-selector.ts";
import { few } from "./finding.ts";
import { mirroringText } from "./manual-checks.ts";
import { isReadyNode } from "./node-state.ts";
import { stateText } from "./pod-state.ts";
import { reachedLines } from "./reached.ts";
import type { Scene } from "./snapshot.ts";
import { type Subject, selectorText } from "./subject.ts";

/** One link: what there is, a line each. */
export interface ChainStep {
	readonly link:
		| "Service"
		| "selector"
		| "Pods"
		| "ports"
		| "families"
		| "nodes"
		| "EndpointSlices"
		| "Endpoints"
		| "policies"
		| "DNS"
		| "reached";
	readonly lines: readonly string[];
}

/** Of Pods, endpoints and nodes; of the rest it is said how many. */
const SHOWN_MAX = 8;

export function chainOf(subject: Subject): readonly ChainStep[] {
	const { service, selector, scene } = subject;
	const steps: readonly ChainStep[] = [
		{ link: "Service", lines: [serviceLine(subject)] },
		...(service.spec.type === "ExternalName"
			? []
			: ([
					{
						link: "selector",
						lines: [selector === undefined ? "none: endpoints are made by hand" : selectorText(selector)],
					},
					...(selector !== undefined && scene.has("Pod", subject.namespace) ? podSteps(subject) : []),
					{ link: "families", lines: familyLines(subject) },
					{ link: "nodes", lines: nodeLines(subject) },
					{ link: "Endpoints", lines: selector === undefined ? mirroringText(subject) : [] },
					{ link: "EndpointSlices", lines: sliceLines(subject) },
					{ link: "policies", lines: policyLines(subject) },
				] as const)),
		{ link: "DNS", lines: [dnsLine(subject)] },
		{ link: "reached", lines: reachedLines(subject) },
	];
	return steps.filter(({ lines }) => lines.length > 0);
}

function serviceLine({ service }: Subject): string {
	const { type = "ClusterIP", clusterIP = "", clusterIPs = [clusterIP], externalName = "", ports = [] } = service.spec;
	const own = clusterIP === "" ? "without an address yet" : clusterIPs.join(", ");
	const address = type === "ExternalName" ? externalName : own;
	const numbers = ports.map(portText);
	return `${type} ${address}, ${numbers.length === 0 ? "no ports" : `ports ${numbers.join(", ")}`}`;
}

function portText({ name = "", port, protocol = "TCP", nodePort }: ServicePort): string {
	return `${name === "" ? "" : `${name} `}${port}${nodePort === undefined ? "" : `:${nodePort}`}/${protocol}`;
}

function podSteps(subject: Subject): readonly ChainStep[] {
	const { pods, service } = subject;
	if (pods.length === 0) return [{ link: "Pods", lines: ["none"] }];
	const ready = pods.filter(isReady).length;
	const live = pods.filter(hasLiveAddress);
	return [
		// Those that are not ready are looked for.
		{
			link: "Pods",
			lines: [
				`${pods.length}, ${ready} ready`,
				...shown([...pods].sort((a, b) => Number(isReady(a)) - Number(isReady(b))).map(podText)),
			],
		},
		{ link: "ports", lines: (service.spec.ports ?? []).map((port) => resolutionLine(port, live)) },
	];
}

function podText(pod: Pod): string {
	const { podIP = "no address" } = pod.status ?? {};
	const node = pod.spec.nodeName === undefined ? "" : `, ${pod.spec.nodeName}`;
	return `${stateText(pod)}, ${isTerminating(pod) ? "terminating, " : ""}${isReady(pod) ? "ready" : "not ready"}, ${podIP}${node}`;
}

/** To which numbers a port leads, and on how many Pods. */
function resolutionLine(port: ServicePort, pods: readonly Pod[]): string {
	const counts = new Map<string, number>();
	for (const pod of pods) {
		const number = String(resolvedPort(pod, port) ?? "nowhere");
		counts.set(number, (counts.get(number) ?? 0) + 1);
	}
	const target = port.targetPort ?? port.port;
	const found = [...counts].map(
		([number, count]) => `${typeof target === "number" ? "" : `${number} `}on ${count} ${count === 1 ? "Pod" : "Pods"}`,
	);
	const counted = found.length === 0 ? "" : `, ${few(found)}`;
	return `${portText(port)} -> ${target}${counted}`;
}

function familyLines({ service, pods }: Subject): readonly string[] {
	const { ipFamilies = [], ipFamilyPolicy } = service.spec;
	if (ipFamilies.length === 0) return [];
	const having = ipFamilies.map((family) => {
		const count = pods.filter(({ status }) =>
			(status?.podIPs ?? [{ ip: status?.podIP ?? "" }]).some(({ ip }) => familyOf(ip ?? "") === family),
		).length;
		return pods.length === 0 ? family : `${family} (${count} of ${pods.length} Pods)`;
	});
	return [`${having.join(", ")}${ipFamilyPolicy === undefined ? "" : `, ${ipFamilyPolicy}`}`];
}

function nodeLines({ slices, scene }: Subject): readonly string[] {
	const counts = new Map<string, number>();
	for (const { nodeName } of slices.flatMap(({ endpoints }) => endpoints ?? [])) {
		const name = nodeName ?? "";
		counts.set(name, (counts.get(name) ?? 0) + 1);
	}
	return shown([...counts].map(([name, count]) => nodeLine(scene, name, count)));
}

/** @param name "": endpoints that say no node. */
function nodeLine(scene: Scene, name: string, count: number): string {
	const endpoints = `${count} ${count === 1 ? "endpoint" : "endpoints"}`;
	if (name === "") return `no node: ${endpoints}`;
	const found = scene.node(name);
	if (found === undefined) return `${name}${scene.has("Node") ? " (no such Node)" : ""}: ${endpoints}`;
	const zone = found.metadata.labels?.[ZONE_LABEL];
	const traits = [...(zone === undefined ? [] : [`zone ${zone}`]), ...(isReadyNode(found) ? [] : ["not ready"])];
	return `${name}${traits.length === 0 ? "" : ` (${traits.join(", ")})`}: ${endpoints}`;
}

function sliceLines({ slices, scene, namespace }: Subject): readonly string[] {
	if (slices.length === 0) return scene.has("EndpointSlice", namespace) ? ["none"] : [];
	return shown(slices.map(sliceText));
}

function sliceText(slice: EndpointSlice): string {
	const { metadata, endpoints, ports, addressType } = slice;
	// TCP goes without saying.
	const numbers = (ports ?? [])
		.map(
			({ name, port, protocol = "TCP" }) => `${name ?? ""}:${port ?? "*"}${protocol === "TCP" ? "" : `/${protocol}`}`,
		)
		.join(" ");
	const list = (endpoints ?? []).slice(0, SHOWN_MAX).map(endpointWords);
	const rest = (endpoints ?? []).length - list.length;
	const more = rest > 0 ? ` and ${rest} more` : "";
	const kind = `${addressType ?? "no addressType"}${numbers === "" ? "" : ` ${numbers}`}${keeperOf(slice)}`;
	return `${metadata.name} (${kind}): ${list.join(" ") || "empty"}${more}`;
}

function endpointWords({ addresses, conditions, targetRef }: NonNullable<EndpointSlice["endpoints"]>[number]): string {
	const target = targetRef?.name === undefined ? "" : ` (${targetRef.kind}/${targetRef.name})`;
	const state = conditions?.terminating === true ? " (terminating)" : conditions?.ready === false ? " (not ready)" : "";
	return `${addresses[0] ?? "no address"}${target}${state}`;
}

/** Who makes the slice, and of what. */
function keeperOf({ metadata }: EndpointSlice): string {
	const manager = metadata.labels?.[SLICE_MANAGED_BY_LABEL];
	if (manager === ENDPOINTSLICE_CONTROLLER) return "";
	if (manager === ENDPOINTSLICEMIRRORING_CONTROLLER) {
		return `, a copy of Endpoints/${metadata.labels?.[SERVICE_NAME_LABEL] ?? ""}`;
	}
	return manager === undefined ? ", of nobody known" : `, of ${manager}`;
}

/** What is not as it is without saying so. */
function policyLines({ service, slices }: Subject): readonly string[] {
	const { internalTrafficPolicy, externalTrafficPolicy, trafficDistribution, publishNotReadyAddresses } = service.spec;
	const { sessionAffinity, sessionAffinityConfig } = service.spec;
	const hinted = slices.flatMap(({ endpoints }) => endpoints ?? []).filter(({ hints }) => hints !== undefined).length;
	const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds ?? 10_800;
	return [
		...(internalTrafficPolicy === "Local" ? ["internalTrafficPolicy Local"] : []),
		...(externalTrafficPolicy === "Local" ? ["externalTrafficPolicy Local"] : []),
		...(trafficDistribution === undefined ? [] : [`trafficDistribution ${trafficDistribution}`]),
		...(hinted === 0 ? [] : [`hints on ${hinted} endpoints`]),
		...(publishNotReadyAddresses === true ? ["publishNotReadyAddresses"] : []),
		...(sessionAffinity === "ClientIP" ? [`a client stays with its endpoint for ${seconds} s (ClientIP)`] : []),
	];
}

/** The cluster's domain is not known here: a name that ends in `svc` is enough in every Pod. */
function dnsLine({ service, namespace, from }: Subject): string {
	const { clusterIP = "", clusterIPs = [clusterIP], type, externalName } = service.spec;
	const { name } = service.metadata;
	const short =
		from.origin?.kind !== "pod"
			? ""
			: from.origin.namespace === namespace
				? ` (${name} is enough)`
				: ` (${name} is not enough)`;
	const leads =
		type === "ExternalName"
			? externalName
			: clusterIP === ""
				? "its cluster IP, once it has one"
				: isHeadless(service)
					? "the addresses of its endpoints"
					: clusterIPs.join(", ");
	return `${name}.${namespace}.svc${short} -> ${leads}`;
}

function shown(lines: readonly string[]): readonly string[] {
	const rest = lines.length - SHOWN_MAX;
	return rest > 0 ? [...lines.slice(0, SHOWN_MAX), `and ${rest} more`] : lines;
}
