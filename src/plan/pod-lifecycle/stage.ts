/** Where a simulated Pod stands in its life at a given time. Times are wall milliseconds. */
import type { Pod } from "../../api/types/core.ts";
import type { Behaviour } from "./behaviour.ts";

/** What its node remembers of a Pod. */
export interface PodRun {
	/** When its node saw it first. */
	readonly seenMs: number;
	/** When it got its addresses, and its containers began to be created; undefined while no address is free. */
	readonly placedMs: number | undefined;
	readonly stopping?: Stopping;
}

export interface Stopping {
	/** When its node saw the deletion: SIGTERM. */
	readonly sinceMs: number;
	/** SIGKILL. */
	readonly deadlineMs: number;
	/** The deletionTimestamp that set the deadline: a second DELETE may set an earlier one. */
	readonly deletionTimestamp: string;
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

/** What the kernel reports of a process that SIGKILL ended; also of one that was never there. */
export const KILLED_EXIT_CODE = 137;

/** What a node remembers of a Pod that it sees for the first time, or brought up before it was restarted. */
export function runOf(pod: Pod, { startupMs }: Behaviour, nowMs: number): PodRun {
	const { startTime, containerStatuses = [] } = pod.status ?? {};
	const startedAt = containerStatuses[0]?.state?.running?.startedAt;
	return {
		seenMs: startTime === undefined ? nowMs : Date.parse(startTime),
		placedMs: startedAt === undefined ? undefined : Date.parse(startedAt) - startupMs,
	};
}

/** The run with what the Pod's deletion, seen now, says of its end. */
export function stoppedRun(run: PodRun, { metadata }: Pod, nowMs: number): PodRun {
	const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = metadata;
	if (deletionTimestamp === undefined || deletionTimestamp === run.stopping?.deletionTimestamp) return run;
	const sinceMs = run.stopping?.sinceMs ?? nowMs;
	// The API's times are whole seconds, rounded down; the part that is missing is that of the request.
	const deadlineMs = Date.parse(deletionTimestamp) + (sinceMs % 1000);
	// A deadline in the past, such as after a restart, still leaves the second that a kubelet gives at least.
	const soonestMs = nowMs + Math.min(deletionGracePeriodSeconds, 1) * 1000;
	return { ...run, stopping: { sinceMs, deadlineMs: Math.max(deadlineMs, soonestMs), deletionTimestamp } };
}

export function stageAt(run: PodRun, behaviour: Behaviour, nowMs: number): Stage {
	const { stopping } = run;
	const startedMs = startOf(run, behaviour);
	if (startedMs === undefined && stopping !== undefined) {
		return { kind: "ended", startedMs, endedMs: stopping.sinceMs, exitCode: KILLED_EXIT_CODE };
	}
	if (startedMs === undefined || nowMs < startedMs) return { kind: "starting" };
	const end = endOf(run, behaviour, startedMs);
	if (end !== undefined && nowMs >= end.endedMs) return { kind: "ended", startedMs, ...end };
	const isReady = isIn(nowMs, readyMs(behaviour, startedMs), unreadyMs(run, behaviour));
	return { kind: "running", startedMs, isReady };
}

/** When the Pod is well by its annotations, which say nothing of its probes. Wall milliseconds. */
export function healthTimes(
	run: PodRun,
	behaviour: Behaviour,
): { readonly fromMs: number | undefined; readonly untilMs: number | undefined } {
	const startedMs = startOf(run, behaviour);
	const fromMs = startedMs === undefined ? undefined : readyMs(behaviour, startedMs);
	return { fromMs, untilMs: unreadyMs(run, behaviour) };
}

/** The next time at which the stage changes by itself; undefined when nothing will happen. */
export function nextStageMs(run: PodRun, behaviour: Behaviour, nowMs: number): number | undefined {
	const startedMs = startOf(run, behaviour);
	if (startedMs === undefined) return undefined;
	const end = endOf(run, behaviour, startedMs)?.endedMs;
	const times = [startedMs, readyMs(behaviour, startedMs), unreadyMs(run, behaviour), end];
	const ahead = times.filter((time): time is number => time !== undefined && time > nowMs);
	return ahead.length === 0 ? undefined : Math.min(...ahead);
}

/** When its containers start; undefined when they do not, also because it was stopped before. */
function startOf({ placedMs, stopping }: PodRun, { startupMs }: Behaviour): number | undefined {
	if (placedMs === undefined) return undefined;
	const startedMs = placedMs + startupMs;
	return stopping !== undefined && stopping.sinceMs < startedMs ? undefined : startedMs;
}

function readyMs({ readyAfterMs }: Behaviour, startedMs: number): number | undefined {
	return readyAfterMs === undefined ? undefined : startedMs + readyAfterMs;
}

/** Readiness probes go on while a Pod is stopping, so it may fail them. */
function unreadyMs({ stopping }: PodRun, { unreadyAfterMs }: Behaviour): number | undefined {
	if (stopping === undefined || unreadyAfterMs === undefined) return undefined;
	return stopping.sinceMs + unreadyAfterMs;
}

function isIn(nowMs: number, fromMs: number | undefined, untilMs: number | undefined): boolean {
	return fromMs !== undefined && nowMs >= fromMs && (untilMs === undefined || nowMs < untilMs);
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
