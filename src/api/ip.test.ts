import { isIP } from "node:net";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
	canonicalIP,
	contains,
	formatCIDR,
	formatIP,
	lastOf,
	networkOf,
	offsetIP,
	parseCIDR,
	parseIP,
	parseLenientIP,
	sizeOf,
} from "./ip.ts";

const addresses = fc.oneof(
	fc.bigInt(0n, 0xffffffffn).map((value) => ({ family: "IPv4" as const, value })),
	// Few set groups, so that runs of zeros of every length occur.
	fc
		.array(fc.constantFrom<bigint[]>(0n, 0n, 1n, 0xffffn, 0xab0n), { minLength: 8, maxLength: 8 })
		.map((groups) => groups.reduce((value, group) => (value << 16n) | group, 0n))
		.filter((value) => value >> 32n !== 0xffffn)
		.map((value) => ({ family: "IPv6" as const, value })),
);

describe("IP addresses", () => {
	test("printing and reading give the same address back", () => {
		fc.assert(
			fc.property(addresses, (ip) => {
				expect(parseIP(formatIP(ip))).toEqual(ip);
			}),
		);
	});

	test("the printed form is the one that URL parsers print", () => {
		fc.assert(
			fc.property(addresses, (ip) => {
				const text = formatIP(ip);
				const host = ip.family === "IPv6" ? `[${text}]` : text;
				expect(new URL(`http://${host}/`).hostname).toBe(host);
			}),
		);
	});

	test("what is read strictly is an address for everyone else", () => {
		const text = fc.stringMatching(/^[0-9a-f:.]{1,20}$/);
		fc.assert(fc.property(text, (candidate) => parseIP(candidate) === undefined || isIP(candidate) !== 0));
	});

	test.each([
		{ text: "10.0.0.1", canonical: "10.0.0.1", isStrict: true },
		{ text: "010.1.0.5", canonical: "10.1.0.5", isStrict: false },
		{ text: "10.0.0.00", canonical: "10.0.0.0", isStrict: false },
		{ text: "2001:DB8:0:0::1", canonical: "2001:db8::1", isStrict: true },
		{ text: "::", canonical: "::", isStrict: true },
		{ text: "1:0:0:2:0:0:0:3", canonical: "1:0:0:2::3", isStrict: true },
		{ text: "1:0:2:3:4:5:6:7", canonical: "1:0:2:3:4:5:6:7", isStrict: true },
		{ text: "00001::", canonical: "1::", isStrict: false },
		{ text: "::ffff:10.0.0.1", canonical: "10.0.0.1", isStrict: false },
		{ text: "64:ff9b::10.0.0.1", canonical: "64:ff9b::a00:1", isStrict: true },
		{ text: "64:ff9b::10.0.0.01", canonical: "64:ff9b::a00:1", isStrict: false },
	])("$text means $canonical", ({ text, canonical, isStrict }) => {
		expect(canonicalIP(text)).toBe(canonical);
		expect(parseLenientIP(text)?.isStrict).toBe(isStrict);
		expect(parseIP(text) !== undefined).toBe(isStrict);
	});

	test.each([
		"",
		"10.0.0",
		"10.0.0.256",
		"10.0.0.1.",
		" 10.0.0.1",
		"0x0a.0.0.1",
		"1::2::3",
		"1:2:3:4:5:6:7::8",
		":1:2:3:4:5:6:7",
		"12345::",
		"fe80::1%eth0",
		"1:2:3:4:5:6:7:8:9",
		"::1.2.3",
		`::${"0".repeat(200)}`,
	])("%s is no address in any form", (text) => {
		expect(parseLenientIP(text)).toBeUndefined();
	});
});

describe("CIDRs", () => {
	test.each([
		{ text: "10.96.0.0/16", first: "10.96.0.0", last: "10.96.255.255", size: 65536n },
		{ text: "10.0.0.5/32", first: "10.0.0.5", last: "10.0.0.5", size: 1n },
		{ text: "fd00::/64", first: "fd00::", last: "fd00::ffff:ffff:ffff:ffff", size: 2n ** 64n },
		{ text: "0.0.0.0/0", first: "0.0.0.0", last: "255.255.255.255", size: 2n ** 32n },
	])("$text has its ends and size", ({ text, first, last, size }) => {
		const cidr = parseCIDR(text);
		if (cidr === undefined) throw new Error(`not read: ${text}`);
		expect(formatIP(networkOf(cidr))).toBe(first);
		expect(formatIP(lastOf(cidr))).toBe(last);
		expect(sizeOf(cidr)).toBe(size);
		expect(formatCIDR(cidr)).toBe(text);
		expect(contains(cidr, networkOf(cidr)) && contains(cidr, lastOf(cidr))).toBe(true);
		expect(contains(cidr, offsetIP(lastOf(cidr), 1n))).toBe(false);
	});

	test.each(["10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/08", "010.0.0.0/8", "fd00::/129", "::ffff:1.2.3.0/120"])(
		"%s is not read strictly",
		(text) => {
			expect(parseCIDR(text)).toBeUndefined();
		},
	);
});
