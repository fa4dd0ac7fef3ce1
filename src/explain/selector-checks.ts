/** Does the selector mean any Pod? If not: what comes nearest. */
import type { Pod } from "../api/types/core.ts";
import type { StringMap } from "../api/types/meta.ts";
import { ENDPOINTSLICE_CONTROLLER, SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL } from "../api/well-known.ts";
import { setOwn } from "../kernel/json.ts";
import { matchesSelector } from "../plan/service-selector.ts";
import { type Finding, few, finding } from "./finding.ts";
import { type Fix, kubectl, patchFix } from "./fix.ts";
import type { Workload } from "./snapshot.ts";
import { podName, type Subject, selectorText, serviceName, serviceTarget } from "./subject.ts";

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

/** Letters that a typo may differ by. */
const TYPO_EDITS = 2;

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
		if (has !== undefined && edits(has, value) <= TYPO_EDITS) setOwn(selector, key, has);
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

/** Further apart is all the same. */
const EDITS_MAX = 10;

/** Labels that differ, each by how far the value is; a key that is missing counts most. */
function distance(selector: StringMap, pod: Pod): number {
	return Object.entries(selector).reduce((sum, [key, value]) => {
		const has = labelOf(pod, key);
		if (has === value) return sum;
		if (has !== undefined) return sum + Math.min(EDITS_MAX, edits(has, value));
		return sum + (Object.values(pod.metadata.labels ?? {}).includes(value) ? 5 : 12);
	}, 0);
}

/** How many letters are to be put in, taken out or replaced. */
function edits(a: string, b: string): number {
	if (Math.abs(a.length - b.length) >= EDITS_MAX) return EDITS_MAX;
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

/** Slices of the controller for a Service that has no selector any more. */
function staleSlices({ service, slices, scene, namespace, key }: Subject): readonly Finding[] {
	if (service.spec.type === "ExternalName") return [];
	const own = slices.filter(
		({ metadata }) =>
			metadata.labels?.[SLICE_MANAGED_BY_LABEL] === ENDPOINTSLICE_CONTROLLER && metadata.ownerReferences !== undefined,
	);
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
			kubectl(
				["-n", namespace, "delete", "endpointslices", "-l", `${SERVICE_NAME_LABEL}=${service.metadata.name}`],
				`or give ${key} its selector back`,
			),
		),
	];
}
