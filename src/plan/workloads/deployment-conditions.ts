/** The conditions of a Deployment: Available, Progressing, and ReplicaFailure. */
import type { Deployment, ReplicaSet } from "../../api/types/apps.ts";
import type { Condition } from "../../api/types/meta.ts";
import { type ConditionChange, withCondition, withoutCondition } from "./conditions.ts";
import type { Counts, DeploymentStatus, StatusFacts } from "./deployment-status.ts";

type Conditions = readonly Condition[];

/** A deadline of the largest int32 is none. */
const NO_DEADLINE_SECONDS = 2_147_483_647;
const COMPLETE = "NewReplicaSetAvailable";
const TIMED_OUT = "ProgressDeadlineExceeded";
const PAUSED = "DeploymentPaused";

export function conditionsOf(facts: StatusFacts, counts: Counts): Conditions {
	const noted = withNewSet(facts, withPause(facts, facts.deployment.status?.conditions ?? []));
	const available = withCondition(noted, availability(facts, counts), facts.nowMs);
	if (!facts.isRollout) return available;
	return withFailure(facts, withProgress(facts, counts, progressOf(noted), available));
}

function availability({ numbers }: StatusFacts, { availableReplicas }: Counts): ConditionChange {
	const isAvailable = availableReplicas >= numbers.replicas - numbers.maxUnavailable;
	return {
		type: "Available",
		status: isAvailable ? "True" : "False",
		reason: isAvailable ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
		message: isAvailable ? "Deployment has minimum availability." : "Deployment does not have minimum availability.",
	};
}

function progressing(status: Condition["status"], reason: string, message: string): ConditionChange {
	return { type: "Progressing", status, reason, message };
}

function progressOf(conditions: Conditions): Condition | undefined {
	return conditions.find(({ type }) => type === "Progressing");
}

/** A rollout that was given up as too slow stays so, paused or not. */
function withPause({ deployment, nowMs }: StatusFacts, before: Conditions): Conditions {
	const { reason } = progressOf(before) ?? {};
	if (deadlineMsOf(deployment) === undefined || reason === TIMED_OUT) return before;
	if (deployment.metadata.deletionTimestamp !== undefined) return before;
	const isPaused = deployment.spec.paused === true;
	if (isPaused === (reason === PAUSED)) return before;
	const change = isPaused
		? progressing("Unknown", PAUSED, "Deployment is paused")
		: progressing("Unknown", "DeploymentResumed", "Deployment is resumed");
	return withCondition(before, change, nowMs);
}

function withNewSet({ deployment, newSet, isNewSetCreated, nowMs }: StatusFacts, before: Conditions): Conditions {
	if (newSet === undefined || deadlineMsOf(deployment) === undefined) return before;
	const { name } = newSet.metadata;
	if (isNewSetCreated) {
		return withCondition(
			before,
			progressing("True", "NewReplicaSetCreated", `Created new replica set "${name}"`),
			nowMs,
		);
	}
	if (progressOf(before) !== undefined) return before;
	return withCondition(before, progressing("True", "FoundNewReplicaSet", `Found new replica set "${name}"`), nowMs);
}

/** The conditions when the new ReplicaSet was refused. */
export function withCreateError(deployment: Deployment, message: string, nowMs: number): Conditions {
	const before = deployment.status?.conditions ?? [];
	if (deadlineMsOf(deployment) === undefined) return before;
	return withCondition(before, progressing("False", "ReplicaSetCreateError", message), nowMs);
}

/** @param known Progressing as of now; `before` holds it too. */
function withProgress(
	facts: StatusFacts,
	counts: Counts,
	known: Condition | undefined,
	before: Conditions,
): Conditions {
	const { deployment, newSet, nowMs } = facts;
	if (deadlineMsOf(deployment) === undefined) return withoutCondition(before, "Progressing");
	// Nothing is rolled out: Pods that come and go later, or a new size, say nothing about progress.
	if (known?.reason === COMPLETE && counts.replicas === counts.updatedReplicas) return before;
	const what =
		newSet === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${newSet.metadata.name}"`;
	if (isRolledOut(facts, counts)) {
		return withCondition(before, progressing("True", COMPLETE, `${what} has successfully progressed.`), nowMs);
	}
	if (hasMoved(deployment.status, counts)) {
		const moved = progressing("True", "ReplicaSetUpdated", `${what} is progressing.`);
		// Also when it says so already: lastUpdateTime is what the deadline is counted from.
		return withCondition(before, moved, nowMs, { isRenewed: true });
	}
	if (!hasTimedOut(deployment, known, nowMs)) return before;
	return withCondition(before, progressing("False", TIMED_OUT, `${what} has timed out progressing.`), nowMs);
}

function isRolledOut({ numbers: { replicas } }: StatusFacts, counts: Counts): boolean {
	return counts.updatedReplicas === replicas && counts.replicas === replicas && counts.availableReplicas === replicas;
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

function hasTimedOut(deployment: Deployment, known: Condition | undefined, nowMs: number): boolean {
	if (known === undefined || known.reason === COMPLETE) return false;
	if (known.reason === TIMED_OUT) return true;
	const leftMs = msToDeadline(deployment, known, nowMs);
	return leftMs !== undefined && leftMs < 0;
}

function deadlineMsOf({ spec }: Deployment): number | undefined {
	const seconds = spec.progressDeadlineSeconds ?? 600;
	return seconds === NO_DEADLINE_SECONDS ? undefined : seconds * 1000;
}

function msToDeadline(deployment: Deployment, known: Condition, nowMs: number): number | undefined {
	const deadlineMs = deadlineMsOf(deployment);
	const sinceMs = Date.parse(known.lastUpdateTime ?? "");
	return deadlineMs === undefined || Number.isNaN(sinceMs) ? undefined : sinceMs + deadlineMs - nowMs;
}

/** When a rollout that gets no further must be looked at again; undefined when none can time out. */
export function recheckOfProgressMs(
	deployment: Deployment,
	{ conditions = [] }: DeploymentStatus,
	nowMs: number,
): number | undefined {
	const known = progressOf(conditions);
	if (known === undefined || known.reason === TIMED_OUT || known.reason === COMPLETE) return undefined;
	const leftMs = msToDeadline(deployment, known, nowMs);
	// Times are in whole seconds: a second more, and the deadline has passed for certain.
	return leftMs === undefined ? undefined : Math.max(leftMs, 0) + 1000;
}

/** What keeps a ReplicaSet from making or deleting Pods; the new one's trouble comes first. */
function withFailure({ newSet, oldSets }: StatusFacts, before: Conditions): Conditions {
	const sets: readonly ReplicaSet[] = newSet === undefined ? oldSets : [newSet, ...oldSets];
	const failures = sets.flatMap(({ status }) => status?.conditions ?? []);
	const failure = failures.find(({ type }) => type === "ReplicaFailure");
	if (failure === undefined) return withoutCondition(before, "ReplicaFailure");
	const known = before.find(({ type }) => type === failure.type);
	if (known?.status === failure.status && known.reason === failure.reason) return before;
	const { lastTransitionTime } = failure;
	const taken = { ...failure, ...(lastTransitionTime === undefined ? {} : { lastUpdateTime: lastTransitionTime }) };
	return [...withoutCondition(before, "ReplicaFailure"), taken];
}
