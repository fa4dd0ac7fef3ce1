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

export interface StatefulSetUpdateStrategy {
	readonly type?: "RollingUpdate" | "OnDelete";
	readonly rollingUpdate?: { readonly partition?: number; readonly maxUnavailable?: IntOrString };
}

/** A claim that every pod of the set has for itself. Volumes are not simulated; the names are. */
export interface VolumeClaimTemplate {
	readonly apiVersion?: string;
	readonly kind?: string;
	readonly metadata?: { readonly name?: string };
	readonly spec?: Readonly<Record<string, unknown>>;
	readonly status?: Readonly<Record<string, unknown>>;
}

export interface StatefulSetStatus {
	readonly observedGeneration?: number;
	readonly replicas?: number;
	readonly readyReplicas?: number;
	readonly currentReplicas?: number;
	readonly updatedReplicas?: number;
	readonly availableReplicas?: number;
	/** Names of ControllerRevisions: of the pods that are being replaced, and of those that replace them. */
	readonly currentRevision?: string;
	readonly updateRevision?: string;
	readonly collisionCount?: number;
	readonly conditions?: readonly Condition[];
}

export interface StatefulSet extends KubeObject {
	readonly spec: {
		readonly replicas?: number;
		readonly selector: LabelSelector;
		readonly template: PodTemplateSpec;
		readonly volumeClaimTemplates?: readonly VolumeClaimTemplate[];
		readonly serviceName?: string;
		readonly podManagementPolicy?: "OrderedReady" | "Parallel";
		readonly updateStrategy?: StatefulSetUpdateStrategy;
		readonly revisionHistoryLimit?: number;
		readonly minReadySeconds?: number;
		readonly persistentVolumeClaimRetentionPolicy?: { readonly whenDeleted?: string; readonly whenScaled?: string };
		readonly ordinals?: { readonly start?: number };
	};
	readonly status?: StatefulSetStatus;
}

/** A state that a workload once had: what it can be rolled back to. */
export interface ControllerRevision extends KubeObject {
	readonly data?: unknown;
	/** Higher is newer. */
	readonly revision: number;
}
