/** Readers of one flag's value. Each throws commander's InvalidArgumentError, which names the flag and the value. */
import { InvalidArgumentError } from "commander";
import { labelValueProblems } from "../api/names.ts";
import type { PlaneOptions } from "../wiring/plane-options.ts";

/** Of a flag that may be repeated. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
	return [...before, value];
}

export function list(value: string): readonly string[] {
	return value
		.split(",")
		.map((item) => item.trim())
		.filter((item) => item !== "");
}

/** Zones become labels of nodes. */
export function zones(value: string): readonly string[] {
	const names = list(value);
	if (names.every((name) => labelValueProblems(name).length === 0)) return names;
	throw new InvalidArgumentError(
		"Want names of at most 63 letters, digits, -, _ and ., with a letter or digit at both ends.",
	);
}

export function folder(value: string): string {
	if (value !== "") return value;
	throw new InvalidArgumentError("Want a folder.");
}

/** Of a user or a group. */
export function userName(value: string): string {
	if (value !== "") return value;
	throw new InvalidArgumentError("Want a name, such as ann.");
}

export function truth(value: string): boolean {
	if (value === "true" || value === "false") return value === "true";
	throw new InvalidArgumentError("Want true or false.");
}

export function whole(min: number, max: number): (value: string) => number {
	return (value) => {
		const number = Number(value);
		if (/^\d+$/.test(value) && number >= min && number <= max) return number;
		throw new InvalidArgumentError(`Want a whole number from ${min} to ${max}.`);
	};
}

export function network(value: string): PlaneOptions["network"] {
	if (value === "none" || value === "userspace" || value === "netns") return value;
	throw new InvalidArgumentError("Want none, userspace or netns.");
}

export function nodeName(value: string): string {
	if (value !== "") return value;
	throw new InvalidArgumentError("Want the name of a node, such as n1; without the flag it is the view of none.");
}

export function runtime(value: string): PlaneOptions["runtime"] {
	if (value === "echo" || value === "process") return value;
	throw new InvalidArgumentError("Want echo or process.");
}

/** Labels of letters, digits and dashes, without a dot at the end. */
export function domain(value: string): string {
	if (/^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$/.test(value)) return value;
	throw new InvalidArgumentError("Want a domain in small letters, such as cluster.local.");
}

export function hostAndPort(value: string): PlaneOptions["listen"] {
	const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(value) ?? [];
	if (port === undefined || Number(port) > 65_535) {
		throw new InvalidArgumentError("Want HOST:PORT, such as 127.0.0.1:6443 or [::1]:0.");
	}
	return { host: bracketed ?? (plain === undefined || plain === "" ? "127.0.0.1" : plain), port: Number(port) };
}

/** Of what need not be served. Not undefined, which commander takes for a value that could not be read. */
export type Place = PlaneOptions["listen"] | "nowhere";

/** '' is nowhere. */
export function place(value: string): Place {
	return value === "" ? "nowhere" : hostAndPort(value);
}

export function placeOrNone(value: Place): PlaneOptions["listen"] | undefined {
	return value === "nowhere" ? undefined : value;
}

export function portRange(value: string): PlaneOptions["nodePortRange"] {
	const [, from = "", to = ""] = /^(\d{1,5})-(\d{1,5})$/.exec(value) ?? [];
	const range = { from: Number(from), to: Number(to) };
	if (from !== "" && range.from >= 1 && range.from <= range.to && range.to <= 65_535) return range;
	throw new InvalidArgumentError("Want FROM-TO, such as 30000-32767.");
}

/** Shorter than this, and the machine's own pauses would look like lost nodes. */
const GRACE_MS_MIN = 1_000;

export function graceMs(value: string): number {
	const ms = durationMs(value);
	if (ms < GRACE_MS_MIN) throw new InvalidArgumentError("Want a duration of at least 1s, such as 50s.");
	return ms;
}

const UNIT_MS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const PART = "(\\d+(?:\\.\\d*)?|\\.\\d+)(us|ms|s|m|h)";

/** As Go writes durations: `500ms`, `1.5s`, `1h30m`. */
export function durationMs(value: string): number {
	if (value === "0") return 0;
	if (!new RegExp(`^(?:${PART})+$`).test(value)) {
		throw new InvalidArgumentError("Want a duration, such as 500ms, 2s or 1m30s.");
	}
	const parts = [...value.matchAll(new RegExp(PART, "g"))];
	return parts.reduce((sum, [, amount, unit = ""]) => sum + Number(amount) * (UNIT_MS[unit] ?? 0), 0);
}
