/** What a Deployment reports of its ReplicaSets. */
import type { Deployment, ReplicaSet } from "../../api/types/apps.ts";
import { conditionsOf } from "./deployment-conditions.ts";
import { sizeOf } from "./deployment-sizes.ts";
import type { RollingNumbers } from "./rolling-numbers.ts";

export type DeploymentStatus = NonNullable<Deployment["status"]>;

export interface StatusFacts {
	readonly deployment: Deployment;
	/** As it was before this sync; one that this sync makes has no Pods yet. */
	readonly newSet: ReplicaSet | undefined;
	/** As they were before this sync. */
	readonly oldSets: readonly ReplicaSet[];
	readonly isNewSetCreated: boolean;
	/** Whether this sync works on a rollout; one that scales, or finds the Deployment paused or deleted, does not. */
	readonly isRollout: boolean;
	readonly numbers: RollingNumbers;
	readonly nowMs: number;
}

export type Counts = Required<
	Pick<DeploymentStatus, "replicas" | "updatedReplicas" | "readyReplicas" | "availableReplicas" | "unavailableReplicas">
>;

export function deploymentStatus(facts: StatusFacts): DeploymentStatus {
	const { deployment, newSet, oldSets } = facts;
	const { collisionCount } = deployment.status ?? {};
	const sets = newSet === undefined ? oldSets : [...oldSets, newSet];
	const counts = countsOf(newSet, sets);
	const conditions = conditionsOf(facts, counts);
	return {
		observedGeneration: deployment.metadata.generation ?? 1,
		...Object.fromEntries(Object.entries(counts).filter(([, number]) => number > 0)),
		...terminatingOf(sets),
		...(collisionCount === undefined ? {} : { collisionCount }),
		...(conditions.length === 0 ? {} : { conditions }),
	};
}

function countsOf(newSet: ReplicaSet | undefined, sets: readonly ReplicaSet[]): Counts {
	const count = (of: (set: ReplicaSet) => number | undefined): number =>
		sets.reduce((total, set) => total + (of(set) ?? 0), 0);
	const availableReplicas = count(({ status }) => status?.availableReplicas);
	return {
		replicas: count(({ status }) => status?.replicas),
		updatedReplicas: newSet?.status?.replicas ?? 0,
		readyReplicas: count(({ status }) => status?.readyReplicas),
		availableReplicas,
		unavailableReplicas: Math.max(0, count(sizeOf) - availableReplicas),
	};
}

/** Unknown as long as one ReplicaSet has not reported it. */
function terminatingOf(sets: readonly ReplicaSet[]): Pick<DeploymentStatus, "terminatingReplicas"> {
	let terminatingReplicas = 0;
	for (const { status } of sets) {
		if (status?.terminatingReplicas === undefined) return {};
		terminatingReplicas += status.terminatingReplicas;
	}
	return { terminatingReplicas };
}

/** Whether a status says that every Pod is of the newest template, and available. */
export function isComplete({ metadata, spec }: Deployment, status: DeploymentStatus | undefined): boolean {
	const replicas = spec.replicas ?? 1;
	return (
		(status?.updatedReplicas ?? 0) === replicas &&
		(status?.replicas ?? 0) === replicas &&
		(status?.availableReplicas ?? 0) === replicas &&
		(status?.observedGeneration ?? 0) >= (metadata.generation ?? 1)
	);
}
