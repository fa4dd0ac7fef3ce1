/** Warnings about a pod's spec, the same in a Pod and in the template of a workload. */
import type { PodSpec } from "../types/core.ts";

const DEPRECATED_NODE_LABELS: Readonly<Record<string, string>> = {
	"beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
	"beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
	"failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
	"failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
	"beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
};

export function podSpecWarnings(field: string, spec: PodSpec): readonly string[] {
	return Object.keys(spec.nodeSelector ?? {}).flatMap((label) => {
		const text = Object.hasOwn(DEPRECATED_NODE_LABELS, label) ? DEPRECATED_NODE_LABELS[label] : undefined;
		return text === undefined ? [] : [`${field}.nodeSelector[${label}]: ${text}`];
	});
}
