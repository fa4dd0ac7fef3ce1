/** Strings of `format: duration` as durations of CEL: `1h30m` as Go writes them, and `3 days`. */
import { Environment } from "@marcbachmann/cel-js";

const NANOS_PER_SECOND = 1_000_000_000n;
/** Nanoseconds of each unit. A longer word counts by how it begins. */
const UNITS: readonly (readonly [names: RegExp, nanos: bigint])[] = [
	[/^(?:ns|nano)/i, 1n],
	[/^(?:us|\u00b5s|\u03bcs|micro)/i, 1_000n],
	[/^(?:ms|milli)/i, 1_000_000n],
	[/^(?:m$|min)/i, 60n * NANOS_PER_SECOND],
	[/^s/i, NANOS_PER_SECOND],
	[/^h/i, 3_600n * NANOS_PER_SECOND],
	[/^d/i, 86_400n * NANOS_PER_SECOND],
	[/^w/i, 604_800n * NANOS_PER_SECOND],
];

/** The library makes its durations itself. */
const fromText = new Environment().registerVariable("text", "string").parse("duration(text)");

/** Undefined for what is no duration. */
export function celDuration(text: string): unknown {
	const nanos = nanosOf(text);
	return nanos === undefined ? undefined : fromText({ text: `${nanos}ns` });
}

function nanosOf(text: string): bigint | undefined {
	const [, sign = "", rest = ""] = /^([+-]?)(.*)$/s.exec(text) ?? [];
	if (rest === "0") return 0n;
	if (!/^(?:[\d.]+\s*[a-z\u00b5\u03bc]+)+$/i.test(rest)) return undefined;
	let total = 0n;
	for (const [, number = "", unit = ""] of rest.matchAll(/([\d.]+)\s*([a-z\u00b5\u03bc]+)/gi)) {
		const nanos = UNITS.find(([names]) => names.test(unit))?.[1];
		const found = /^(\d*)\.?(\d*)$/.exec(number);
		if (nanos === undefined || found === null) return undefined;
		const [, whole = "", fraction = ""] = found;
		total += BigInt(whole || "0") * nanos + (BigInt(fraction || "0") * nanos) / 10n ** BigInt(fraction.length);
	}
	return sign === "-" ? -total : total;
}
