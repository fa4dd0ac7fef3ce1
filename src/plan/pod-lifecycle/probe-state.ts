/**
 * What the outcomes of a probe come to. A result changes only after as many equal outcomes in a row as its
 * threshold says; outcomes below it leave the result as it was.
 */
import type { ProbeKind, ProbeSpec } from "./probe-spec.ts";

export interface ProbeState {
	/** undefined: a startup probe that has not come to a result. */
	readonly isPassing: boolean | undefined;
	readonly lastOutcome: boolean | undefined;
	/** Equal outcomes in a row. */
	readonly inARow: number;
}

/** Before the first outcome: not ready, but alive. */
export function initialProbeState(kind: ProbeKind): ProbeState {
	const isPassing = { startup: undefined, readiness: false, liveness: true }[kind];
	return { isPassing, lastOutcome: undefined, inARow: 0 };
}

export function afterOutcome(state: ProbeState, spec: ProbeSpec, isSuccess: boolean): ProbeState {
	const inARow = state.lastOutcome === isSuccess ? state.inARow + 1 : 1;
	const threshold = isSuccess ? spec.successThreshold : spec.failureThreshold;
	const isPassing = inARow >= threshold ? isSuccess : state.isPassing;
	return { isPassing, lastOutcome: isSuccess, inARow };
}

/** Whether its container has to be restarted: only a failed readiness probe leaves it alone. */
export function asksForRestart(kind: ProbeKind, { isPassing }: ProbeState): boolean {
	return kind !== "readiness" && isPassing === false;
}
