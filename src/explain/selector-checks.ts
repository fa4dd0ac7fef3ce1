/** Does the selector mean any Pod? If not: what comes nearest. */
import type { Pod } from "../api/types/core.ts";
import type { StringMap } from "../api/types/meta.ts";
import { ENDPOINTSLICE_CONTROLLER, SLICE_MANAGED_BY_LABEL } from "../api/well-known.ts";
import { matchesSelector } from "../plan/service-selector.ts";
import { type Finding, few, finding } from "./finding.ts";
import type { Workload } from "./snapshot.ts";
import { podName, type Subject, selectorText, serviceName } from "./subject.ts";

export function selectorFindings(subject: Subject): readonly Finding[] {
	const { selector, pods, scene } = subject;
	if (selector === undefined) return staleSlices(subject);
	if (pods.length > 0 || !scene.has("Pod")) return [];
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
	const fix = `kubectl -n ${namespace} get pods --show-labels, then correct the selector or the labels of the Pods' template`;
	return finding(
		"selector-matches-no-pods",
		text,
		[{ object: serviceName(subject), field: "spec.selector", value: selectorText(selector) }, ...near.evidence],
		fix,
	);
}

interface Near {
	readonly text: string;
	readonly evidence: readonly { readonly object: string; readonly field: string; readonly value: string }[];
}

/** A workload whose own labels match, or the Pod with most of the labels, or with a label that is a typo away. */
function nearest(subject: Subject, selector: StringMap): Near {
	const workload = workloadWithLabels(subject, selector);
	const pods = subject.scene.podsIn(subject.namespace);
	const [pod] = [...pods].sort((a, b) => distance(selector, a) - distance(selector, b));
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
		if (has !== undefined) return sum + Math.min(10, edits(has, value));
		return sum + (Object.values(pod.metadata.labels ?? {}).includes(value) ? 5 : 12);
	}, 0);
}

/** How many letters are to be put in, taken out or replaced. */
function edits(a: string, b: string): number {
	let row = Array.from({ length: b.length + 1 }, (_, index) => index);
	for (let i = 1; i <= a.length; i++) {
		const next = [i];
		for (let j = 1; j <= b.length; j++) {
			const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
			next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
		}
		row = next;
	}
	return row[b.length] ?? 0;
}

function workloadWithLabels({ scene, namespace }: Subject, selector: StringMap): Workload | undefined {
	return scene.snapshot.workloads.find(
		({ metadata, spec }) =>
			metadata.namespace === namespace &&
			matchesSelector(selector, metadata.labels) &&
			!matchesSelector(selector, spec?.template?.metadata?.labels ?? {}),
	);
}

function elsewhere({ scene, namespace }: Subject, selector: StringMap): readonly Finding[] {
	const found = scene.snapshot.pods.filter(
		({ metadata }) => metadata.namespace !== namespace && matchesSelector(selector, metadata.labels),
	);
	const [first] = found;
	if (first === undefined) return [];
	const names = few(found.map((pod) => `${pod.metadata.namespace}/${pod.metadata.name}`));
	return [
		finding(
			"selector-matches-elsewhere",
			`Pods of other namespaces have the labels (${names}); the Service selects in namespace ${namespace} only.`,
			[
				{
					object: `${podName(first)} (${first.metadata.namespace})`,
					field: "metadata.namespace",
					value: first.metadata.namespace ?? "",
				},
			],
			`make the Service in namespace ${first.metadata.namespace}, or one of type ExternalName to it`,
		),
	];
}

/** Slices of the controller for a Service that has no selector any more. */
function staleSlices({ service, slices, scene, namespace, key }: Subject): readonly Finding[] {
	if (service.spec.type === "ExternalName") return [];
	const own = slices.filter(({ metadata }) => metadata.labels?.[SLICE_MANAGED_BY_LABEL] === ENDPOINTSLICE_CONTROLLER);
	const [first] = own;
	if (first === undefined) return [];
	const pods = new Set(scene.podsIn(namespace).map(({ metadata }) => metadata.name));
	const gone = own
		.flatMap(({ endpoints }) => endpoints ?? [])
		.flatMap(({ targetRef }) =>
			targetRef?.kind === "Pod" && !pods.has(targetRef.name ?? "") ? [targetRef.name ?? ""] : [],
		);
	const ghosts = gone.length === 0 || !scene.has("Pod") ? "" : ` Of what they list, pod ${few(gone)} does not exist.`;
	return [
		finding(
			"stale-endpoints-of-removed-selector",
			`The Service has no selector, and has EndpointSlices of ${ENDPOINTSLICE_CONTROLLER} from when it had one; nobody updates them.${ghosts}`,
			own.map(({ metadata }) => ({
				object: `EndpointSlice/${metadata.name}`,
				field: "metadata.labels",
				value: ENDPOINTSLICE_CONTROLLER,
			})),
			`kubectl -n ${namespace} delete endpointslice,endpoints -l kubernetes.io/service-name=${service.metadata.name}, or give ${key} its selector back`,
		),
	];
}
