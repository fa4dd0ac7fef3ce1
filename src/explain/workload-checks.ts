/** Is there something that should make the Pods that the selector means? Then why has it not? */
import type { StringMap } from "../api/types/meta.ts";
import { isObject } from "../kernel/json.ts";
import { matchesSelector } from "../plan/service-selector.ts";
import { type Evidence, type Finding, few, finding } from "./finding.ts";
import { kubectl } from "./fix.ts";
import type { Scene, Workload } from "./snapshot.ts";
import { type Subject, selectorText, serviceName } from "./subject.ts";

/** Those that keep their Pods there. A Job ends, and its Pods with it. */
const KEEPERS = new Set(["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"]);

/** Empty: no template has the labels. */
export function workloadFindings(subject: Subject, selector: StringMap): readonly Finding[] {
	const { scene, namespace } = subject;
	const all = scene.namespaced().workloads.get(namespace) ?? [];
	const meant = all.filter(
		({ kind, metadata, spec }) =>
			KEEPERS.has(kind) &&
			// A Deployment has one for each of its revisions.
			(metadata.ownerReferences ?? []).length === 0 &&
			matchesSelector(selector, spec?.template?.metadata?.labels ?? undefined),
	);
	if (meant.length === 0) return [];
	const wanting = meant.filter(({ spec }) => spec?.replicas !== 0);
	return [wanting.length === 0 ? scaledToZero(subject, meant) : notCreated(subject, selector, wanting)];
}

function nameOf({ kind, metadata }: Workload): string {
	return `${kind}/${metadata.name}`;
}

function scaledToZero({ namespace }: Subject, workloads: readonly Workload[]): Finding {
	const [first] = workloads;
	const names = workloads.map(nameOf);
	return finding(
		"workload-scaled-to-zero",
		`${few(names)}, whose Pods the selector means, ${names.length === 1 ? "has" : "have"} 0 replicas: there are no Pods.`,
		workloads.slice(0, 3).map((each) => ({ object: nameOf(each), field: "spec.replicas", value: "0" })),
		kubectl(
			["-n", namespace, "scale", (first?.kind ?? "").toLowerCase(), first?.metadata.name ?? "", "--replicas=1"],
			"or as many as you want",
		),
	);
}

function notCreated(subject: Subject, selector: StringMap, workloads: readonly Workload[]): Finding {
	const { scene, namespace } = subject;
	const [first] = workloads;
	const reasons = workloads.flatMap((each) => whyNot(scene, each));
	const paused = workloads.filter(({ spec }) => spec?.paused === true).map(nameOf);
	const why = [
		...new Set(reasons.map(({ text }) => text)),
		...(paused.length === 0 ? [] : [`${few(paused)} is paused`]),
	];
	const said =
		why.length === 0
			? "Nothing says why: the controller that makes them does not run, or has not come to it yet."
			: `${few(why)}.`;
	return finding(
		"pods-not-created",
		`The selector means the Pods of ${few(workloads.map(nameOf))}, and none of them has been made. ${said}`,
		[
			{ object: serviceName(subject), field: "spec.selector", value: selectorText(selector) },
			...(reasons.length > 0 ? reasons.map(({ evidence }) => evidence) : workloads.map(replicasEvidence)).slice(0, 4),
		],
		kubectl(
			["-n", namespace, "describe", (first?.kind ?? "").toLowerCase(), first?.metadata.name ?? ""],
			"its conditions and events, and those of its ReplicaSet, say what to give it",
		),
	);
}

function replicasEvidence(workload: Workload): Evidence {
	return { object: nameOf(workload), field: "spec.replicas", value: String(workload.spec?.replicas ?? 1) };
}

interface Reason {
	readonly text: string;
	readonly evidence: Evidence;
}

/** What it says itself, or its ReplicaSets do, in conditions and Events. */
function whyNot(scene: Scene, workload: Workload): readonly Reason[] {
	const owned = (scene.namespaced().workloads.get(workload.metadata.namespace ?? "") ?? []).filter(({ metadata }) =>
		(metadata.ownerReferences ?? []).some(
			({ kind, name }) => kind === workload.kind && name === workload.metadata.name,
		),
	);
	return [workload, ...owned].flatMap((each) => [...conditionReasons(each), ...eventReasons(scene, each)]);
}

function conditionReasons(workload: Workload): readonly Reason[] {
	const conditions: unknown = workload.status?.conditions;
	// Of kinds that are not served here nothing has been decoded.
	if (!Array.isArray(conditions)) return [];
	return conditions.filter(isObject).flatMap((condition) => {
		if (condition["type"] !== "ReplicaFailure" || condition["status"] !== "True") return [];
		const text = `${String(condition["reason"] ?? "ReplicaFailure")}: ${String(condition["message"] ?? "")}`;
		return [{ text, evidence: { object: nameOf(workload), field: "status.conditions[ReplicaFailure]", value: text } }];
	});
}

function eventReasons(scene: Scene, workload: Workload): readonly Reason[] {
	const event = scene.lastEvent(workload);
	if (event === undefined) return [];
	const text = `${event.reason ?? ""}: ${event.message ?? ""}`;
	return [{ text, evidence: { object: `Event/${event.metadata.name}`, field: "message", value: text } }];
}
