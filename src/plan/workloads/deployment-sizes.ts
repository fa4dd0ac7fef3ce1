/**
 * The sizes that a Deployment's ReplicaSets should have next: one step of a rollout, or of a scaling.
 *
 * A step moves one side only. The next comes when the ReplicaSets report that it has happened, so the
 * limits of surge and unavailability hold at every moment.
 */
import type { Deployment, ReplicaSet } from "../../api/types/apps.ts";
import type { Pod } from "../../api/types/core.ts";
import { compareStrings } from "../../kernel/order.ts";
import { DESIRED_REPLICAS_ANNOTATION, type Generations, MAX_REPLICAS_ANNOTATION } from "./deployment-replica-sets.ts";
import { hasEnded } from "./pod-state.ts";
import type { RollingNumbers } from "./rolling-numbers.ts";

/**
 * Wanted sizes by the name of the ReplicaSet; those not named are left alone. One that is named with the
 * size that it has is sized all the same: it notes what the Deployment wants now.
 */
export type Sizes = ReadonlyMap<string, number>;

const NO_CHANGE: Sizes = new Map();

export function sizeOf({ spec }: ReplicaSet): number {
	return spec.replicas ?? 1;
}

function availableOf({ status }: ReplicaSet): number {
	return status?.availableReplicas ?? 0;
}

function sum(sets: readonly ReplicaSet[], of: (set: ReplicaSet) => number): number {
	return sets.reduce((total, set) => total + of(set), 0);
}

/** The size that a ReplicaSet which is not there yet starts with. */
export function firstSize(numbers: RollingNumbers, oldSets: readonly ReplicaSet[]): number {
	const room = numbers.replicas + numbers.maxSurge - sum(oldSets, sizeOf);
	return Math.max(0, Math.min(room, numbers.replicas));
}

export function rollingStep(numbers: RollingNumbers, newSet: ReplicaSet, oldSets: readonly ReplicaSet[]): Sizes {
	const { replicas, maxSurge } = numbers;
	const size = sizeOf(newSet);
	const total = sum(oldSets, sizeOf) + size;
	if (size > replicas) return new Map([[newSet.metadata.name, replicas]]);
	if (size < replicas) {
		const room = replicas + maxSurge - total;
		if (room > 0) return new Map([[newSet.metadata.name, size + Math.min(room, replicas - size)]]);
	}
	return shrinkStep(numbers, newSet, oldSets, total);
}

/** Old ReplicaSets give up Pods: first those that are not available anyway, then as many as availability allows. */
function shrinkStep(
	{ replicas, maxUnavailable }: RollingNumbers,
	newSet: ReplicaSet,
	oldSets: readonly ReplicaSet[],
	total: number,
): Sizes {
	const availableMin = replicas - maxUnavailable;
	let limit = total - availableMin - (sizeOf(newSet) - availableOf(newSet));
	if (limit <= 0) return NO_CHANGE;
	const sizes = new Map<string, number>();
	for (const set of oldSets) {
		const cut = Math.min(limit, Math.max(0, sizeOf(set) - availableOf(set)));
		if (cut <= 0) continue;
		limit -= cut;
		sizes.set(set.metadata.name, sizeOf(set) - cut);
	}
	let removable = sum([...oldSets, newSet], availableOf) - availableMin;
	for (const set of oldSets) {
		const left = sizes.get(set.metadata.name) ?? sizeOf(set);
		const cut = Math.min(removable, left);
		if (cut <= 0) continue;
		removable -= cut;
		sizes.set(set.metadata.name, left - cut);
	}
	return sizes;
}

/** Recreate: nothing new before the last old Pod has gone. */
export function recreateStep(
	numbers: RollingNumbers,
	{ newSet, oldSets }: Generations,
	oldPods: () => readonly Pod[],
): { readonly sizes: Sizes; readonly mayCreate: boolean } {
	const growing = oldSets.filter((set) => sizeOf(set) > 0);
	if (growing.length > 0) return { sizes: new Map(growing.map((set) => [set.metadata.name, 0])), mayCreate: false };
	const isGone = sum(oldSets, ({ status }) => status?.replicas ?? 0) === 0 && oldPods().every(hasEnded);
	if (!isGone || newSet === undefined) return { sizes: NO_CHANGE, mayCreate: isGone };
	const sizes = sizeOf(newSet) === numbers.replicas ? NO_CHANGE : new Map([[newSet.metadata.name, numbers.replicas]]);
	return { sizes, mayCreate: true };
}

/** Whether `spec.replicas` changed since the ReplicaSets were last sized. */
export function isScaled({ spec }: Deployment, sets: readonly ReplicaSet[]): boolean {
	return sets.some((set) => {
		const desired = set.metadata.annotations?.[DESIRED_REPLICAS_ANNOTATION];
		return sizeOf(set) > 0 && desired !== undefined && desired !== String(spec.replicas ?? 1);
	});
}

/** Scaling while a rollout is under way (or paused): every ReplicaSet keeps its share. */
export function scaledSizes(deployment: Deployment, numbers: RollingNumbers, { newSet, oldSets }: Generations): Sizes {
	const { replicas } = numbers;
	const sets = newSet === undefined ? oldSets : [...oldSets, newSet];
	const active = sets.filter((set) => sizeOf(set) > 0);
	const [only = newSet ?? oldSets.at(-1)] = active;
	if (active.length <= 1) return only === undefined ? NO_CHANGE : new Map([[only.metadata.name, replicas]]);
	if (newSet !== undefined && isSaturated(newSet, replicas)) {
		return new Map(active.filter((set) => set !== newSet).map((set) => [set.metadata.name, 0]));
	}
	if (deployment.spec.strategy?.type === "Recreate") return NO_CHANGE;
	return proportionalSizes(numbers, active, deployment.status?.replicas ?? 0);
}

function isSaturated(set: ReplicaSet, replicas: number): boolean {
	const desired = Number(set.metadata.annotations?.[DESIRED_REPLICAS_ANNOTATION] ?? Number.NaN);
	return sizeOf(set) === replicas && desired === replicas && availableOf(set) === replicas;
}

function proportionalSizes(
	{ replicas, maxSurge }: RollingNumbers,
	active: readonly ReplicaSet[],
	podsBefore: number,
): Sizes {
	const allowed = replicas > 0 ? replicas + maxSurge : 0;
	const toAdd = allowed - sum(active, sizeOf);
	const ordered = [...active].sort((a, b) => sizeOf(b) - sizeOf(a) || byAge(a, b, toAdd));
	const sizes = new Map<string, number>();
	let left = toAdd;
	for (const set of ordered) {
		const share = left === 0 ? 0 : clipped(proportion(set, allowed, podsBefore), left, toAdd);
		sizes.set(set.metadata.name, sizeOf(set) + share);
		left -= share;
	}
	const [largest] = ordered;
	if (largest !== undefined) {
		sizes.set(largest.metadata.name, Math.max(0, (sizes.get(largest.metadata.name) ?? 0) + left));
	}
	return sizes;
}

/** Ties: the newer one first when growing, the older one when shrinking. */
function byAge(a: ReplicaSet, b: ReplicaSet, toAdd: number): number {
	const order =
		compareStrings(a.metadata.creationTimestamp, b.metadata.creationTimestamp) ||
		compareStrings(a.metadata.name, b.metadata.name);
	return toAdd > 0 ? -order : order;
}

/**
 * How many Pods more (or fewer) keep the ReplicaSet's part of the whole. The whole as it was is what its
 * annotation says; without one, the Pods that there are.
 */
function proportion(set: ReplicaSet, allowed: number, podsBefore: number): number {
	const size = sizeOf(set);
	if (allowed === 0) return -size;
	const before = Number(set.metadata.annotations?.[MAX_REPLICAS_ANNOTATION] ?? 0) || podsBefore;
	return before === 0 ? 0 : Math.round((size * allowed) / before) - size;
}

function clipped(share: number, left: number, toAdd: number): number {
	return toAdd > 0 ? Math.min(share, left) : Math.max(share, left);
}
