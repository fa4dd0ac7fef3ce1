/** How `kubectl get` shows the time since something: short, and coarser the longer it is ago. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Leap years do not matter at this precision. */
const YEAR = 365 * DAY;

/** `<unknown>` without a time; `<invalid>` for a time more than a second in the future. */
export function age(nowMs: number, timestamp: string | null | undefined): string {
	const thenMs = timestamp === undefined || timestamp === null ? Number.NaN : Date.parse(timestamp);
	return Number.isNaN(thenMs) ? "<unknown>" : shortDuration(nowMs - thenMs);
}

/** A duration as one or two units, all numbers truncated: 119 s is `119s`, 601 s is `10m`. */
export function shortDuration(durationMs: number): string {
	const seconds = Math.trunc(durationMs / 1000);
	if (seconds < -1) return "<invalid>";
	if (seconds < 0) return "0s";
	if (seconds < 2 * MINUTE) return `${seconds}s`;
	if (seconds < 10 * MINUTE) return twoUnits(seconds, [MINUTE, "m"], [1, "s"]);
	if (seconds < 3 * HOUR) return `${Math.trunc(seconds / MINUTE)}m`;
	if (seconds < 8 * HOUR) return twoUnits(seconds, [HOUR, "h"], [MINUTE, "m"]);
	if (seconds < 2 * DAY) return `${Math.trunc(seconds / HOUR)}h`;
	if (seconds < 8 * DAY) return twoUnits(seconds, [DAY, "d"], [HOUR, "h"]);
	if (seconds < 2 * YEAR) return `${Math.trunc(seconds / DAY)}d`;
	if (seconds < 8 * YEAR) return twoUnits(seconds, [YEAR, "y"], [DAY, "d"]);
	return `${Math.trunc(seconds / YEAR)}y`;
}

type Unit = readonly [seconds: number, letter: string];

/** The smaller unit is left out when it is 0. */
function twoUnits(seconds: number, large: Unit, small: Unit): string {
	const rest = Math.trunc((seconds % large[0]) / small[0]);
	return `${Math.trunc(seconds / large[0])}${large[1]}${rest === 0 ? "" : `${rest}${small[1]}`}`;
}
