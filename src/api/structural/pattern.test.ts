import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compilePattern } from "./pattern.ts";

function matches(pattern: string, text: string): boolean | undefined | string {
	const compiled = compilePattern(pattern);
	return compiled.kind === "wrong" ? compiled.why : compiled.pattern.matches(text);
}

describe("a pattern", () => {
	test.each([
		["^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "my-name", true],
		["^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "my-", false],
		["b", "abc", true],
		["^(\\d+(\\s|-)){2}$", "12 3-", true],
		["^a{2,3}$", "aaaa", false],
		["^a{2,}$", "aaaa", true],
		["a{,2}", "a{,2}", true],
		["^[^/]+$", "a/b", false],
		["^[\\w.-]+@[[:alpha:]]+$", "a.b@c", true],
		["(?i)^abc$", "aBC", true],
		["^(?:a|bc)*?$", "abca", true],
		["^.$", "\u{1F600}", true],
		["^\\p{L}+$", "\u00e4b", true],
		["^[^\\D]$", "5", true],
		["^[^\\D]$", "a", false],
		["\\bfoo\\b", "a foo b", true],
		["^(a?)*$", "aaa", true],
		["^a.b$", "a\nb", false],
		["(?s)^a.b$", "a\nb", true],
		["(?m)^b$", "a\nb", true],
		["\\x41\\x{42}\\.", "AB.", true],
		["^[]a]$", "]", true],
		["^\\Qa.b\\E$", "a.b", true],
		["", "anything", true],
	])("%j on %j is %s", (pattern, text, is) => {
		expect(matches(pattern, text)).toBe(is);
	});

	test.each([
		["(?=a)", "error parsing regexp: invalid or unsupported Perl syntax: `(?=`"],
		["(a)\\1", "error parsing regexp: invalid escape sequence: `\\1`"],
		["a**", "error parsing regexp: invalid nested repetition operator: `**`"],
		["*a", "error parsing regexp: missing argument to repetition operator: `*`"],
		["[b-a]", "error parsing regexp: invalid character class range: `b-a`"],
		["(a", "error parsing regexp: missing closing ): `(a`"],
		["a)", "error parsing regexp: unexpected ): `a)`"],
		["[a", "error parsing regexp: missing closing ]: `[a`"],
		["a{1001}", "error parsing regexp: invalid repeat count: `{1001}`"],
		["((a{1000}){1000}){1000}", "error parsing regexp: expression too large"],
		["(".repeat(5000), "error parsing regexp: expression nests too deeply"],
	])("%j is refused as Go refuses it", (pattern, why) => {
		expect(matches(pattern, "")).toBe(why);
	});

	test.each([
		["(a+)+$", `${"a".repeat(50_000)}b`],
		["^(a|a)*$", `${"a".repeat(50_000)}b`],
		["(.*)*x", "y".repeat(50_000)],
		["^(([a-z])+.)+[A-Z]([a-z])+$", "a".repeat(50_000)],
	])("%j takes no more than linear time", (pattern, text) => {
		const startedMs = performance.now();
		expect(matches(pattern, text)).not.toBe(true);
		expect(performance.now() - startedMs).toBeLessThan(2_000);
	});

	test("says so when the text is too long for the pattern", () => {
		expect(matches("^(a{0,400}b?){5}$", "a".repeat(100_000))).toBeUndefined();
	});

	test("agrees with RegExp on what both know", () => {
		const atom = fc.constantFrom(
			"a",
			"b",
			".",
			"[ab]",
			"[^a]",
			"\\d",
			"\\w",
			"(a|b)",
			"(ab)?",
			"a*",
			"b+",
			"c{1,2}",
			"^",
			"$",
		);
		const pattern = fc.array(atom, { maxLength: 5 }).map((parts) => parts.join(""));
		const text = fc.string({ unit: fc.constantFrom("a", "b", "c", "1"), maxLength: 6 });
		fc.assert(
			fc.property(pattern, text, (source, subject) => {
				expect([source, subject, matches(source, subject)]).toEqual([
					source,
					subject,
					new RegExp(source, "u").test(subject),
				]);
			}),
			{ numRuns: 2_000 },
		);
	});
});
