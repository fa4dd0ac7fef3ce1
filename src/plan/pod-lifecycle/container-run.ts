/** How one container of a running Pod is doing, where it has a life of its own: probes, restarts, a process. */
import type { Pod } from "../../api/types/core.ts";

export interface Termination {
	readonly exitCode: number;
	/** Instead of Completed or Error. */
	readonly reason?: string;
	readonly message?: string;
	readonly startedMs: number;
	readonly endedMs: number;
}

export type ContainerPhase =
	| { readonly kind: "running"; readonly startedMs: number }
	/** Waits to be started again. */
	| { readonly kind: "backing-off"; readonly delayMs: number }
	| { readonly kind: "ended"; readonly termination: Termination };

export interface ContainerRun {
	readonly phase: ContainerPhase;
	readonly restartCount: number;
	/** Its startup probe, if any, has succeeded. */
	readonly isStarted: boolean;
	/** Its readiness probe, if any, succeeds. */
	readonly isReady: boolean;
	/** How it ended before it was started again. */
	readonly last?: Termination;
}

/** By name. Containers that are not there have the life of their Pod. */
export type ContainerRuns = ReadonlyMap<string, ContainerRun>;

export function isRestarted({ spec }: Pod, exitCode: number): boolean {
	const { restartPolicy = "Always" } = spec;
	return restartPolicy === "Always" || (restartPolicy === "OnFailure" && exitCode !== 0);
}

export interface BackOffLimits {
	readonly firstMs: number;
	readonly maxMs: number;
}

/** A kubelet's: 10 s, doubled up to five minutes. */
export const RESTART_BACK_OFF: BackOffLimits = { firstMs: 10_000, maxMs: 300_000 };

/** When a container may be started again: at once the first time, then later each time. */
export interface BackOff {
	readonly delayMs: number;
	/** The last time that it was started again. */
	readonly restartedMs: number;
}

/** How long it waits after its end; 0 is at once. A container that has run for twice the maximum begins anew. */
export function backOffDelayMs(backOff: BackOff | undefined, limits: BackOffLimits, endedMs: number): number {
	if (backOff === undefined || endedMs - backOff.restartedMs > 2 * limits.maxMs) return 0;
	return backOff.delayMs;
}

export function nextBackOff(
	backOff: BackOff | undefined,
	limits: BackOffLimits,
	endedMs: number,
	restartedMs: number,
): BackOff {
	const waitedMs = backOffDelayMs(backOff, limits, endedMs);
	return { delayMs: waitedMs === 0 ? limits.firstMs : Math.min(waitedMs * 2, limits.maxMs), restartedMs };
}
