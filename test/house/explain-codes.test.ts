import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { CODES } from "../../src/explain/codes.ts";

test("docs/explain.md has a row for every code, as the catalogue has it", () => {
	const rows = readFileSync(new URL("../../docs/explain.md", import.meta.url), "utf8")
		.split("\n")
		.filter((line) => line.startsWith("| SP"));
	expect(rows).toEqual(
		CODES.map(({ code, name, severity, meaning }) => `| ${code} | \`${name}\` | ${severity} | ${meaning} |`),
	);
});

test("codes and names are unique", () => {
	expect(new Set(CODES.map(({ code }) => code)).size).toBe(CODES.length);
	expect(new Set(CODES.map(({ name }) => name)).size).toBe(CODES.length);
});
