/** Decides how the ReplicaSets and the status of one Deployment must change: one step at a time. */
import type { Deployment, ReplicaSet } from "../../api/types/apps.ts";
import type { Pod } from "../../api/types/core.ts";
import type { Draft } from "../../api/types/meta.ts";
import { deepEqual } from "../../kernel/json.ts";
import { compareStrings } from "../../kernel/order.ts";
import { recheckOfProgressMs } from "./deployment-conditions.ts";
import {
	type Generations,
	generationsOf,
	newReplicaSet,
	REVISION_ANNOTATION,
	revisionOf,
	sizeAnnotations,
	syncedAnnotations,
} from "./deployment-replica-sets.ts";
import { firstSize, isScaled, recreateStep, rollingStep, type Sizes, scaledSizes, sizeOf } from "./deployment-sizes.ts";
import { deploymentStatus, isComplete } from "./deployment-status.ts";
import { type RollingNumbers, rollingNumbers } from "./rolling-numbers.ts";

export interface DeploymentWorld {
	readonly deployment: Deployment;
	/** Those that the Deployment controls. */
	readonly replicaSets: readonly ReplicaSet[];
	/** The Pods of one of them; asked only where they matter. */
	podsOf(replicaSet: ReplicaSet): readonly Pod[];
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
	/** The Deployment with its new status and revision, for `/status`; undefined when what is stored is right. */
	readonly next: Deployment | undefined;
	/** The progress deadline passes by time alone. */
	readonly recheckAfterMs: number | undefined;
}

interface Situation extends DeploymentWorld, Generations {
	readonly numbers: RollingNumbers;
	/** Of the template as it is now. */
	readonly revision: number;
}

/** What one kind of sync does to the ReplicaSets. */
interface Steps {
	readonly create?: Draft<ReplicaSet>;
	readonly sizes?: Sizes;
	readonly deletes?: readonly ReplicaSet[];
	/** Whether the sync works on a rollout, so that its progress is judged. */
	readonly isRollout: boolean;
}

export function planDeployment(world: DeploymentWorld): DeploymentPlan {
	const { deployment, replicaSets } = world;
	const generations = generationsOf(deployment, replicaSets);
	const revision = Math.max(0, ...generations.oldSets.map(revisionOf)) + 1;
	const situation = { ...world, ...generations, numbers: rollingNumbers(deployment), revision };
	return finished(situation, stepsOf(situation));
}

function stepsOf(situation: Situation): Steps {
	const { deployment, replicaSets } = situation;
	if (deployment.metadata.deletionTimestamp !== undefined) return { isRollout: false };
	const isPaused = deployment.spec.paused === true;
	if (isPaused || isScaled(deployment, replicaSets)) {
		const sizes = scaledSizes(deployment, situation.numbers, situation);
		return { sizes, deletes: isPaused ? outdated(situation) : [], isRollout: false };
	}
	const steps = deployment.spec.strategy?.type === "Recreate" ? recreateSteps(situation) : rollingSteps(situation);
	const isAtRest = (steps.sizes?.size ?? 0) === 0 && isComplete(deployment, deployment.status);
	return { ...steps, deletes: isAtRest ? outdated(situation) : [], isRollout: true };
}

type RolloutSteps = Pick<Steps, "create" | "sizes">;

function rollingSteps({ deployment, numbers, newSet, oldSets, revision }: Situation): RolloutSteps {
	if (newSet !== undefined) return { sizes: rollingStep(numbers, newSet, oldSets) };
	const create = newReplicaSet(deployment, numbers, { size: firstSize(numbers, oldSets), revision });
	// Making the new one is no step of its own: the old ones may give way in the same sync.
	return { create, sizes: rollingStep(numbers, asMade(create), oldSets) };
}

function recreateSteps(situation: Situation): RolloutSteps {
	const { deployment, numbers, oldSets, revision } = situation;
	const { sizes, mayCreate } = recreateStep(numbers, situation, () => oldSets.flatMap((set) => situation.podsOf(set)));
	if (!mayCreate || situation.newSet !== undefined) return { sizes };
	return { create: newReplicaSet(deployment, numbers, { size: numbers.replicas, revision }), sizes };
}

/** A ReplicaSet that is about to be made, for the arithmetic of the same sync. */
function asMade({ metadata, spec }: Draft<ReplicaSet>): ReplicaSet {
	const { name = "" } = metadata;
	const filled = { uid: "", resourceVersion: "", creationTimestamp: "", ...metadata, name };
	return { apiVersion: "apps/v1", kind: "ReplicaSet", metadata: filled, spec };
}

function finished(situation: Situation, { create, sizes, deletes = [], isRollout }: Steps): DeploymentPlan {
	const { deployment, newSet, nowMs } = situation;
	const made = create === undefined ? undefined : asMade(create);
	const status = deploymentStatus({
		...situation,
		newSet: newSet ?? made,
		isNewSetCreated: create !== undefined,
		isRollout,
	});
	const next = { ...deployment, metadata: withRevision(situation, newSet ?? made), status };
	return {
		create,
		updates: resizes(situation, sizes ?? new Map()),
		deletes,
		next: deepEqual(next, deployment) ? undefined : next,
		recheckAfterMs: isRollout ? recheckOfProgressMs(deployment, status, nowMs) : undefined,
	};
}

/** The Deployment carries the revision of its new ReplicaSet. */
function withRevision({ deployment, revision }: Situation, newSet: ReplicaSet | undefined): Deployment["metadata"] {
	const { metadata } = deployment;
	if (newSet === undefined) return metadata;
	const annotations = {
		...metadata.annotations,
		[REVISION_ANNOTATION]: String(Math.max(revision, revisionOf(newSet))),
	};
	return { ...metadata, annotations };
}

function resizes(situation: Situation, sizes: Sizes): readonly Resize[] {
	const { newSet, oldSets } = situation;
	if (situation.deployment.metadata.deletionTimestamp !== undefined) return [];
	const changed: Resize[] = [];
	for (const set of newSet === undefined ? oldSets : [...oldSets, newSet]) {
		const synced = set === newSet ? syncedSet(situation, set) : set;
		const size = sizes.get(set.metadata.name);
		const next = size === undefined ? synced : sizedSet(situation.numbers, synced, size);
		if (!deepEqual(next, set)) changed.push({ next, from: sizeOf(set), to: sizeOf(next) });
	}
	return changed;
}

/** The new ReplicaSet, with everything that it takes over from the Deployment. */
function syncedSet({ deployment, revision }: Situation, set: ReplicaSet): ReplicaSet {
	const { minReadySeconds = 0 } = deployment.spec;
	const spec = minReadySeconds === (set.spec.minReadySeconds ?? 0) ? set.spec : { ...set.spec, minReadySeconds };
	return { ...set, metadata: { ...set.metadata, annotations: syncedAnnotations(deployment, set, revision) }, spec };
}

function sizedSet(numbers: RollingNumbers, set: ReplicaSet, replicas: number): ReplicaSet {
	const annotations = { ...set.metadata.annotations, ...sizeAnnotations(numbers) };
	return { ...set, metadata: { ...set.metadata, annotations }, spec: { ...set.spec, replicas } };
}

/** A history limit of the largest int32 is none. */
const NO_HISTORY_LIMIT = 2_147_483_647;

/** Old ReplicaSets beyond the history limit, lowest revision first; those with anything left are skipped. */
function outdated({ deployment, oldSets }: Situation): readonly ReplicaSet[] {
	const limit = deployment.spec.revisionHistoryLimit ?? 10;
	if (limit === NO_HISTORY_LIMIT) return [];
	const alive = oldSets.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
	const byRevision = [...alive].sort(
		(a, b) =>
			revisionOf(a) - revisionOf(b) ||
			compareStrings(a.metadata.creationTimestamp, b.metadata.creationTimestamp) ||
			compareStrings(a.metadata.name, b.metadata.name),
	);
	return byRevision.slice(0, Math.max(0, alive.length - limit)).filter(isEmpty);
}

/** Nothing wanted, nothing left, and its controller has seen that nothing is wanted. */
function isEmpty(set: ReplicaSet): boolean {
	const { replicas = 0, observedGeneration = 0 } = set.status ?? {};
	return sizeOf(set) === 0 && replicas === 0 && observedGeneration >= (set.metadata.generation ?? 1);
}
