/**
 * How a simulated Pod behaves: what its annotations say, and else what its command suggests.
 *
 *     sliceplane.dev/startup-time: 2s     from the binding to running containers (100ms)
 *     sliceplane.dev/ready-after: 5s      from running to Ready (0s; where probes do not run, the readiness probe's initial delay)
 *     sliceplane.dev/never-ready: "true"  runs, and is never Ready
 *     sliceplane.dev/unready-after: 2s    from SIGTERM to a failing readiness probe (stays Ready to the end)
 *     sliceplane.dev/stop-time: 10s       from SIGTERM to the end of its processes (1s)
 *     sliceplane.dev/exit-code: "3"       of its containers when they end (0)
 *     sliceplane.dev/exit-after: 30s      from running to the end of its processes, by themselves; not where the
 *                                         restart policy would start them again
 *
 * Durations are Go's: `300ms`, `2s`, `1m30s`.
 */
import type { Container, Pod } from "../../api/types/core.ts";
import { isRestarted } from "./container-run.ts";

export interface Behaviour {
	readonly startupMs: number;
	/** undefined: never Ready. */
	readonly readyAfterMs: number | undefined;
	/** From SIGTERM to not Ready; undefined: it stays as ready as it is, to the end. */
	readonly unreadyAfterMs: number | undefined;
	/** undefined: SIGTERM is ignored, so only the grace period's SIGKILL ends it. */
	readonly stopMs: number | undefined;
	readonly exitCode: number;
	/** undefined: runs until it is stopped. */
	readonly exitAfterMs: number | undefined;
	/** Annotations that could not be read, as sentences; what they would change stays at its default. */
	readonly problems: readonly string[];
}

export const ANNOTATION_PREFIX = "sliceplane.dev/";

const DEFAULT_STARTUP_MS = 100;
const DEFAULT_STOP_MS = 1_000;

/** `isProbed`: its probes really run, and their initial delays are not for here. */
export function behaviourOf(pod: Pod, isProbed = false): Behaviour {
	const problems: string[] = [];
	const durationMs = (name: string): number | undefined => {
		const text = pod.metadata.annotations?.[ANNOTATION_PREFIX + name];
		if (text === undefined) return undefined;
		const parsed = parseDurationMs(text);
		if (parsed === undefined) problems.push(problemOf(name, text, 'want a duration such as "300ms" or "1m30s"'));
		return parsed;
	};
	const exitCode = exitCodeOf(pod, problems);
	const isNeverReady = pod.metadata.annotations?.[`${ANNOTATION_PREFIX}never-ready`] === "true";
	const stopMs = durationMs("stop-time") ?? (ignoresSigterm(pod) ? undefined : DEFAULT_STOP_MS);
	const exitAfterMs = durationMs("exit-after");
	return {
		startupMs: durationMs("startup-time") ?? DEFAULT_STARTUP_MS,
		readyAfterMs: isNeverReady ? undefined : (durationMs("ready-after") ?? (isProbed ? 0 : probeDelayMs(pod))),
		unreadyAfterMs: durationMs("unready-after"),
		stopMs,
		exitCode,
		exitAfterMs: isRestarted(pod, exitCode) ? undefined : exitAfterMs,
		problems,
	};
}

function problemOf(name: string, text: string, want: string): string {
	return `annotation ${ANNOTATION_PREFIX}${name}: ${JSON.stringify(text)}: ${want}`;
}

function exitCodeOf(pod: Pod, problems: string[]): number {
	const text = pod.metadata.annotations?.[`${ANNOTATION_PREFIX}exit-code`];
	if (text === undefined) return 0;
	if (/^\d{1,3}$/.test(text) && Number(text) <= 255) return Number(text);
	problems.push(problemOf("exit-code", text, "want a number from 0 to 255"));
	return 0;
}

/** Every container must be ready, so the slowest probe decides. */
function probeDelayMs(pod: Pod): number {
	const delays = pod.spec.containers.map(({ readinessProbe }) => Number(readinessProbe?.["initialDelaySeconds"] ?? 0));
	return Math.max(0, ...delays) * 1_000;
}

/**
 * `sleep` as a container's first process has no handler for SIGTERM, and the kernel ignores signals without
 * a handler for the first process of a namespace: such a container stays for its whole grace period.
 */
function ignoresSigterm(pod: Pod): boolean {
	return pod.spec.containers.some((container) => firstProcess(container) === "sleep");
}

/** The base name of the first word of `command`, else of `args`. */
function firstProcess({ command = [], args = [] }: Container): string | undefined {
	const word = command[0] ?? args[0];
	return word?.slice(word.lastIndexOf("/") + 1);
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
/** A day is longer than any test waits. */
const DURATION_MS_MAX = 86_400_000;

/** Milliseconds of a Go duration, at most a day; undefined when it is none. */
export function parseDurationMs(text: string): number | undefined {
	if (text === "0") return 0;
	if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return undefined;
	let totalMs = 0;
	for (const [, amount, , unit = ""] of text.matchAll(/(\d+(\.\d+)?)(ms|s|m|h)/g)) {
		totalMs += Number(amount) * (UNIT_MS[unit] ?? 0);
	}
	return totalMs <= DURATION_MS_MAX ? totalMs : undefined;
}
