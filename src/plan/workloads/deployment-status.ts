/** What a Deployment reports of its ReplicaSets. */
import type { Deployment, ReplicaSet } from "../../api/types/apps.ts";
import type { Condition } from "../../api/types/meta.ts";
import { sizeOf } from "./deployment-sizes.ts";
import type { RollingNumbers } from "./rolling-numbers.ts";

export type DeploymentStatus = NonNullable<Deployment["status"]>;

export interface StatusFacts {
	readonly deployment: Deployment;
	/** As they are now; the new one may have been decided on in this very sync. */
	readonly newSet: ReplicaSet | undefined;
	readonly oldSets: readonly ReplicaSet[];
	/** Whether the new ReplicaSet is made by this sync. */
	readonly isNewSetCreated: boolean;
	readonly numbers: RollingNumbers;
	readonly nowMs: number;
}

type Counts = Required<
	Pick<DeploymentStatus, "replicas" | "updatedReplicas" | "readyReplicas" | "availableReplicas" | "unavailableReplicas">
>;

export function deploymentStatus(facts: StatusFacts): DeploymentStatus {
	const { deployment, newSet, oldSets } = facts;
	const sets = newSet === undefined ? oldSets : [...oldSets, newSet];
	const count = (of: (set: ReplicaSet) => number | undefined): number =>
		sets.reduce((total, set) => total + (of(set) ?? 0), 0);
	const availableReplicas = count(({ status }) => status?.availableReplicas);
	const counts: Counts = {
		replicas: count(({ status }) => status?.replicas),
		updatedReplicas: newSet?.status?.replicas ?? 0,
		readyReplicas: count(({ status }) => status?.readyReplicas),
		availableReplicas,
		unavailableReplicas: Math.max(0, sets.reduce((total, set) => total + sizeOf(set), 0) - availableReplicas),
	};
	return {
		observedGeneration: deployment.metadata.generation ?? 1,
		...Object.fromEntries(Object.entries(counts).filter(([, number]) => number > 0)),
		terminatingReplicas: count(({ status }) => status?.terminatingReplicas),
		...(deployment.status?.collisionCount === undefined ? {} : { collisionCount: deployment.status.collisionCount }),
		conditions: conditionsOf(facts, counts),
	};
}

interface Wanted {
	readonly type: string;
	readonly status: "True" | "False" | "Unknown";
	readonly reason: string;
	readonly message: string;
}

function conditionsOf(facts: StatusFacts, counts: Counts): readonly Condition[] {
	const before = facts.deployment.status?.conditions ?? [];
	const wanted = [availableCondition(facts, counts), progressingCondition(facts, counts, before)];
	const own = wanted.filter((condition) => condition !== undefined);
	const kept = before.filter(({ type }) => !own.some((condition) => condition.type === type));
	const isMoving = hasMoved(facts.deployment.status, counts);
	return [...own.map((condition) => conditionOf(condition, before, isMoving, facts.nowMs)), ...kept].sort(inOrder);
}

const ORDER = ["Available", "Progressing", "ReplicaFailure"];

function inOrder(a: Condition, b: Condition): number {
	return ORDER.indexOf(a.type) - ORDER.indexOf(b.type);
}

function availableCondition({ numbers }: StatusFacts, { availableReplicas }: Counts): Wanted {
	const isAvailable = availableReplicas >= numbers.replicas - numbers.maxUnavailable;
	return isAvailable
		? {
				type: "Available",
				status: "True",
				reason: "MinimumReplicasAvailable",
				message: "Deployment has minimum availability.",
			}
		: {
				type: "Available",
				status: "False",
				reason: "MinimumReplicasUnavailable",
				message: "Deployment does not have minimum availability.",
			};
}

function progressingCondition(facts: StatusFacts, counts: Counts, before: readonly Condition[]): Wanted | undefined {
	const { deployment, newSet, isNewSetCreated } = facts;
	if (deployment.spec.paused === true) {
		return { type: "Progressing", status: "Unknown", reason: "DeploymentPaused", message: "Deployment is paused" };
	}
	const name = newSet?.metadata.name ?? deployment.metadata.name;
	const known = before.find(({ type }) => type === "Progressing");
	const progress = (reason: string, message: string): Wanted => ({
		type: "Progressing",
		status: "True",
		reason,
		message,
	});
	if (isNewSetCreated) return progress("NewReplicaSetCreated", `Created new replica set "${name}"`);
	if (isComplete(facts, counts)) {
		return progress("NewReplicaSetAvailable", `ReplicaSet "${name}" has successfully progressed.`);
	}
	if (hasMoved(deployment.status, counts)) return progress("ReplicaSetUpdated", `ReplicaSet "${name}" is progressing.`);
	if (known === undefined) return progress("FoundNewReplicaSet", `Found new replica set "${name}"`);
	if (hasTimedOut(deployment, known, facts.nowMs)) {
		const message = `ReplicaSet "${name}" has timed out progressing.`;
		return { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message };
	}
	return undefined;
}

function isComplete({ deployment, numbers, oldSets }: StatusFacts, counts: Counts): boolean {
	return (
		counts.updatedReplicas === numbers.replicas &&
		counts.replicas === numbers.replicas &&
		counts.availableReplicas === numbers.replicas &&
		oldSets.every((set) => sizeOf(set) === 0) &&
		deployment.status?.observedGeneration === deployment.metadata.generation
	);
}

/** Whether the rollout came forward since the stored status. */
function hasMoved(stored: DeploymentStatus | undefined, counts: Counts): boolean {
	const oldBefore = (stored?.replicas ?? 0) - (stored?.updatedReplicas ?? 0);
	return (
		counts.updatedReplicas > (stored?.updatedReplicas ?? 0) ||
		counts.replicas - counts.updatedReplicas < oldBefore ||
		counts.readyReplicas > (stored?.readyReplicas ?? 0) ||
		counts.availableReplicas > (stored?.availableReplicas ?? 0)
	);
}

/** Upstream's "no deadline". */
const NO_DEADLINE_SECONDS = 2_147_483_647;

export function progressDeadlineMs({ spec }: Deployment): number | undefined {
	const seconds = spec.progressDeadlineSeconds ?? 600;
	return seconds === NO_DEADLINE_SECONDS ? undefined : seconds * 1000;
}

function hasTimedOut(deployment: Deployment, known: Condition, nowMs: number): boolean {
	if (known.reason === "NewReplicaSetAvailable") return false;
	if (known.reason === "ProgressDeadlineExceeded") return true;
	const deadlineMs = progressDeadlineMs(deployment);
	const sinceMs = Date.parse(known.lastUpdateTime ?? known.lastTransitionTime ?? "");
	return deadlineMs !== undefined && Number.isFinite(sinceMs) && sinceMs + deadlineMs < nowMs;
}

function conditionOf(wanted: Wanted, before: readonly Condition[], isMoving: boolean, nowMs: number): Condition {
	const known = before.find(({ type }) => type === wanted.type);
	const now = `${new Date(nowMs).toISOString().slice(0, 19)}Z`;
	const isSame = known?.status === wanted.status && known.reason === wanted.reason && known.message === wanted.message;
	// Progress moves lastUpdateTime, which the deadline is counted from, though nothing else changes.
	if (isSame && !(isMoving && wanted.type === "Progressing")) return known;
	return {
		...wanted,
		lastUpdateTime: now,
		lastTransitionTime: known?.status === wanted.status ? (known.lastTransitionTime ?? now) : now,
	};
}
