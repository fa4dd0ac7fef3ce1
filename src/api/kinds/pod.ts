/** Pod: the endpoint that everything else is about. */

import { without } from "../../kernel/json.ts";
import type { FieldError } from "../field-error.ts";
import { dns1123SubdomainName } from "../names.ts";
import {
	ALL_VERBS,
	defineResource,
	proxySubresource,
	type ResourceType,
	STATUS_SUBRESOURCE,
	type Subresource,
} from "../resource.ts";
import type { Pod } from "../types/core.ts";
import { prepareNewPod, withNodeTolerations, withPodDefaults } from "./pod-defaults.ts";
import { POD_TABLE } from "./pod-table.ts";
import { validatePodSpec } from "./pod-template-validation.ts";
import { podSpecWarnings } from "./pod-template-warnings.ts";
import { validatePodSpecUpdate, validatePodStatusUpdate } from "./pod-update-validation.ts";

const SUBRESOURCES: readonly Subresource[] = [
	{ name: "binding", kind: { group: "", version: "v1", kind: "Binding" }, verbs: ["create"] },
	{ name: "eviction", kind: { group: "policy", version: "v1", kind: "Eviction" }, verbs: ["create"] },
	{ name: "log", kind: { group: "", version: "v1", kind: "Pod" }, verbs: ["get"] },
	{
		name: "portforward",
		kind: { group: "", version: "v1", kind: "PodPortForwardOptions" },
		verbs: ["create", "get"],
	},
	proxySubresource("PodProxyOptions"),
	STATUS_SUBRESOURCE,
];

export const POD: ResourceType = defineResource<Pod>({
	group: "",
	version: "v1",
	kind: "Pod",
	plural: "pods",
	singular: "pod",
	namespaced: true,
	shortNames: ["po"],
	categories: ["all"],
	verbs: ALL_VERBS,
	subresources: SUBRESOURCES,
	storagePrefix: "/registry/pods/",
	schema: "core.Pod",
	nameProblems: dns1123SubdomainName,
	generation: "spec",
	createOnUpdate: false,
	unconditionalUpdate: true,
	deleteAnswers: "object",
	fieldLabels: [
		"spec.nodeName",
		"spec.host",
		"spec.restartPolicy",
		"spec.schedulerName",
		"spec.serviceAccountName",
		"spec.hostNetwork",
		"status.phase",
		"status.podIP",
		"status.podIPs",
		"status.nominatedNodeName",
	],
	table: POD_TABLE,
	withDefaults: withPodDefaults,
	prepareCreate: prepareNewPod,
	prepareUpdate: (next, stored) => ({ ...next, spec: withNodeTolerations(next.spec), status: stored.status ?? {} }),
	prepareStatusUpdate,
	keptByStatus: [
		["metadata", "ownerReferences"],
		["metadata", "deletionTimestamp"],
	],
	validate,
	validateUpdate: (next, stored) => [...validate(next), ...validatePodSpecUpdate(next.spec, stored.spec)],
	validateStatusUpdate: validatePodStatusUpdate,
	warnings: ({ spec }) => podSpecWarnings("spec", spec),
	fields,
});

/** Who owns a pod, and whether it is going, is not the kubelet's to say. */
function prepareStatusUpdate(next: Pod, stored: Pod): Pod {
	const { ownerReferences, deletionTimestamp } = stored.metadata;
	const { qosClass } = stored.status ?? {};
	return {
		...next,
		metadata: {
			...without(next.metadata, "ownerReferences", "deletionTimestamp"),
			...(ownerReferences === undefined ? {} : { ownerReferences }),
			...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
		},
		spec: stored.spec,
		status: { ...(qosClass === undefined ? {} : { qosClass }), ...next.status },
	};
}

function validate({ spec }: Pod): readonly FieldError[] {
	return validatePodSpec("spec", spec);
}

function fields({ spec, status }: Pod): Readonly<Record<string, string>> {
	return {
		"spec.nodeName": spec.nodeName ?? "",
		// The name that the field had before v1.
		"spec.host": spec.nodeName ?? "",
		"spec.restartPolicy": spec.restartPolicy ?? "",
		"spec.schedulerName": spec.schedulerName ?? "",
		"spec.serviceAccountName": spec.serviceAccountName ?? "",
		"spec.hostNetwork": String(spec.hostNetwork ?? false),
		"status.phase": status?.phase ?? "",
		"status.podIP": status?.podIPs?.[0]?.ip ?? "",
		"status.nominatedNodeName": status?.nominatedNodeName ?? "",
	};
}
