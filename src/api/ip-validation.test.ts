import { describe, expect, test } from "vitest";
import { errorTexts } from "../testing/api-objects.ts";
import {
	cidrWarnings,
	ipWarnings,
	validateEndpointIP,
	validateLegacyCIDR,
	validateLegacyIP,
	validateStrictIP,
} from "./ip-validation.ts";

describe("validateLegacyIP()", () => {
	test.each([
		{ value: "FD00::0001", detail: undefined },
		{ value: "x", detail: "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)" },
		{ value: "010.0.0.1", detail: "must not have leading 0s" },
		{ value: "::ffff:10.0.0.1", detail: "must not be an IPv4-mapped IPv6 address" },
	])("$value: $detail", ({ value, detail }) => {
		expect(errorTexts(validateLegacyIP("ip", value))).toEqual(
			detail === undefined ? [] : [`ip: Invalid value: "${value}": ${detail}`],
		);
	});

	test("keeps what was stored before", () => {
		expect(validateLegacyIP("ip", "010.0.0.1", ["010.0.0.1"])).toEqual([]);
	});
});

test("validateStrictIP() wants the canonical form", () => {
	expect(errorTexts(validateStrictIP("ip", "FD00::1"))).toEqual([
		'ip: Invalid value: "FD00::1": must be in canonical form ("fd00::1")',
	]);
	expect(validateStrictIP("ip", "fd00::1")).toEqual([]);
});

test.each([
	{ value: "10.0.0.0/8", detail: undefined },
	{ value: "10.0.0.0", detail: "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)" },
	{ value: "10.0.0.0/08", detail: "must not have leading 0s in IP or prefix length" },
	{ value: "::ffff:10.0.0.0/104", detail: "must not have an IPv4-mapped IPv6 address" },
	{ value: "10.0.0.1/8", detail: "must not have bits set beyond the prefix length" },
])("validateLegacyCIDR() of $value: $detail", ({ value, detail }) => {
	expect(errorTexts(validateLegacyCIDR("c", value))).toEqual(
		detail === undefined ? [] : [`c: Invalid value: "${value}": ${detail}`],
	);
});

test.each([
	{ value: "10.0.0.1", detail: undefined },
	{ value: "224.0.1.1", detail: undefined },
	{ value: "0.0.0.0", detail: "may not be unspecified (0.0.0.0)" },
	{ value: "::", detail: "may not be unspecified (0.0.0.0)" },
	{ value: "127.1.0.1", detail: "may not be in the loopback range (127.0.0.0/8, ::1/128)" },
	{ value: "::1", detail: "may not be in the loopback range (127.0.0.0/8, ::1/128)" },
	{ value: "::ffff:127.0.0.1", detail: "may not be in the loopback range (127.0.0.0/8, ::1/128)" },
	{ value: "169.254.1.1", detail: "may not be in the link-local range (169.254.0.0/16, fe80::/10)" },
	{ value: "febf::1", detail: "may not be in the link-local range (169.254.0.0/16, fe80::/10)" },
	{ value: "224.0.0.5", detail: "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)" },
	{ value: "ff02::1", detail: "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)" },
	{ value: "x", detail: "must be a valid IP address" },
])("validateEndpointIP() of $value: $detail", ({ value, detail }) => {
	expect(errorTexts(validateEndpointIP("ip", value))).toEqual(
		detail === undefined ? [] : [`ip: Invalid value: "${value}": ${detail}`],
	);
});

describe("warnings", () => {
	test("name the form to use", () => {
		expect(ipWarnings("p", "10.1.2.3")).toEqual([]);
		expect(ipWarnings("p", "not an address")).toEqual([]);
		expect(ipWarnings("p", "010.1.2.3")).toEqual(['p: non-standard IP address "010.1.2.3" is invalid: use "10.1.2.3"']);
		expect(ipWarnings("p", "FE80::1")).toEqual([
			'p: IPv6 address "FE80::1" should be in RFC 5952 canonical format ("fe80::1")',
		]);
		expect(cidrWarnings("p", "10.0.0.1/8")).toEqual([
			'p: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)',
		]);
		expect(cidrWarnings("p", "FD00::/8")).toEqual([
			'p: IPv6 CIDR value "FD00::/8" should be in RFC 5952 canonical format ("fd00::/8")',
		]);
		expect(cidrWarnings("p", "010.0.0.0/8")).toEqual([
			'p: non-standard CIDR value "010.0.0.0/8" is invalid: use "10.0.0.0/8"',
		]);
	});
});
