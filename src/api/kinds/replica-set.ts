/** ReplicaSet: keeps a number of pods of one template alive. */
import { age } from "../age.ts";
import type { FieldError } from "../field-error.ts";
import { dns1123SubdomainName } from "../names.ts";
import {
	ALL_VERBS,
	defineResource,
	type ResourceType,
	SCALE_SUBRESOURCE,
	STATUS_SUBRESOURCE,
	type Table,
} from "../resource.ts";
import type { ReplicaSet } from "../types/apps.ts";
import {
	AGE_COLUMN,
	CONTAINER_COLUMNS,
	containerCells,
	integerColumn,
	NAME_COLUMN,
	selectorText,
	wideColumn,
} from "./cells.ts";
import { withTemplateDefaults } from "./pod-template-defaults.ts";
import { podSpecWarnings } from "./pod-template-warnings.ts";
import {
	validateNonNegative,
	validateSelectorKept,
	validateWorkloadSelector,
	validateWorkloadTemplate,
} from "./workload-validation.ts";

export const REPLICA_SET: ResourceType = defineResource<ReplicaSet>({
	group: "apps",
	version: "v1",
	kind: "ReplicaSet",
	plural: "replicasets",
	singular: "replicaset",
	namespaced: true,
	shortNames: ["rs"],
	categories: ["all"],
	verbs: ALL_VERBS,
	subresources: [SCALE_SUBRESOURCE, STATUS_SUBRESOURCE],
	storagePrefix: "/registry/replicasets/",
	schema: "apps.ReplicaSet",
	nameProblems: dns1123SubdomainName,
	generation: "spec",
	createOnUpdate: false,
	unconditionalUpdate: true,
	deleteAnswers: "status",
	fieldLabels: ["status.replicas"],
	table: replicaSetTable(),
	withDefaults(replicaSet) {
		const spec: Partial<ReplicaSet["spec"]> = replicaSet.spec ?? {};
		const template = withTemplateDefaults(spec.template);
		return {
			...replicaSet,
			// A missing selector stays missing: validation asks for it.
			spec: { ...(spec as ReplicaSet["spec"]), replicas: spec.replicas ?? 1, template },
			status: { ...replicaSet.status, replicas: replicaSet.status?.replicas ?? 0 },
		};
	},
	prepareCreate: (replicaSet) => ({ ...replicaSet, status: { replicas: 0 } }),
	prepareUpdate: (next, stored) => ({ ...next, status: stored.status ?? { replicas: 0 } }),
	prepareStatusUpdate: (next, stored) => ({ ...next, spec: stored.spec }),
	validate,
	validateUpdate: (next, stored) => [...validate(next), ...validateSelectorKept(next.spec, stored.spec)],
	validateStatusUpdate: ({ status }) =>
		(["replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas"] as const).flatMap((key) =>
			validateNonNegative(`status.${key}`, status?.[key]),
		),
	warnings: ({ spec }) =>
		spec.template === undefined ? [] : podSpecWarnings("spec.template.spec", spec.template.spec),
	fields: ({ status }) => ({ "status.replicas": String(status?.replicas ?? 0) }),
});

function validate({ spec }: ReplicaSet): readonly FieldError[] {
	return [
		...validateNonNegative("spec.replicas", spec.replicas),
		...validateNonNegative("spec.minReadySeconds", spec.minReadySeconds),
		...validateWorkloadSelector(spec),
		...validateWorkloadTemplate(spec),
	];
}

function replicaSetTable(): Table<ReplicaSet> {
	return {
		columns: [
			NAME_COLUMN,
			integerColumn("Desired", "How many pods there should be."),
			integerColumn("Current", "How many pods there are."),
			integerColumn("Ready", "How many pods are ready."),
			AGE_COLUMN,
			...CONTAINER_COLUMNS,
			wideColumn("Selector", "The labels of the pods that count."),
		],
		cells: ({ metadata, spec, status }, nowMs) => [
			metadata.name,
			spec.replicas ?? 0,
			status?.replicas ?? 0,
			status?.readyReplicas ?? 0,
			age(nowMs, metadata.creationTimestamp),
			...containerCells(spec.template),
			(selectorText(spec.selector) ?? "<error>") || "<none>",
		],
	};
}
