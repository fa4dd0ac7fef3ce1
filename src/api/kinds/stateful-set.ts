/** StatefulSet: pods with names that stay, made and replaced in order. */
import { age } from "../age.ts";
import { dns1123LabelName } from "../names.ts";
import {
	ALL_VERBS,
	defineResource,
	type ResourceType,
	SCALE_SUBRESOURCE,
	STATUS_SUBRESOURCE,
	type Table,
} from "../resource.ts";
import type { StatefulSet, StatefulSetUpdateStrategy, VolumeClaimTemplate } from "../types/apps.ts";
import { AGE_COLUMN, CONTAINER_COLUMNS, column, containerCells, NAME_COLUMN } from "./cells.ts";
import { withTemplateDefaults } from "./pod-template-defaults.ts";
import { podSpecWarnings } from "./pod-template-warnings.ts";
import {
	validateStatefulSet,
	validateStatefulSetStatus,
	validateStatefulSetUpdate,
} from "./stateful-set-validation.ts";

/** Both counts are always printed. */
const NO_STATUS = { replicas: 0, availableReplicas: 0 } as const;

export const STATEFUL_SET: ResourceType = defineResource<StatefulSet>({
	group: "apps",
	version: "v1",
	kind: "StatefulSet",
	plural: "statefulsets",
	singular: "statefulset",
	namespaced: true,
	shortNames: ["sts"],
	categories: ["all"],
	verbs: ALL_VERBS,
	subresources: [SCALE_SUBRESOURCE, STATUS_SUBRESOURCE],
	storagePrefix: "/registry/statefulsets/",
	schema: "apps.StatefulSet",
	nameProblems: dns1123LabelName,
	generation: "spec",
	createOnUpdate: false,
	unconditionalUpdate: true,
	deleteAnswers: "status",
	fieldLabels: [],
	table: statefulSetTable(),
	withDefaults,
	prepareCreate: (set) => ({ ...set, status: NO_STATUS }),
	prepareUpdate: (next, stored) => ({ ...next, status: stored.status ?? NO_STATUS }),
	prepareStatusUpdate: (next, stored) => ({ ...next, spec: stored.spec }),
	validate: validateStatefulSet,
	validateUpdate: validateStatefulSetUpdate,
	validateStatusUpdate: validateStatefulSetStatus,
	warnings: ({ spec }) => podSpecWarnings("spec.template.spec", spec.template.spec),
	fields: () => ({}),
});

function withDefaults(set: StatefulSet): StatefulSet {
	const spec: Partial<StatefulSet["spec"]> = set.spec ?? {};
	const { persistentVolumeClaimRetentionPolicy: retention, volumeClaimTemplates: claims } = spec;
	return {
		...set,
		spec: {
			// A missing selector stays missing: validation asks for it.
			...(spec as StatefulSet["spec"]),
			replicas: spec.replicas ?? 1,
			template: withTemplateDefaults(spec.template),
			...(claims === undefined ? {} : { volumeClaimTemplates: claims.map(withClaimDefaults) }),
			podManagementPolicy: spec.podManagementPolicy || "OrderedReady",
			updateStrategy: withStrategyDefaults(spec.updateStrategy ?? {}),
			revisionHistoryLimit: spec.revisionHistoryLimit ?? 10,
			persistentVolumeClaimRetentionPolicy: {
				whenDeleted: retention?.whenDeleted || "Retain",
				whenScaled: retention?.whenScaled || "Retain",
			},
		},
		status: { ...NO_STATUS, ...set.status },
	};
}

function withStrategyDefaults(strategy: StatefulSetUpdateStrategy): StatefulSetUpdateStrategy {
	const type = strategy.type || "RollingUpdate";
	if (type !== "RollingUpdate") return { ...strategy, type };
	const { rollingUpdate } = strategy;
	return { ...strategy, type, rollingUpdate: { ...rollingUpdate, partition: rollingUpdate?.partition ?? 0 } };
}

function withClaimDefaults(claim: VolumeClaimTemplate): VolumeClaimTemplate {
	return {
		...claim,
		apiVersion: claim.apiVersion || "v1",
		kind: claim.kind || "PersistentVolumeClaim",
		spec: { ...claim.spec, volumeMode: claim.spec?.["volumeMode"] ?? "Filesystem" },
		status: { ...claim.status, phase: claim.status?.["phase"] ?? "Pending" },
	};
}

function statefulSetTable(): Table<StatefulSet> {
	return {
		columns: [NAME_COLUMN, column("Ready", "How many pods are ready, of how many."), AGE_COLUMN, ...CONTAINER_COLUMNS],
		cells: ({ metadata, spec, status }, nowMs) => [
			metadata.name,
			`${status?.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
			age(nowMs, metadata.creationTimestamp),
			...containerCells(spec.template),
		],
	};
}
