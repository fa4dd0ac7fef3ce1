import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { CODES } from "../../src/explain/codes.ts";
import { codePages, codeRows, explainedText } from "../../src/testing/code-pages.ts";
import { EXPLAINED_WORLDS } from "../../src/testing/explained-worlds.ts";
import { codeBlocks } from "./documents.ts";

const MAKE_THEM = "run npm run build && npm run codes";

test("docs/explain.md has a row for every code, as the catalogue has it", () => {
	const rows = readFileSync("docs/explain.md", "utf8")
		.split("\n")
		.filter((line) => line.startsWith("| [SP"));
	expect(rows, MAKE_THEM).toEqual(codeRows());
});

test("docs/codes has a page for every code, as it is made of the catalogue, and no other", async () => {
	const pages = await codePages();
	expect(readdirSync("docs/codes").sort()).toEqual([...pages.keys()].sort());
	for (const [file, text] of pages) expect(readFileSync(`docs/codes/${file}`, "utf8"), MAKE_THEM).toBe(text);
});

/** The last text of a page is what the program prints of its input. */
const examples = codeBlocks().filter(({ info }) => info === "yaml explained");

test("most codes have an example that runs", () => {
	expect(examples.length).toBeGreaterThanOrEqual(CODES.length - 2);
});

test.each(examples)("$file: its example prints what it says", async ({ file, code }) => {
	const output = codeBlocks().findLast((block) => block.file === file && block.info === "text")?.code;
	const name = CODES.find((each) => file.endsWith(`${each.code}.md`))?.name ?? "";
	expect(await explainedText(code, EXPLAINED_WORLDS[name]?.from)).toBe(output);
});

test("the first example of docs/explain.md prints what it says", async () => {
	const [command, output] = codeBlocks().filter(({ file }) => file === "docs/explain.md");
	const input = /<<'EOF'\n([\s\S]*?)\nEOF/.exec(command?.code ?? "")?.[1] ?? "";
	expect(await explainedText(input, undefined)).toBe(output?.code);
});

test("codes and names are unique", () => {
	expect(new Set(CODES.map(({ code }) => code)).size).toBe(CODES.length);
	expect(new Set(CODES.map(({ name }) => name)).size).toBe(CODES.length);
});
