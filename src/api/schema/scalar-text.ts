/** Scalars that travel as strings with a form of their own: times, bytes. */

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** What a time that was never set looks like in Go. It counts as absent. */
export const ZERO_TIME = "0001-01-01T00:00:00Z";

/** A time as `metav1.Time` writes it: UTC, whole seconds (a fraction is cut). Undefined when it is none. */
export function secondsTime(text: string): string | undefined {
	const parts = timeParts(text);
	return parts === undefined ? undefined : `${parts.seconds}Z`;
}

/** A time as `metav1.MicroTime` writes it: UTC, six decimals. Undefined when it is none. */
export function microTime(text: string): string | undefined {
	const parts = timeParts(text);
	return parts === undefined ? undefined : `${parts.seconds}.${parts.fraction.padEnd(6, "0").slice(0, 6)}Z`;
}

/** `seconds` since the Unix epoch as `2006-01-02T15:04:05`, or undefined outside the years 0 to 9999. */
export function utcSeconds(seconds: number): string | undefined {
	const date = new Date(seconds * 1000);
	const text = Number.isNaN(date.getTime()) ? "" : date.toISOString();
	return /^\d{4}-/.test(text) ? text.slice(0, 19) : undefined;
}

/** Where standard base64 with padding goes wrong, or undefined when it is right. */
export function base64Fault(text: string): number | undefined {
	if (BASE64.test(text)) return undefined;
	const illegal = text.search(/[^A-Za-z0-9+/=]|=[^=]|===/);
	return illegal < 0 ? text.length - (text.length % 4) : illegal;
}

function timeParts(text: string): { seconds: string; fraction: string } | undefined {
	const match = RFC3339.exec(text);
	if (match === null) return undefined;
	const [, year = "", month = "", day = "", hour = "", minute = "", second = "", fraction = "", zone = ""] = match;
	if (!isDate(Number(year), Number(month), Number(day))) return undefined;
	if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
	if (zone === "Z") return { seconds: text.slice(0, 19), fraction };
	const seconds = utcSeconds(Date.parse(`${text.slice(0, 19)}${zone}`) / 1000);
	return seconds === undefined ? undefined : { seconds, fraction };
}

function isDate(year: number, month: number, day: number): boolean {
	const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
	const days = month === 2 && isLeap ? 29 : (DAYS_IN_MONTH[month - 1] ?? 0);
	return day >= 1 && day <= days;
}
