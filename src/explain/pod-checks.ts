/** Are the Pods that match fit to be endpoints, and ready? */
import type { Pod } from "../api/types/core.ts";
import { hasLiveAddress, isReady, isTerminating } from "../plan/pod-facts.ts";
import { type Finding, few, finding } from "./finding.ts";
import { podName, type Subject, serviceName } from "./subject.ts";

/** Without an effect since Kubernetes 1.11. */
const TOLERATE_UNREADY = "service.alpha.kubernetes.io/tolerate-unready-endpoints";

export function podFindings(subject: Subject): readonly Finding[] {
	const { pods, service } = subject;
	if (pods.length === 0) return [];
	const finished = pods.filter(isFinished);
	const live = pods.filter((pod) => !isFinished(pod));
	if (live.length === 0) return [allFinished(subject, finished)];
	const withAddress = live.filter(hasLiveAddress);
	if (withAddress.length === 0) return [withoutAddress(live), ...finishedOnes(finished)];
	return [
		...readiness(subject, withAddress),
		...finishedOnes(finished),
		...(service.metadata.annotations?.[TOLERATE_UNREADY] === undefined ? [] : [tolerated(subject)]),
	];
}

function isFinished({ status }: Pod): boolean {
	return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** `web-a is Failed (Evicted)` */
export function stateText(pod: Pod): string {
	const { phase = "Pending", reason } = pod.status ?? {};
	return `${pod.metadata.name} is ${phase}${reason === undefined ? "" : ` (${reason})`}`;
}

function allFinished(subject: Subject, pods: readonly Pod[]): Finding {
	const text = `All Pods that match have run to their end, and have no endpoints: ${few(pods.map(stateText))}.`;
	const fix = `kubectl -n ${subject.namespace} describe pod ${pods[0]?.metadata.name}`;
	return finding("matched-pods-all-finished", text, pods.slice(0, 3).map(phaseEvidence), fix);
}

function phaseEvidence(pod: Pod) {
	return { object: podName(pod), field: "status.phase", value: pod.status?.phase ?? "" };
}

function finishedOnes(pods: readonly Pod[]): readonly Finding[] {
	if (pods.length === 0) return [];
	const text = `A Pod that has run to its end has no endpoint: ${few(pods.map(stateText))}.`;
	return [finding("matched-pod-finished", text, pods.slice(0, 3).map(phaseEvidence))];
}

function withoutAddress(pods: readonly Pod[]): Finding {
	const words = pods.map((pod) => {
		const scheduled = pod.status?.conditions?.find(({ type }) => type === "PodScheduled");
		const why = scheduled?.status === "False" ? `: ${scheduled.reason ?? ""} ${scheduled.message ?? ""}`.trimEnd() : "";
		return `${stateText(pod)}${why}`;
	});
	return finding(
		"matched-pods-without-ip",
		`Pods match, and none has an address yet: ${few(words)}.`,
		pods.slice(0, 3).map(phaseEvidence),
		`kubectl describe pod ${pods[0]?.metadata.name}: its events say what it waits for`,
	);
}

function readiness(subject: Subject, pods: readonly Pod[]): readonly Finding[] {
	const { service } = subject;
	const serving = pods.filter((pod) => !isTerminating(pod));
	const ready = serving.filter(isReady);
	const unready = pods.filter((pod) => !isReady(pod));
	if (service.spec.publishNotReadyAddresses === true) {
		return unready.length === 0 ? [] : [published(subject, unready)];
	}
	if (ready.length === 0 && serving.length > 0) return [noneReady(subject, unready)];
	if (ready.length === 0) return [allTerminating(pods)];
	if (unready.length === 0) return [];
	const text = `${unready.length} of ${pods.length} Pods are not ready, and get no traffic: ${few(unready.map(whyUnready))}.`;
	return [finding("some-pods-not-ready", text, unready.slice(0, 3).map(readyEvidence))];
}

function readyEvidence(pod: Pod) {
	const ready = pod.status?.conditions?.find(({ type }) => type === "Ready");
	return { object: podName(pod), field: "status.conditions[Ready]", value: ready?.status ?? "absent" };
}

/** Which container is not ready, and by which probe that would be known. */
function whyUnready(pod: Pod): string {
	const names = (pod.status?.containerStatuses ?? []).filter(({ ready }) => !ready).map(({ name }) => name);
	const probed = pod.spec.containers.find(
		({ name, readinessProbe }) => readinessProbe !== undefined && names.includes(name),
	);
	const gates = (pod.spec.readinessGates ?? []).filter(
		({ conditionType }) => pod.status?.conditions?.find(({ type }) => type === conditionType)?.status !== "True",
	);
	const probe = probed === undefined ? "" : `, see the readinessProbe of container ${probed.name}`;
	const gate =
		gates.length === 0 ? "" : `, readiness gate ${gates.map(({ conditionType }) => conditionType).join(", ")}`;
	return `${pod.metadata.name}${probe}${gate}`;
}

function noneReady(subject: Subject, pods: readonly Pod[]): Finding {
	const tolerated = subject.service.metadata.annotations?.[TOLERATE_UNREADY] !== undefined;
	const hint = tolerated
		? ` The annotation ${TOLERATE_UNREADY} has no effect: spec.publishNotReadyAddresses does what it did.`
		: "";
	const first = pods[0]?.metadata.name;
	return finding(
		"matched-pods-not-ready",
		`Pods match, and none is ready: ${few(pods.map(whyUnready))}. Endpoints that are not ready get no traffic.${hint}`,
		pods.slice(0, 3).map(readyEvidence),
		`kubectl -n ${subject.namespace} describe pod ${first}: its events and conditions say why it is not ready`,
	);
}

function allTerminating(pods: readonly Pod[]): Finding {
	const names = few(pods.map(({ metadata }) => metadata.name));
	return finding("all-terminating", `All Pods that match are terminating: ${names}.`, [
		{
			object: podName(pods[0] as Pod),
			field: "metadata.deletionTimestamp",
			value: pods[0]?.metadata.deletionTimestamp ?? "",
		},
	]);
}

function published(subject: Subject, pods: readonly Pod[]): Finding {
	const text = `publishNotReadyAddresses makes Pods that are not ready endpoints that are: ${few(pods.map(({ metadata }) => metadata.name))}.`;
	return finding("publishes-not-ready", text, [
		{ object: serviceName(subject), field: "spec.publishNotReadyAddresses", value: "true" },
	]);
}

function tolerated(subject: Subject): Finding {
	return finding(
		"tolerate-unready-annotation",
		`The annotation ${TOLERATE_UNREADY} has no effect.`,
		[{ object: serviceName(subject), field: "metadata.annotations", value: TOLERATE_UNREADY }],
		"set spec.publishNotReadyAddresses: true instead",
	);
}
