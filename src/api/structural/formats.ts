/** The `format` of strings: those that Kubernetes checks. One that is not known is not checked. */
import { parseCIDR, parseIP } from "../ip.ts";

type Check = (text: string) => boolean;

const HEX_UUID = "[0-9a-f]{8}-?[0-9a-f]{4}-?";

function uuid(version: string): Check {
	const pattern = new RegExp(`^${HEX_UUID}${version}[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$`, "i");
	return (text) => pattern.test(text);
}

const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
	["date", isDate],
	["date-time", isDateTime],
	["datetime", isDateTime],
	["duration", isDuration],
	["ipv4", (text) => parseIP(text)?.family === "IPv4"],
	["ipv6", (text) => parseIP(text)?.family === "IPv6"],
	["cidr", (text) => parseCIDR(text) !== undefined],
	[
		"mac",
		(text) => /^(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4})$/i.test(text),
	],
	["uuid", (text) => /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i.test(text)],
	["uuid3", uuid("3")],
	["uuid4", uuid("4")],
	["uuid5", uuid("5")],
	["byte", (text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)],
	["hostname", isHostname],
	["email", (text) => /^[^\s@<>]{1,64}@[^\s@<>]{1,255}$/.test(text)],
	["uri", (text) => text.startsWith("/") || /^[a-z][a-z0-9+.-]*:[^\s]*$/i.test(text)],
	["hexcolor", (text) => /^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(text)],
	["isbn10", (text) => /^\d{9}[\dX]$/i.test(text.replaceAll(/[ -]/g, ""))],
	["isbn13", (text) => /^\d{13}$/.test(text.replaceAll(/[ -]/g, ""))],
	["creditcard", (text) => /^\d{12,19}$/.test(text.replaceAll(/\D/g, ""))],
	["ssn", (text) => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
	["bsonobjectid", (text) => /^[0-9a-f]{24}$/i.test(text)],
]);

export function fitsFormat(format: string, text: string): boolean {
	return CHECKS.get(format)?.(text) ?? true;
}

function isDate(text: string): boolean {
	const atMs = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
	// A day that its month does not have would be one of the next.
	return !Number.isNaN(atMs) && new Date(atMs).toISOString().startsWith(text);
}

function isDateTime(text: string): boolean {
	const found = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|[+-]\d{2}:?\d{2})$/.exec(text);
	if (found === null) return false;
	const [, date = "", hours, minutes, seconds] = found;
	if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 60) return false;
	return isDate(date);
}

function isDuration(text: string): boolean {
	if (
		/^[+-]?(?:0|(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h)(?:[\d.]+(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))*)$/.test(
			text,
		)
	) {
		return true;
	}
	return /^\d+\s*(?:ns|us|ms|s|m|h|d|w|(?:nano|micro|milli)?(?:secs?|seconds?)|min(?:ute)?s?|hours?|hrs?|days?|weeks?)$/.test(
		text,
	);
}

function isHostname(text: string): boolean {
	if (text.length > 255) return false;
	return text.split(".").every((label) => /^[a-zA-Z0-9_](?:[a-zA-Z0-9_-]{0,61}[a-zA-Z0-9_])?$/.test(label));
}
