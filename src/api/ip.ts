/**
 * IP addresses and ranges as numbers: strict reading, canonical printing, membership, arithmetic.
 *
 * Addresses come from strangers and are compared as text all over the system, so there is one
 * reader. `parseIP` takes only what every consumer reads alike; `parseLenientIP` also takes the
 * forms that Kubernetes accepted of old (`010.1.0.5`, `::ffff:10.0.0.1`), read as decimal.
 */
import type { IPFamily } from "./types/meta.ts";

export interface IPAddressValue {
	readonly family: IPFamily;
	readonly value: bigint;
}

/** A range of addresses; `base` may have bits set beyond the prefix, as written. */
export interface CIDR {
	readonly base: IPAddressValue;
	readonly prefixLength: number;
}

/** An address of an old form. `isStrict` is false when `parseIP` would refuse the text. */
export interface LenientIP extends IPAddressValue {
	readonly isStrict: boolean;
	/** Written as IPv6, means IPv4. */
	readonly isMapped: boolean;
}

export function bitsOf(family: IPFamily): 32 | 128 {
	return family === "IPv4" ? 32 : 128;
}

/** No leading zeros, no IPv4-mapped IPv6, no zone. Upper case and long IPv6 forms are read. */
export function parseIP(text: string): IPAddressValue | undefined {
	const ip = parseLenientIP(text);
	return ip?.isStrict ? { family: ip.family, value: ip.value } : undefined;
}

/** The longest text that can be meant as an address; longer ones are not worth a look. */
const TEXT_MAX = 128;
const MAPPED_PREFIX = 0xffffn;

export function parseLenientIP(text: string): LenientIP | undefined {
	if (text.length > TEXT_MAX) return undefined;
	return text.includes(":") ? parseIPv6(text) : parseIPv4(text);
}

const DOTTED = /^([0-9]+)\.([0-9]+)\.([0-9]+)\.([0-9]+)$/;

/** In plain numbers up to the end: this reads every address of every endpoint that is written. */
function parseIPv4(text: string): LenientIP | undefined {
	const match = DOTTED.exec(text);
	if (match === null) return undefined;
	let value = 0;
	let isStrict = true;
	for (let index = 1; index <= 4; index++) {
		const digits = match[index] ?? "";
		const octet = Number(digits);
		if (octet > 255) return undefined;
		if (digits.length > 1 && digits.startsWith("0")) isStrict = false;
		value = value * 256 + octet;
	}
	return { family: "IPv4", value: BigInt(value), isStrict, isMapped: false };
}

function parseIPv6(text: string): LenientIP | undefined {
	const tail = /^(.*:)([0-9.]*\.[0-9.]*)$/.exec(text);
	if (tail === null) return fromGroups(text, true);
	const embedded = parseIPv4(tail[2] ?? "");
	if (embedded === undefined) return undefined;
	const high = (embedded.value >> 16n).toString(16);
	const low = (embedded.value & 0xffffn).toString(16);
	return fromGroups(`${tail[1]}${high}:${low}`, embedded.isStrict);
}

function fromGroups(text: string, isTailStrict: boolean): LenientIP | undefined {
	const halves = text.split("::");
	if (halves.length > 2) return undefined;
	const [head = [], rest = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
	const missing = 8 - head.length - rest.length;
	if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
	const groups = [...head, ...Array.from({ length: missing }, () => "0"), ...rest];
	let value = 0n;
	for (const group of groups) {
		if (!/^[0-9a-fA-F]+$/.test(group) || Number.parseInt(group, 16) > 0xffff) return undefined;
		value = (value << 16n) | BigInt(`0x${group}`);
	}
	if (value >> 32n === MAPPED_PREFIX) {
		return { family: "IPv4", value: value & 0xffffffffn, isStrict: false, isMapped: true };
	}
	const isStrict = isTailStrict && groups.every((group) => group.length <= 4);
	return { family: "IPv6", value, isStrict, isMapped: false };
}

/** The one way to write the address: dotted decimal, or RFC 5952 for IPv6. */
export function formatIP(ip: IPAddressValue): string {
	return ip.family === "IPv4" ? formatIPv4(ip.value) : formatIPv6(ip.value);
}

function formatIPv4(value: bigint): string {
	const bits = Number(value);
	return `${bits >>> 24}.${(bits >>> 16) & 255}.${(bits >>> 8) & 255}.${bits & 255}`;
}

function formatIPv6(value: bigint): string {
	const groups = Array.from({ length: 8 }, (_, index) => Number((value >> BigInt(112 - 16 * index)) & 0xffffn));
	const { start, length } = longestZeros(groups);
	const words = groups.map((group) => group.toString(16));
	if (length < 2) return words.join(":");
	return `${words.slice(0, start).join(":")}::${words.slice(start + length).join(":")}`;
}

/** The first of the longest runs of zero groups. @see RFC 5952 §4.2 */
function longestZeros(groups: readonly number[]): { start: number; length: number } {
	let best = { start: 0, length: 0 };
	let start = 0;
	for (let index = 0; index <= groups.length; index++) {
		if (groups[index] === 0) continue;
		if (index - start > best.length) best = { start, length: index - start };
		start = index + 1;
	}
	return best;
}

/** The canonical text of an address in any accepted form; undefined when it is none. */
export function canonicalIP(text: string): string | undefined {
	const ip = parseLenientIP(text);
	return ip === undefined ? undefined : formatIP(ip);
}

export function familyOf(text: string): IPFamily | undefined {
	return parseLenientIP(text)?.family;
}

export function parseCIDR(text: string): CIDR | undefined {
	const cidr = parseLenientCIDR(text);
	return cidr?.isStrict ? { base: cidr.base, prefixLength: cidr.prefixLength } : undefined;
}

/** A range of an old form; `isMapped` when its address was written as IPv4-mapped IPv6. */
export interface LenientCIDR extends CIDR {
	readonly isStrict: boolean;
	readonly isMapped: boolean;
}

export function parseLenientCIDR(text: string): LenientCIDR | undefined {
	const slash = text.lastIndexOf("/");
	const ip = slash < 0 ? undefined : parseLenientIP(text.slice(0, slash));
	const length = text.slice(slash + 1);
	if (ip === undefined || !/^[0-9]{1,9}$/.test(length)) return undefined;
	const prefixLength = ip.isMapped ? Math.max(0, Number(length) - 96) : Number(length);
	if (prefixLength > bitsOf(ip.family)) return undefined;
	const isStrict = ip.isStrict && String(Number(length)) === length;
	return { base: { family: ip.family, value: ip.value }, prefixLength, isStrict, isMapped: ip.isMapped };
}

function hostMask(cidr: CIDR): bigint {
	return (1n << BigInt(bitsOf(cidr.base.family) - cidr.prefixLength)) - 1n;
}

/** The first address of the range: the base without the bits beyond the prefix. */
export function networkOf(cidr: CIDR): IPAddressValue {
	return { family: cidr.base.family, value: cidr.base.value & ~hostMask(cidr) };
}

/** The last address of the range; in IPv4 its broadcast address. */
export function lastOf(cidr: CIDR): IPAddressValue {
	return { family: cidr.base.family, value: cidr.base.value | hostMask(cidr) };
}

/** How many addresses the range has, the unusable ones included. */
export function sizeOf(cidr: CIDR): bigint {
	return hostMask(cidr) + 1n;
}

export function hasBitsBeyondPrefix(cidr: CIDR): boolean {
	return (cidr.base.value & hostMask(cidr)) !== 0n;
}

export function formatCIDR(cidr: CIDR): string {
	return `${formatIP(networkOf(cidr))}/${cidr.prefixLength}`;
}

export function contains(cidr: CIDR, ip: IPAddressValue): boolean {
	return ip.family === cidr.base.family && (ip.value & ~hostMask(cidr)) === networkOf(cidr).value;
}

/** The address `by` further on; the caller knows that it still is one. */
export function offsetIP(ip: IPAddressValue, by: bigint): IPAddressValue {
	return { family: ip.family, value: ip.value + by };
}

/** The canonical text of the address at `offset` in the range; 0 is its first one. */
export function addressAt(cidr: CIDR, offset: number): string {
	return formatIP(offsetIP(networkOf(cidr), BigInt(offset)));
}

/** Part number `index` of the range, when it is cut into parts of `prefixLength`. */
export function subnetAt(cidr: CIDR, prefixLength: number, index: number): CIDR {
	const step = 1n << BigInt(bitsOf(cidr.base.family) - prefixLength);
	return { base: offsetIP(networkOf(cidr), BigInt(index) * step), prefixLength };
}
