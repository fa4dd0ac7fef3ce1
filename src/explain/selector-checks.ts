/** Does the selector mean any Pod? If not: what comes nearest. */
import type { Pod } from "../api/types/core.ts";
import type { StringMap } from "../api/types/meta.ts";
import { setOwn } from "../kernel/json.ts";
import { matchesSelector } from "../plan/service-selector.ts";
import { edits, isTypo } from "./edits.ts";
import { type Finding, few, finding } from "./finding.ts";
import { type Fix, kubectl, patchFix } from "./fix.ts";
import type { Workload } from "./snapshot.ts";
import { staleSlices } from "./stale-checks.ts";
import { podName, type Subject, selectorText, serviceName, serviceTarget } from "./subject.ts";
import { workloadFindings } from "./workload-checks.ts";

export function selectorFindings(subject: Subject): readonly Finding[] {
	const { selector, pods, scene, namespace } = subject;
	if (selector === undefined) return staleSlices(subject);
	if (pods.length > 0 || !scene.has("Pod", namespace)) return [];
	const found = workloadFindings(subject, selector);
	// The selector is right when there is something whose Pods it means.
	if (found.length > 0) return found;
	return [noPods(subject, selector), ...elsewhere(subject, selector)];
}

function noPods(subject: Subject, selector: StringMap): Finding {
	const { namespace, service } = subject;
	const near = nearest(subject, selector);
	const ports = (service.spec.ports ?? []).flatMap(({ nodePort }) =>
		nodePort === undefined ? [] : [String(nodePort)],
	);
	const refused = ports.length === 0 ? "" : ` Node port ${ports.join(", ")} refuses connections.`;
	const text = `No Pod in namespace ${namespace} has the labels of the selector ${selectorText(selector)}.${near.text}${refused}`;
	const look = kubectl(
		["-n", namespace, "get", "pods", "--show-labels"],
		"then correct the selector, or the labels of the Pods' template",
	);
	return finding(
		"selector-matches-no-pods",
		text,
		[{ object: serviceName(subject), field: "spec.selector", value: selectorText(selector) }, ...near.evidence],
		near.fix ?? look,
	);
}

interface Near {
	readonly text: string;
	readonly evidence: readonly { readonly object: string; readonly field: string; readonly value: string }[];
	/** Undefined: what is meant is not sure enough. */
	readonly fix: Fix | undefined;
}

/** Sets of labels of a namespace that are looked at for the nearest. */
const NEAREST_MAX = 2_000;

/** A workload whose own labels match, or the Pod with most of the labels, or with a label that is a typo away. */
function nearest(subject: Subject, selector: StringMap): Near {
	const workload = workloadWithLabels(subject, selector);
	const pod = nearestPod(subject.scene.unlikePods(subject.namespace).slice(0, NEAREST_MAX), selector);
	const missing =
		pod === undefined ? [] : Object.entries(selector).filter(([key, value]) => labelOf(pod, key) !== value);
	const words = missing.map(([key, value]) => differenceText(pod, key, value));
	const podText = pod === undefined ? "" : ` The nearest is ${podName(pod)}: ${words.join("; ")}.`;
	const workloadText =
		workload === undefined
			? ""
			: ` ${workload.kind}/${workload.metadata.name} has them itself; only labels of its template count.`;
	return {
		text: `${podText}${workloadText}`,
		fix: workload !== undefined ? templateFix(workload, selector) : selectorFix(subject, pod, missing),
		evidence: [
			...(pod === undefined
				? []
				: [{ object: podName(pod), field: "metadata.labels", value: selectorText(pod.metadata.labels ?? {}) }]),
			...(workload === undefined
				? []
				: [
						{
							object: `${workload.kind}/${workload.metadata.name}`,
							field: "spec.template.metadata.labels",
							value: selectorText(workload.spec?.template?.metadata?.labels ?? {}),
						},
					]),
		],
	};
}

function nearestPod(pods: readonly Pod[], selector: StringMap): Pod | undefined {
	const far = pods.map((pod) => distance(selector, pod));
	return pods[far.indexOf(Math.min(...far))];
}

function templateFix({ kind, metadata }: Workload, labels: StringMap): Fix {
	const target = {
		kind,
		name: metadata.name,
		...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
	};
	return patchFix(target, { spec: { template: { metadata: { labels } } } }, "its Pods are made anew");
}

/** The selector as the Pod has the labels, if each is a typo away, or is there under another key. */
function selectorFix(
	subject: Subject,
	pod: Pod | undefined,
	missing: readonly (readonly [string, string])[],
): Fix | undefined {
	if (pod === undefined) return undefined;
	const selector: Record<string, string | null> = {};
	for (const [key, value] of missing) {
		const has = labelOf(pod, key);
		const other = Object.entries(pod.metadata.labels ?? {}).find(([, own]) => own === value);
		if (has !== undefined && isTypo(has, value)) setOwn(selector, key, has);
		else if (has === undefined && other !== undefined) {
			setOwn(selector, key, null);
			setOwn(selector, other[0], other[1]);
		} else return undefined;
	}
	return patchFix(serviceTarget(subject), { spec: { selector } }, `if ${podName(pod)} is meant`);
}

function labelOf({ metadata }: Pod, key: string): string | undefined {
	return metadata.labels !== undefined && Object.hasOwn(metadata.labels, key) ? metadata.labels[key] : undefined;
}

function differenceText(pod: Pod | undefined, key: string, wanted: string): string {
	const has = pod === undefined ? undefined : labelOf(pod, key);
	if (has !== undefined) return `it has ${key}=${has}, not ${key}=${wanted}`;
	const other = Object.entries(pod?.metadata.labels ?? {}).find(([, value]) => value === wanted);
	return other === undefined ? `it lacks ${key}=${wanted}` : `it has ${other[0]}=${wanted}, not ${key}=${wanted}`;
}

/** Labels that differ, each by how far the value is; a key that is missing counts most. */
function distance(selector: StringMap, pod: Pod): number {
	return Object.entries(selector).reduce((sum, [key, value]) => {
		const has = labelOf(pod, key);
		if (has === value) return sum;
		if (has !== undefined) return sum + edits(has, value);
		return sum + (Object.values(pod.metadata.labels ?? {}).includes(value) ? 5 : 12);
	}, 0);
}

function workloadWithLabels({ scene, namespace }: Subject, selector: StringMap): Workload | undefined {
	return (scene.namespaced().workloads.get(namespace) ?? []).find(
		({ metadata, spec }) =>
			matchesSelector(selector, metadata.labels) && !matchesSelector(selector, spec?.template?.metadata?.labels ?? {}),
	);
}

function elsewhere({ scene, namespace }: Subject, selector: StringMap): readonly Finding[] {
	const found = scene.podsAnywhere(selector).filter(({ metadata }) => metadata.namespace !== namespace);
	const [first] = found;
	if (first === undefined) return [];
	const names = few(found.map((pod) => `${pod.metadata.namespace}/${pod.metadata.name}`));
	return [
		finding(
			"selector-matches-elsewhere",
			`Pods of other namespaces have the labels (${names}); the Service selects in namespace ${namespace} only.`,
			[
				{
					object: podName(first),
					namespace: first.metadata.namespace ?? "",
					field: "metadata.namespace",
					value: first.metadata.namespace ?? "",
				},
			],
			`make the Service in namespace ${first.metadata.namespace}, or one of type ExternalName to it`,
		),
	];
}
