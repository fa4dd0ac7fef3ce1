/** Readers of flags whose values become part of the kernel's rules: nothing else than they say may get there. */
import { InvalidArgumentError } from "commander";
import { type CIDR, contains, parseCIDR } from "../api/ip.ts";
import { durationMs, list } from "./flag-values.ts";

/** Ranges of which none is part of another: nft refuses those. */
export function ranges(value: string): readonly string[] {
	const texts = list(value);
	const parsed = texts.map((text) => {
		const cidr = parseCIDR(text);
		if (cidr !== undefined) return cidr;
		throw new InvalidArgumentError(`Want ranges such as 10.244.0.0/16,fd00:244::/56; ${text} is none.`);
	});
	if (parsed.some((one, index) => parsed.some((other, place) => place !== index && overlap(one, other)))) {
		throw new InvalidArgumentError("Want ranges that have no address in common.");
	}
	return texts;
}

export function rangesOrPrimary(value: string): readonly string[] {
	const texts = list(value);
	if (!texts.includes("primary")) return ranges(value);
	if (texts.length === 1) return texts;
	throw new InvalidArgumentError("Want either ranges, or primary alone.");
}

/** Of a network interface, or how it starts. */
export function interfaceName(value: string): string {
	if (/^[A-Za-z0-9_.:-]{1,15}$/.test(value)) return value;
	throw new InvalidArgumentError("Want the name of a network interface: 1 to 15 letters, digits, -, _, . and :.");
}

/** More often, and the machine does nothing else. */
const PERIOD_MS_MIN = 1_000;

export function periodMs(value: string): number {
	const ms = durationMs(value);
	if (ms >= PERIOD_MS_MIN) return ms;
	throw new InvalidArgumentError("Want a duration of at least 1s, such as 30s.");
}

function overlap(a: CIDR, b: CIDR): boolean {
	return contains(a, b.base) || contains(b, a.base);
}
