/** What the API server accepts as an address or a range, field by field, and what it warns about. */

import { assertDefined } from "../kernel/assert.ts";
import { type FieldError, invalid } from "./field-error.ts";
import {
	bitsOf,
	type CIDR,
	formatCIDR,
	formatIP,
	hasBitsBeyondPrefix,
	type IPAddressValue,
	lastOf,
	networkOf,
	parseCIDR,
	parseLenientCIDR,
	parseLenientIP,
} from "./ip.ts";

/**
 * The check of fields as old as the API. Non-canonical IPv6 is accepted. Values in `stored` were
 * accepted by an older server and stay valid.
 */
export function validateLegacyIP(field: string, value: string, stored: readonly string[] = []): readonly FieldError[] {
	if (stored.includes(value)) return [];
	const ip = parseLenientIP(value);
	if (ip === undefined) {
		return [invalid(field, value, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")];
	}
	if (ip.isMapped) return [invalid(field, value, "must not be an IPv4-mapped IPv6 address")];
	return ip.isStrict ? [] : [invalid(field, value, "must not have leading 0s")];
}

/** The check of new fields: there is one way to write an address. */
export function validateStrictIP(field: string, value: string): readonly FieldError[] {
	const errors = validateLegacyIP(field, value);
	if (errors.length > 0) return errors;
	const canonical = canonicalOf(value);
	return canonical === value ? [] : [invalid(field, value, `must be in canonical form ("${canonical}")`)];
}

function canonicalOf(value: string): string {
	return formatIP(assertDefined(parseLenientIP(value), "an address that was just checked"));
}

export function validateLegacyCIDR(
	field: string,
	value: string,
	stored: readonly string[] = [],
): readonly FieldError[] {
	if (stored.includes(value)) return [];
	const cidr = parseLenientCIDR(value);
	if (cidr === undefined) {
		return [invalid(field, value, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)")];
	}
	if (cidr.isMapped) return [invalid(field, value, "must not have an IPv4-mapped IPv6 address")];
	if (!cidr.isStrict) return [invalid(field, value, "must not have leading 0s in IP or prefix length")];
	return hasBitsBeyondPrefix(cidr) ? [invalid(field, value, "must not have bits set beyond the prefix length")] : [];
}

interface SpecialRange {
	/** Both ends belong to the range. Ends, not masks: comparing big integers makes no new ones. */
	readonly ranges: readonly { readonly first: IPAddressValue; readonly last: bigint }[];
	readonly detail: string;
}

function special(detail: string, ...ranges: readonly string[]): SpecialRange {
	const ends = ranges.map((range) => {
		const cidr = assertDefined(parseCIDR(range), range);
		return { first: networkOf(cidr), last: lastOf(cidr).value };
	});
	return { detail, ranges: ends };
}

const NOT_FOR_ENDPOINTS: readonly SpecialRange[] = [
	special("may not be unspecified (0.0.0.0)", "0.0.0.0/32", "::/128"),
	special("may not be in the loopback range (127.0.0.0/8, ::1/128)", "127.0.0.0/8", "::1/128"),
	special("may not be in the link-local range (169.254.0.0/16, fe80::/10)", "169.254.0.0/16", "fe80::/10"),
	special(
		"may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
		"224.0.0.0/24",
		// Scope 2 with any of the sixteen flag values. @see RFC 4291 §2.7
		...[..."0123456789abcdef"].map((flags) => `ff${flags}2::/16`),
	),
];

/** Addresses that no endpoint may have, since traffic to them would stay on the sender's node. */
export function validateEndpointIP(field: string, value: string): readonly FieldError[] {
	const ip = parseLenientIP(value);
	if (ip === undefined) return [invalid(field, value, "must be a valid IP address")];
	return NOT_FOR_ENDPOINTS.filter((range) => isIn(range, ip)).map(({ detail }) => invalid(field, value, detail));
}

function isIn({ ranges }: SpecialRange, { family, value }: IPAddressValue): boolean {
	return ranges.some(({ first, last }) => first.family === family && value >= first.value && value <= last);
}

/** About an accepted address that some consumers read differently, or compare differently. */
export function ipWarnings(field: string, value: string): readonly string[] {
	const ip = parseLenientIP(value);
	if (ip === undefined) return [];
	const canonical = formatIP(ip);
	if (!ip.isStrict) return [`${field}: non-standard IP address ${quoted(value)} is invalid: use "${canonical}"`];
	if (canonical === value) return [];
	return [`${field}: IPv6 address ${quoted(value)} should be in RFC 5952 canonical format ("${canonical}")`];
}

export function cidrWarnings(field: string, value: string): readonly string[] {
	const cidr = parseLenientCIDR(value);
	if (cidr === undefined) return [];
	const canonical = formatCIDR(cidr);
	const ambiguous = hasBitsBeyondPrefix(cidr) ? [ambiguity(field, value, cidr)] : [];
	if (!cidr.isStrict) {
		return [...ambiguous, `${field}: non-standard CIDR value ${quoted(value)} is invalid: use "${canonical}"`];
	}
	const written = `${formatIP(cidr.base)}/${cidr.prefixLength}`;
	if (cidr.base.family === "IPv4" || written === value) return ambiguous;
	return [
		...ambiguous,
		`${field}: IPv6 CIDR value ${quoted(value)} should be in RFC 5952 canonical format ("${written}")`,
	];
}

function ambiguity(field: string, value: string, cidr: CIDR): string {
	const single = `${formatIP(cidr.base)}/${bitsOf(cidr.base.family)}`;
	return (
		`${field}: CIDR value ${quoted(value)} is ambiguous in this context` +
		` (should be "${formatCIDR(cidr)}" or "${single}"?)`
	);
}

function quoted(value: string): string {
	return JSON.stringify(value);
}
