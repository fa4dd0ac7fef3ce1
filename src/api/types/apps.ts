/** The `apps/v1` group: the workloads that make pods. */
import type { PodTemplateSpec } from "./core.ts";
import type { Condition, IntOrString, KubeObject, LabelSelector } from "./meta.ts";

export interface DeploymentStrategy {
	readonly type?: "RollingUpdate" | "Recreate";
	readonly rollingUpdate?: { readonly maxSurge?: IntOrString; readonly maxUnavailable?: IntOrString };
}

export interface Deployment extends KubeObject {
	readonly spec: {
		readonly replicas?: number;
		readonly selector: LabelSelector;
		readonly template: PodTemplateSpec;
		readonly strategy?: DeploymentStrategy;
		readonly minReadySeconds?: number;
		readonly revisionHistoryLimit?: number;
		readonly paused?: boolean;
		readonly progressDeadlineSeconds?: number;
	};
	readonly status?: {
		readonly observedGeneration?: number;
		readonly replicas?: number;
		readonly updatedReplicas?: number;
		readonly readyReplicas?: number;
		readonly availableReplicas?: number;
		readonly unavailableReplicas?: number;
		readonly terminatingReplicas?: number;
		readonly collisionCount?: number;
		readonly conditions?: readonly Condition[];
	};
}

export interface ReplicaSet extends KubeObject {
	readonly spec: {
		readonly replicas?: number;
		readonly selector: LabelSelector;
		readonly template?: PodTemplateSpec;
		readonly minReadySeconds?: number;
	};
	readonly status?: {
		readonly observedGeneration?: number;
		readonly replicas?: number;
		readonly fullyLabeledReplicas?: number;
		readonly readyReplicas?: number;
		readonly availableReplicas?: number;
		readonly terminatingReplicas?: number;
		readonly conditions?: readonly Condition[];
	};
}
