#!/usr/bin/env node
/** Writes the pages of docs/codes, and the table of codes in docs/explain.md, from the catalogue: `npm run codes`. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { codePages, codeRows } from "../dist/testing/code-pages.js";

rmSync("docs/codes", { recursive: true, force: true });
mkdirSync("docs/codes");
for (const [file, text] of await codePages()) writeFileSync(`docs/codes/${file}`, text);
const explain = readFileSync("docs/explain.md", "utf8").split("\n");
const isRow = (line) => /^\| \[?SP\d/.test(line);
const first = explain.findIndex(isRow);
writeFileSync(
	"docs/explain.md",
	[...explain.slice(0, first), ...codeRows(), ...explain.slice(first).filter((line) => !isRow(line))].join("\n"),
);
