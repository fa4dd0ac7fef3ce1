/** Are the Pods that match fit to be endpoints, and ready? */
import type { Pod } from "../api/types/core.ts";
import { hasLiveAddress, isReady, isTerminating } from "../plan/pod-facts.ts";
import { type Finding, few, finding } from "./finding.ts";
import { kubectl, patchFix } from "./fix.ts";
import { TOLERATE_UNREADY } from "./kept-fields.ts";
import { eventEvidence, stateText, whyPending, whyUnready } from "./pod-state.ts";
import { podName, type Subject, serviceName, serviceTarget } from "./subject.ts";

export function podFindings(subject: Subject): readonly Finding[] {
	const { pods, service } = subject;
	if (pods.length === 0) return [];
	const finished = pods.filter(isFinished);
	const live = pods.filter((pod) => !isFinished(pod));
	if (live.length === 0) return [allFinished(subject, finished)];
	const withAddress = live.filter(hasLiveAddress);
	if (withAddress.length === 0) return [withoutAddress(subject, live), ...finishedOnes(finished)];
	return [
		...readiness(subject, withAddress),
		...finishedOnes(finished),
		...(service.metadata.annotations?.[TOLERATE_UNREADY] === undefined ? [] : [tolerated(subject)]),
	];
}

function isFinished({ status }: Pod): boolean {
	return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** Who was evicted is told why. */
function endText(pod: Pod): string {
	const { message } = pod.status ?? {};
	return `${stateText(pod)}${message === undefined ? "" : `: ${message}`}`;
}

function describePod({ namespace }: Subject, pod: Pod | undefined, text: string) {
	return kubectl(["-n", namespace, "describe", "pod", pod?.metadata.name ?? ""], text);
}

function allFinished(subject: Subject, pods: readonly Pod[]): Finding {
	const text = `All Pods that match have run to their end, and have no endpoints: ${few(pods.map(endText))}.`;
	const fix = describePod(subject, pods[0], "Pods of a Deployment are made anew; those of a Job are not");
	return finding("matched-pods-all-finished", text, pods.slice(0, 3).map(phaseEvidence), fix);
}

function phaseEvidence(pod: Pod) {
	return { object: podName(pod), field: "status.phase", value: pod.status?.phase ?? "" };
}

function finishedOnes(pods: readonly Pod[]): readonly Finding[] {
	if (pods.length === 0) return [];
	const text = `A Pod that has run to its end has no endpoint: ${few(pods.map(endText))}.`;
	return [finding("matched-pod-finished", text, pods.slice(0, 3).map(phaseEvidence))];
}

function withoutAddress(subject: Subject, pods: readonly Pod[]): Finding {
	const words = pods.map((pod) => `${stateText(pod)}: ${whyPending(subject.scene, pod)}`);
	return finding(
		"matched-pods-without-ip",
		`Pods match, and none has an address yet: ${few(words)}.`,
		pods
			.slice(0, 3)
			.flatMap((pod) => [phaseEvidence(pod), ...scheduledEvidence(pod), ...eventEvidence(subject.scene, pod)]),
		describePod(subject, pods[0], "its events say what it waits for"),
	);
}

function scheduledEvidence(pod: Pod) {
	const scheduled = pod.status?.conditions?.find(({ type, status }) => type === "PodScheduled" && status === "False");
	if (scheduled === undefined) return [];
	return [{ object: podName(pod), field: "status.conditions[PodScheduled]", value: scheduled.reason ?? "False" }];
}

function readiness(subject: Subject, pods: readonly Pod[]): readonly Finding[] {
	const { service } = subject;
	const serving = pods.filter((pod) => !isTerminating(pod));
	const ready = serving.filter(isReady);
	const unready = pods.filter((pod) => !isReady(pod));
	if (service.spec.publishNotReadyAddresses === true) {
		const going = pods.filter(isTerminating);
		return [
			...(unready.length === 0 ? [] : [published(subject, unready)]),
			...(going.length === 0 ? [] : [publishedTerminating(subject, going)]),
		];
	}
	if (ready.length === 0 && serving.length > 0) return [noneReady(subject, unready)];
	if (ready.length === 0) return [allTerminating(pods)];
	if (unready.length === 0) return [];
	const text = `${unready.length} of ${pods.length} Pods are not ready, and get no traffic: ${few(unready.map((pod) => whyUnready(subject.scene, pod)))}.`;
	return [
		finding(
			"some-pods-not-ready",
			text,
			unready.slice(0, 3).map(readyEvidence),
			describePod(subject, unready[0], "its events say why"),
		),
	];
}

function readyEvidence(pod: Pod) {
	const ready = pod.status?.conditions?.find(({ type }) => type === "Ready");
	return { object: podName(pod), field: "status.conditions[Ready]", value: ready?.status ?? "absent" };
}

function noneReady(subject: Subject, pods: readonly Pod[]): Finding {
	const tolerated = subject.service.metadata.annotations?.[TOLERATE_UNREADY] !== undefined;
	const hint = tolerated
		? ` The annotation ${TOLERATE_UNREADY} has no effect: spec.publishNotReadyAddresses does what it did.`
		: "";
	return finding(
		"matched-pods-not-ready",
		`Pods match, and none is ready: ${few(pods.map((pod) => whyUnready(subject.scene, pod)))}. Endpoints that are not ready get no traffic.${hint}`,
		pods.slice(0, 3).flatMap((pod) => [readyEvidence(pod), ...eventEvidence(subject.scene, pod)]),
		tolerated
			? patchFix(serviceTarget(subject), { spec: { publishNotReadyAddresses: true } }, "if not ready is ready enough")
			: describePod(subject, pods[0], "its events and conditions say why it is not ready"),
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

function publishedTerminating(subject: Subject, pods: readonly Pod[]): Finding {
	const names = few(pods.map(({ metadata }) => metadata.name));
	return finding(
		"publishes-terminating",
		`With publishNotReadyAddresses Pods that are terminating stay ready endpoints until they are gone, and get new connections: ${names}.`,
		[
			{ object: serviceName(subject), field: "spec.publishNotReadyAddresses", value: "true" },
			...pods.slice(0, 3).map((pod) => ({
				object: podName(pod),
				field: "metadata.deletionTimestamp",
				value: pod.metadata.deletionTimestamp ?? "",
			})),
		],
		patchFix(
			serviceTarget(subject),
			{ spec: { publishNotReadyAddresses: false } },
			"unless peers must find each other before they are ready",
		),
	);
}

function tolerated(subject: Subject): Finding {
	return finding(
		"tolerate-unready-annotation",
		`The annotation ${TOLERATE_UNREADY} has no effect.`,
		[{ object: serviceName(subject), field: "metadata.annotations", value: TOLERATE_UNREADY }],
		patchFix(serviceTarget(subject), { spec: { publishNotReadyAddresses: true } }, "does what the annotation did"),
	);
}
