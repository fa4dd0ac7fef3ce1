/** Deployment: replaces the pods of one template by those of the next, step by step. */

import { without } from "../../kernel/json.ts";
import { age } from "../age.ts";
import { dns1123SubdomainName } from "../names.ts";
import {
	ALL_VERBS,
	defineResource,
	type ResourceType,
	SCALE_SUBRESOURCE,
	STATUS_SUBRESOURCE,
	type Table,
} from "../resource.ts";
import type { Deployment, DeploymentStrategy } from "../types/apps.ts";
import {
	AGE_COLUMN,
	CONTAINER_COLUMNS,
	column,
	containerCells,
	NAME_COLUMN,
	selectorText,
	wideColumn,
} from "./cells.ts";
import { validateDeployment, validateDeploymentStatus, validateDeploymentUpdate } from "./deployment-validation.ts";
import { withTemplateDefaults } from "./pod-template-defaults.ts";
import { podSpecWarnings } from "./pod-template-warnings.ts";

export const DEPLOYMENT: ResourceType = defineResource<Deployment>({
	group: "apps",
	version: "v1",
	kind: "Deployment",
	plural: "deployments",
	singular: "deployment",
	namespaced: true,
	shortNames: ["deploy"],
	categories: ["all"],
	verbs: ALL_VERBS,
	subresources: [SCALE_SUBRESOURCE, STATUS_SUBRESOURCE],
	storagePrefix: "/registry/deployments/",
	schema: "apps.Deployment",
	nameProblems: dns1123SubdomainName,
	generation: "spec-or-annotations",
	createOnUpdate: false,
	unconditionalUpdate: true,
	deleteAnswers: "status",
	fieldLabels: [],
	table: deploymentTable(),
	withDefaults,
	prepareCreate: (deployment) => ({ ...deployment, status: {} }),
	prepareUpdate: (next, stored) => ({ ...next, status: stored.status ?? {} }),
	prepareStatusUpdate,
	keptByStatus: [["metadata", "labels"]],
	validate: validateDeployment,
	validateUpdate: validateDeploymentUpdate,
	validateStatusUpdate: validateDeploymentStatus,
	warnings: ({ spec }) => podSpecWarnings("spec.template.spec", spec.template.spec),
	fields: () => ({}),
});

const PROGRESS_DEADLINE_SECONDS = 600;
const REVISIONS_KEPT = 10;

function withDefaults(deployment: Deployment): Deployment {
	const spec: Partial<Deployment["spec"]> = deployment.spec ?? {};
	return {
		...deployment,
		spec: {
			// A missing selector stays missing: validation asks for it.
			...(spec as Deployment["spec"]),
			replicas: spec.replicas ?? 1,
			template: withTemplateDefaults(spec.template),
			strategy: withStrategyDefaults(spec.strategy ?? {}),
			revisionHistoryLimit: spec.revisionHistoryLimit ?? REVISIONS_KEPT,
			progressDeadlineSeconds: spec.progressDeadlineSeconds ?? PROGRESS_DEADLINE_SECONDS,
		},
		status: deployment.status ?? {},
	};
}

function withStrategyDefaults(strategy: DeploymentStrategy): DeploymentStrategy {
	const type = strategy.type || "RollingUpdate";
	if (type !== "RollingUpdate") return strategy;
	return { ...strategy, type, rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%", ...strategy.rollingUpdate } };
}

/** Labels belong to the spec's writers here, unlike in other kinds. */
function prepareStatusUpdate(next: Deployment, stored: Deployment): Deployment {
	const { labels } = stored.metadata;
	return {
		...next,
		metadata: { ...without(next.metadata, "labels"), ...(labels === undefined ? {} : { labels }) },
		spec: stored.spec,
	};
}

/** Up-to-date and Available are numbers in columns that are declared as text: so on a real server. */
function deploymentTable(): Table<Deployment> {
	return {
		columns: [
			NAME_COLUMN,
			column("Ready", "How many pods are ready, of how many."),
			column("Up-to-date", "How many pods have the newest template."),
			column("Available", "How many pods have been ready for minReadySeconds."),
			AGE_COLUMN,
			...CONTAINER_COLUMNS,
			wideColumn("Selector", "The labels of the pods that count."),
		],
		cells: ({ metadata, spec, status }, nowMs) => [
			metadata.name,
			`${status?.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
			status?.updatedReplicas ?? 0,
			status?.availableReplicas ?? 0,
			age(nowMs, metadata.creationTimestamp),
			...containerCells(spec.template),
			selectorText(spec.selector) ?? "<invalid>",
		],
	};
}
