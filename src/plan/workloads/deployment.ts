/** Decides how the ReplicaSets and the status of one Deployment must change: one step at a time. */
import type { Deployment, ReplicaSet } from "../../api/types/apps.ts";
import type { Pod } from "../../api/types/core.ts";
import type { Draft, StringMap } from "../../api/types/meta.ts";
import { deepEqual } from "../../kernel/json.ts";
import {
	annotationsFor,
	DESIRED_REPLICAS_ANNOTATION,
	type Generations,
	generationsOf,
	MAX_REPLICAS_ANNOTATION,
	type NewSetOptions,
	newReplicaSet,
	REVISION_ANNOTATION,
	revisionOf,
} from "./deployment-replica-sets.ts";
import { firstSize, isScaled, recreateStep, rollingStep, type Sizes, scaledSizes, sizeOf } from "./deployment-sizes.ts";
import { type DeploymentStatus, deploymentStatus, progressDeadlineMs } from "./deployment-status.ts";
import { type RollingNumbers, rollingNumbers } from "./rolling-numbers.ts";

export interface DeploymentWorld {
	readonly deployment: Deployment;
	/** Those that the Deployment controls. */
	readonly replicaSets: readonly ReplicaSet[];
	/** Pods of those ReplicaSets. */
	readonly pods: readonly Pod[];
	readonly nowMs: number;
}

export interface Resize {
	/** The ReplicaSet as it should be. */
	readonly next: ReplicaSet;
	readonly from: number;
	readonly to: number;
}

export interface DeploymentPlan {
	readonly create: Draft<ReplicaSet> | undefined;
	readonly updates: readonly Resize[];
	readonly deletes: readonly ReplicaSet[];
	/** The Deployment's own annotations, when its revision changed. */
	readonly annotations: StringMap | undefined;
	/** undefined when the stored status is right. */
	readonly status: DeploymentStatus | undefined;
	/** The progress deadline passes by time alone. */
	readonly recheckAfterMs: number | undefined;
}

export function planDeployment(world: DeploymentWorld): DeploymentPlan {
	const { deployment, replicaSets } = world;
	const generations = generationsOf(deployment, replicaSets);
	const numbers = rollingNumbers(deployment);
	if (deployment.metadata.deletionTimestamp !== undefined) return finished(world, generations, numbers, {});
	const isPaused = deployment.spec.paused === true;
	if (isPaused || isScaled(deployment, replicaSets)) return scalePlan(world, generations, numbers);
	return deployment.spec.strategy?.type === "Recreate"
		? recreatePlan(world, generations, numbers)
		: rollingPlan(world, generations, numbers);
}

interface Steps {
	readonly create?: Draft<ReplicaSet>;
	readonly sizes?: Sizes;
	/** Whether the new ReplicaSet's annotations are brought in line. */
	readonly revision?: number;
}

function scalePlan(world: DeploymentWorld, generations: Generations, numbers: RollingNumbers): DeploymentPlan {
	const isRolling = world.deployment.spec.strategy?.type !== "Recreate";
	return finished(world, generations, numbers, { sizes: scaledSizes(numbers, generations, isRolling) });
}

function rollingPlan(world: DeploymentWorld, generations: Generations, numbers: RollingNumbers): DeploymentPlan {
	const { newSet, oldSets } = generations;
	const revision = nextRevision(oldSets);
	if (newSet !== undefined) {
		return finished(world, generations, numbers, { sizes: rollingStep(numbers, newSet, oldSets), revision });
	}
	const replicas = firstSize(numbers, oldSets);
	const create = newReplicaSet(world.deployment, { replicas, maxReplicas: maxReplicas(numbers), revision });
	// Making the new one is no step of its own: the old ones may give way in the same sync.
	return finished(world, generations, numbers, {
		create,
		sizes: rollingStep(numbers, asMade(create), oldSets),
		revision,
	});
}

function recreatePlan(world: DeploymentWorld, generations: Generations, numbers: RollingNumbers): DeploymentPlan {
	const oldNames = new Set(generations.oldSets.map(({ metadata }) => metadata.uid));
	const oldPods = world.pods.filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => oldNames.has(uid)));
	const { sizes, mayCreate } = recreateStep(numbers, generations, oldPods);
	const revision = nextRevision(generations.oldSets);
	if (!mayCreate || generations.newSet !== undefined) return finished(world, generations, numbers, { sizes, revision });
	const { replicas } = numbers;
	const create = newReplicaSet(world.deployment, { replicas, maxReplicas: maxReplicas(numbers), revision });
	return finished(world, generations, numbers, { create, sizes, revision });
}

function nextRevision(oldSets: readonly ReplicaSet[]): number {
	return Math.max(0, ...oldSets.map(revisionOf)) + 1;
}

function maxReplicas({ replicas, maxSurge }: RollingNumbers): number {
	return replicas > 0 ? replicas + maxSurge : 0;
}

/** A ReplicaSet that is about to be made, for the arithmetic of the same sync. */
function asMade(draft: Draft<ReplicaSet>): ReplicaSet {
	const metadata = {
		uid: "",
		resourceVersion: "",
		creationTimestamp: "",
		...draft.metadata,
		name: draft.metadata.name ?? "",
	};
	return { apiVersion: "apps/v1", kind: "ReplicaSet", metadata, spec: draft.spec };
}

function finished(
	world: DeploymentWorld,
	generations: Generations,
	numbers: RollingNumbers,
	steps: Steps,
): DeploymentPlan {
	const { deployment, nowMs } = world;
	const { newSet, oldSets } = generations;
	const status = deploymentStatus({
		deployment,
		newSet: newSet ?? (steps.create === undefined ? undefined : asMade(steps.create)),
		oldSets,
		isNewSetCreated: steps.create !== undefined,
		numbers,
		nowMs,
	});
	return {
		create: steps.create,
		updates: resizes(world, generations, numbers, steps),
		deletes: steps.revision === undefined ? [] : outdated(deployment, oldSets, status),
		annotations: ownAnnotations(deployment, newSet, steps.revision),
		status: deepEqual(status, deployment.status) ? undefined : status,
		recheckAfterMs: isUnfinished(status) ? progressDeadlineMs(deployment) : undefined,
	};
}

function isUnfinished({ conditions = [] }: DeploymentStatus): boolean {
	const progressing = conditions.find(({ type }) => type === "Progressing");
	return progressing?.status === "True" && progressing.reason !== "NewReplicaSetAvailable";
}

function resizes(
	{ deployment }: DeploymentWorld,
	{ newSet, oldSets }: Generations,
	numbers: RollingNumbers,
	{ sizes = new Map(), revision }: Steps,
): readonly Resize[] {
	const sets = newSet === undefined ? oldSets : [...oldSets, newSet];
	const changed: Resize[] = [];
	for (const set of sets) {
		const to = sizes.get(set.metadata.name) ?? sizeOf(set);
		const next =
			set === newSet && revision !== undefined
				? currentSet(deployment, set, { replicas: to, maxReplicas: maxReplicas(numbers), revision })
				: sizedSet(deployment, set, to, numbers);
		if (!deepEqual(next, set)) changed.push({ next, from: sizeOf(set), to });
	}
	return changed;
}

/** The new ReplicaSet, with everything that it takes over from the Deployment. */
function currentSet(deployment: Deployment, set: ReplicaSet, options: NewSetOptions): ReplicaSet {
	const { minReadySeconds } = deployment.spec;
	const spec = {
		...set.spec,
		replicas: options.replicas,
		...(minReadySeconds === undefined ? {} : { minReadySeconds }),
	};
	return { ...set, metadata: { ...set.metadata, annotations: annotationsFor(deployment, set, options) }, spec };
}

/** Another ReplicaSet: only its size is the Deployment's to say. */
function sizedSet(deployment: Deployment, set: ReplicaSet, replicas: number, numbers: RollingNumbers): ReplicaSet {
	if (replicas === sizeOf(set)) return set;
	const metadata = { ...set.metadata, annotations: sizedAnnotations(set, deployment, numbers) };
	return { ...set, metadata, spec: { ...set.spec, replicas } };
}

function sizedAnnotations({ metadata }: ReplicaSet, { spec }: Deployment, numbers: RollingNumbers): StringMap {
	return {
		...metadata.annotations,
		[DESIRED_REPLICAS_ANNOTATION]: String(spec.replicas ?? 1),
		[MAX_REPLICAS_ANNOTATION]: String(maxReplicas(numbers)),
	};
}

/** The Deployment carries the revision of its new ReplicaSet. */
function ownAnnotations(
	{ metadata }: Deployment,
	newSet: ReplicaSet | undefined,
	revision: number | undefined,
): StringMap | undefined {
	if (revision === undefined) return undefined;
	const wanted = String(Math.max(revision, newSet === undefined ? 0 : revisionOf(newSet)));
	if (metadata.annotations?.[REVISION_ANNOTATION] === wanted) return undefined;
	return { ...metadata.annotations, [REVISION_ANNOTATION]: wanted };
}

/** Old ReplicaSets beyond the history limit, once the rollout is complete; only those with nothing left. */
function outdated(
	deployment: Deployment,
	oldSets: readonly ReplicaSet[],
	{ conditions = [] }: DeploymentStatus,
): readonly ReplicaSet[] {
	const isComplete = conditions.some(({ reason }) => reason === "NewReplicaSetAvailable");
	if (!isComplete) return [];
	const empty = oldSets.filter(
		(set) => sizeOf(set) === 0 && (set.status?.replicas ?? 0) === 0 && set.metadata.deletionTimestamp === undefined,
	);
	const excess = oldSets.length - (deployment.spec.revisionHistoryLimit ?? 10);
	return [...empty].sort((a, b) => revisionOf(a) - revisionOf(b)).slice(0, Math.max(0, excess));
}
