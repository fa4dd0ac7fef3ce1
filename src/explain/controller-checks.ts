/** Do the controller's slices say what the Pods are? If not: does it run at all? */
import type { Pod } from "../api/types/core.ts";
import type { Endpoint, EndpointSlice } from "../api/types/discovery.ts";
import { TRIGGER_TIME_ANNOTATION } from "../api/well-known.ts";
import { hasLiveAddress, isReady, isTerminating, readyConditionOf, resolvedPort } from "../plan/pod-facts.ts";
import { type Evidence, type Finding, few, finding } from "./finding.ts";
import { kubectl } from "./fix.ts";
import { podName, type Subject, serviceName } from "./subject.ts";

/** A controller under load may be this much behind; a snapshot's lists are not of one moment either. */
const LAG_MS = 30_000;

export function controllerFindings(subject: Subject): readonly Finding[] {
	const { selector, slices } = subject;
	if (selector === undefined) return [];
	const ready = subject.pods.filter((pod) => hasLiveAddress(pod) && isReady(pod) && !isTerminating(pod));
	if (slices.length === 0) return ready.length === 0 ? [] : [...notRunning(subject), missing(subject, ready)];
	const listed = addressesIn(slices);
	const unlisted = ready.filter(
		(pod) => !addressesOf(pod).some((ip) => listed.has(ip)) && isLate(subject, pod) && isWanted(subject, pod),
	);
	const ghosts = ghostsOf(subject);
	if (unlisted.length === 0 && ghosts.length === 0) return [];
	return [...notRunning(subject), outOfDate(subject, unlisted, ghosts)];
}

function missing({ namespace, service }: Subject, ready: readonly Pod[]): Finding {
	return finding(
		"slices-missing",
		`${ready.length} ${areReady(ready)}, and there is no EndpointSlice for ${ready.length === 1 ? "it" : "them"}: the controller does not run, or fails.`,
		[{ object: `Service/${service.metadata.name}`, field: "spec.selector" }, ...ready.slice(0, 2).map(readyEvidence)],
		kubectl(
			["-n", namespace, "get", "events", "--field-selector", `involvedObject.name=${service.metadata.name}`],
			"and look at the log of kube-controller-manager",
		),
	);
}

function areReady(pods: readonly Pod[]): string {
	return pods.length === 1 ? "Pod is ready" : "Pods are ready";
}

function readyEvidence(pod: Pod): Evidence {
	const since = readyConditionOf(pod)?.lastTransitionTime;
	return {
		object: podName(pod),
		field: "status.conditions[Ready]",
		value: since === undefined ? "True" : `True since ${since}`,
	};
}

/** Unknown times are taken as long ago. */
function isLate({ scene }: Subject, pod: Pod): boolean {
	const { takenMs } = scene.snapshot;
	if (takenMs === undefined) return true;
	const sinceMs = Date.parse(readyConditionOf(pod)?.lastTransitionTime ?? "");
	return Number.isNaN(sinceMs) || takenMs - sinceMs > LAG_MS;
}

/** Every port leads somewhere on it, and one of its addresses is of a family of the Service. */
function isWanted({ service }: Subject, pod: Pod): boolean {
	const { ports = [], ipFamilies = [] } = service.spec;
	const families = new Set(addressesOf(pod).map((ip) => (ip.includes(":") ? "IPv6" : "IPv4")));
	return (
		ports.every((port) => resolvedPort(pod, port) !== undefined) &&
		(ipFamilies.length === 0 || ipFamilies.some((family) => families.has(family)))
	);
}

function addressesOf({ status }: Pod): readonly string[] {
	const ips = (status?.podIPs ?? []).map(({ ip }) => ip);
	return ips.length > 0 ? ips : [status?.podIP ?? ""];
}

function addressesIn(slices: readonly EndpointSlice[]): ReadonlySet<string> {
	const found = new Set<string>();
	for (const { endpoints } of slices) for (const { addresses } of endpoints ?? []) found.add(addresses[0] ?? "");
	return found;
}

/** Endpoints of Pods that are not there. */
function ghostsOf({ scene, slices, pods, namespace }: Subject): readonly string[] {
	if (!scene.has("Pod", namespace)) return [];
	const isLive = scene.snapshot.takenMs !== undefined;
	const ghosts: string[] = [];
	let matching: ReadonlySet<string> | undefined;
	for (const { endpoints } of slices) {
		for (const { targetRef, conditions } of endpoints ?? []) {
			if (targetRef?.kind !== "Pod" || (isLive && isLeaving(conditions))) continue;
			matching ??= new Set(pods.map(({ metadata }) => metadata.name));
			const { name = "" } = targetRef;
			if (!matching.has(name) && scene.pod(namespace, name) === undefined) ghosts.push(name);
		}
	}
	return ghosts;
}

/** Of a live cluster the lists are not of one moment: a Pod on its way out may have gone between them. */
function isLeaving(conditions: Endpoint["conditions"] | undefined): boolean {
	return conditions?.ready === false || conditions?.terminating === true;
}

function outOfDate(subject: Subject, unlisted: readonly Pod[], ghosts: readonly string[]): Finding {
	const { slices, namespace } = subject;
	const lacks =
		unlisted.length === 0
			? []
			: [
					`${unlisted.length} ${areReady(unlisted)} and in none of them (${few(unlisted.map(({ metadata }) => metadata.name))})`,
				];
	const has = ghosts.length === 0 ? [] : [`they list Pods that do not exist (${few(ghosts)})`];
	const written = slices.flatMap(({ metadata }) => metadata.annotations?.[TRIGGER_TIME_ANNOTATION] ?? []).sort();
	const last = written.at(-1);
	const since = last === undefined ? "" : ` The last change that they answer to was at ${last}.`;
	return finding(
		"slices-out-of-date",
		`The EndpointSlices are behind: ${[...lacks, ...has].join(", and ")}. The controller does not run, or fails.${since}`,
		[
			...slices.slice(0, 2).map((slice) => ({
				object: `EndpointSlice/${slice.metadata.name}`,
				field: `metadata.annotations[${TRIGGER_TIME_ANNOTATION}]`,
				value: slice.metadata.annotations?.[TRIGGER_TIME_ANNOTATION] ?? "",
			})),
			...unlisted.slice(0, 2).map(readyEvidence),
		],
		kubectl(
			["-n", namespace, "get", "events", "--field-selector", `involvedObject.name=${subject.service.metadata.name}`],
			"and look at the log of kube-controller-manager",
		),
	);
}

/** The lock that the controllers of a cluster hold while they run. */
function notRunning(subject: Subject): readonly Finding[] {
	const { leases, takenMs } = subject.scene.snapshot;
	const [lease] = leases;
	const renewedMs = Date.parse(lease?.spec?.renewTime ?? "");
	const allowedMs = (lease?.spec?.leaseDurationSeconds ?? 15) * 1_000;
	if (lease === undefined || takenMs === undefined || !(takenMs - renewedMs > allowedMs)) return [];
	const seconds = Math.round((takenMs - renewedMs) / 1_000);
	return [
		finding(
			"controller-not-running",
			`kube-controller-manager, which keeps the slices of ${serviceName(subject)}, has not renewed its Lease for ${seconds} s: it does not run.`,
			[
				{
					object: `Lease/${lease.metadata.name}`,
					namespace: lease.metadata.namespace ?? "",
					field: "spec.renewTime",
					value: lease.spec?.renewTime ?? "",
				},
			],
			kubectl(["-n", "kube-system", "get", "pods", "-l", "component=kube-controller-manager"], "and look at its log"),
		),
	];
}
