/** What docs/scenarios.md says of scenario files is what the program does. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { runScenario, scenarioText } from "../../src/testing/testing.ts";
import { codeBlocks } from "./documents.ts";
import { documentedKeys, formatKeys } from "./scenario-keys.ts";

const blocks = codeBlocks().filter(({ info }) => info === "yaml scenario");

test.each(blocks)("$file:$line passes", async ({ file, line, code }) => {
	const result = await runScenario(code);
	expect(result.kind, scenarioText(`${file}:${line}`, result)).toBe("passed");
});

describe("tables of keys", () => {
	const documented = documentedKeys(readFileSync("docs/scenarios.md", "utf8"));

	test.each(Object.entries(formatKeys()))("%s have each key of the format, and no other", (part, keys) => {
		expect(documented[part]).toEqual([...keys].sort());
	});
});
