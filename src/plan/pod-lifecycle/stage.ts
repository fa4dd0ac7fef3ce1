/** Where a simulated Pod stands in its life at a given time. */
import type { Behaviour } from "./behaviour.ts";

/** What its node remembers of a Pod. Times are wall milliseconds. */
export interface PodRun {
	/** When its node saw it first. */
	readonly boundMs: number;
	/** When its node saw its deletion, and the deadline that the deletion set. */
	readonly stopping?: { readonly sinceMs: number; readonly deadlineMs: number };
}

export type Stage =
	/** Containers are being created. */
	| { readonly kind: "starting" }
	| { readonly kind: "running"; readonly startedMs: number; readonly isReady: boolean }
	/** All processes have ended. `startedMs` is undefined for one that was stopped before it ran. */
	| {
			readonly kind: "ended";
			readonly startedMs: number | undefined;
			readonly endedMs: number;
			readonly exitCode: number;
	  };

/** What the kernel reports of a process that SIGKILL ended. */
const KILLED_EXIT_CODE = 137;

export function stageAt(run: PodRun, behaviour: Behaviour, nowMs: number): Stage {
	const startedMs = run.boundMs + behaviour.startupMs;
	const end = endOf(run, behaviour, startedMs);
	if (end !== undefined && nowMs >= end.endedMs) {
		return { kind: "ended", startedMs: startedMs <= end.endedMs ? startedMs : undefined, ...end };
	}
	if (nowMs < startedMs) return { kind: "starting" };
	const { readyAfterMs } = behaviour;
	return { kind: "running", startedMs, isReady: readyAfterMs !== undefined && nowMs >= startedMs + readyAfterMs };
}

/** The next time at which the stage changes by itself; undefined when nothing will happen. */
export function nextStageMs(run: PodRun, behaviour: Behaviour, nowMs: number): number | undefined {
	const startedMs = run.boundMs + behaviour.startupMs;
	const readyMs = behaviour.readyAfterMs === undefined ? undefined : startedMs + behaviour.readyAfterMs;
	const times = [startedMs, readyMs, endOf(run, behaviour, startedMs)?.endedMs];
	const ahead = times.filter((time): time is number => time !== undefined && time > nowMs);
	return ahead.length === 0 ? undefined : Math.min(...ahead);
}

/** When its processes end, by themselves or stopped; whichever comes first. */
function endOf(
	{ stopping }: PodRun,
	{ stopMs, exitCode, exitAfterMs }: Behaviour,
	startedMs: number,
): { endedMs: number; exitCode: number } | undefined {
	const own = exitAfterMs === undefined ? undefined : { endedMs: startedMs + exitAfterMs, exitCode };
	if (stopping === undefined) return own;
	const stoppedMs = stopMs === undefined ? Number.POSITIVE_INFINITY : stopping.sinceMs + stopMs;
	const isKilled = stoppedMs > stopping.deadlineMs;
	const stopped = isKilled
		? { endedMs: stopping.deadlineMs, exitCode: KILLED_EXIT_CODE }
		: { endedMs: stoppedMs, exitCode };
	return own !== undefined && own.endedMs < stopped.endedMs ? own : stopped;
}
