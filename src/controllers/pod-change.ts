/** Which Services a change of a Pod concerns. Both endpoint controllers listen by these rules. */
import type { Pod, Service } from "../api/types/core.ts";
import type { StringMap } from "../api/types/meta.ts";
import { deepEqual } from "../kernel/json.ts";
import { isReady, isTerminating } from "../plan/pod-facts.ts";

/** All that is kept of a Pod's event. */
export interface PodChange {
	readonly namespace: string;
	readonly labels: StringMap;
	/** Labels before, when they, the hostname or the subdomain have changed. */
	readonly oldLabels?: StringMap;
	/** Something that an endpoint shows has changed. */
	readonly showsInEndpoint: boolean;
}

/** undefined when no endpoint can look different: annotations, phase, containers and the like. */
export function podChange(old: Pod | undefined, pod: Pod): PodChange | undefined {
	const { namespace = "", labels = {} } = pod.metadata;
	if (old === undefined) return { namespace, labels, showsInEndpoint: true };
	if (old.metadata.resourceVersion === pod.metadata.resourceVersion) return undefined;
	const showsInEndpoint = endpointDiffers(old, pod);
	if (!namesDiffer(old, pod)) return showsInEndpoint ? { namespace, labels, showsInEndpoint } : undefined;
	const oldLabels = old.metadata.labels;
	return { namespace, labels, showsInEndpoint, ...(oldLabels === undefined ? {} : { oldLabels }) };
}

/** Every update of a Pod that terminates counts, as upstream has it. */
function endpointDiffers(old: Pod, pod: Pod): boolean {
	return (
		isTerminating(old) || isTerminating(pod) || isReady(old) !== isReady(pod) || !deepEqual(ipsOf(old), ipsOf(pod))
	);
}

function ipsOf(pod: Pod): readonly string[] {
	return (pod.status?.podIPs ?? []).map(({ ip }) => ip);
}

function namesDiffer(old: Pod, pod: Pod): boolean {
	return (
		!deepEqual(old.metadata.labels ?? {}, pod.metadata.labels ?? {}) ||
		(old.spec.hostname ?? "") !== (pod.spec.hostname ?? "") ||
		(old.spec.subdomain ?? "") !== (pod.spec.subdomain ?? "")
	);
}

/** The Services to look at again. `matching` finds those that select Pods with the labels. */
export function concernedServices(
	change: PodChange,
	matching: (namespace: string, labels: StringMap) => readonly Service[],
): readonly Service[] {
	const now = new Set(matching(change.namespace, change.labels));
	if (change.oldLabels === undefined) return [...now];
	const before = new Set(matching(change.namespace, change.oldLabels));
	if (change.showsInEndpoint) return [...new Set([...before, ...now])];
	// Only labels moved: for a Service that matched before and after, nothing has changed.
	return [...[...before].filter((service) => !now.has(service)), ...[...now].filter((service) => !before.has(service))];
}
