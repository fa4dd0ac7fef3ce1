/** What a StatefulSet reports of its pods. */
import type { StatefulSet, StatefulSetStatus } from "../../api/types/apps.ts";
import type { Pod } from "../../api/types/core.ts";
import { isTerminating } from "../pod-facts.ts";
import { isAvailable, readySinceMs } from "./pod-state.ts";
import { revisionNameOf } from "./stateful-set-pod.ts";
import type { Revisions } from "./stateful-set-revisions.ts";

export function isRunningAndReady(pod: Pod): boolean {
	return pod.status?.phase === "Running" && readySinceMs(pod) !== undefined;
}

export function isRunningAndAvailable(pod: Pod, { spec }: StatefulSet, nowMs: number): boolean {
	return isRunningAndReady(pod) && isAvailable(pod, spec.minReadySeconds ?? 0, nowMs);
}

/** @param pods All that the set owns, whatever their number. */
export function statefulSetStatus(
	set: StatefulSet,
	pods: readonly Pod[],
	revisions: Pick<Revisions, "currentName" | "updateName">,
	nowMs: number,
): StatefulSetStatus {
	const count = (isCounted: (pod: Pod) => boolean): number => pods.filter(isCounted).length;
	const staying = (name: string): number => count((pod) => !isTerminating(pod) && revisionNameOf(pod) === name);
	const replicas = pods.length;
	const readyReplicas = count(isRunningAndReady);
	const updatedReplicas = staying(revisions.updateName);
	const wanted = set.spec.replicas ?? 1;
	// Everything is new and ready: what was the update is the current state.
	const isComplete =
		set.spec.updateStrategy?.type !== "OnDelete" &&
		updatedReplicas === wanted &&
		readyReplicas === wanted &&
		replicas === wanted;
	const currentRevision = isComplete ? revisions.updateName : revisions.currentName;
	const { conditions, collisionCount = 0 } = set.status ?? {};
	return {
		observedGeneration: set.metadata.generation ?? 1,
		replicas,
		...positive("readyReplicas", readyReplicas),
		...positive("currentReplicas", isComplete ? updatedReplicas : staying(revisions.currentName)),
		...positive("updatedReplicas", updatedReplicas),
		currentRevision,
		updateRevision: revisions.updateName,
		collisionCount,
		...(conditions === undefined ? {} : { conditions }),
		availableReplicas: count((pod) => isRunningAndAvailable(pod, set, nowMs)),
	};
}

function positive<K extends string>(key: K, number: number): { readonly [P in K]?: number } {
	return (number > 0 ? { [key]: number } : {}) as { readonly [P in K]?: number };
}
