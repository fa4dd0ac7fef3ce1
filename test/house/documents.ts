/** The project's documents, and the code blocks in them. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

export interface CodeBlock {
	readonly file: string;
	/** Of the opening fence, from 1. */
	readonly line: number;
	/** The words behind the fence: `sh`, `sh in-clone`, `sh in-plane`, `yaml`, `yaml pairs`, `yaml explained`, `yaml scenario`, `ts run`, `text`. */
	readonly info: string;
	readonly code: string;
}

export function documents(): readonly string[] {
	const top = readdirSync(".").filter((file) => file.endsWith(".md"));
	const docs = readdirSync("docs", { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".md"));
	return [...top, ...docs.map((file) => path.join("docs", file))];
}

export function codeBlocks(): readonly CodeBlock[] {
	return documents().flatMap((file) => blocksOf(file, readFileSync(file, "utf8")));
}

function blocksOf(file: string, text: string): CodeBlock[] {
	return [...text.matchAll(/^( *)```(.*)\n([\s\S]*?)^ *```$/gm)].map((match) => {
		const [, indent = "", info = "", code = ""] = match;
		const unindented = code.replaceAll(new RegExp(`^${indent}`, "gm"), "");
		return { file, line: text.slice(0, match.index).split("\n").length, info, code: unindented };
	});
}

/**
 * The cells of a Markdown table's rows whose first cell is in backquotes.
 *
 * @param section Its heading, of the second level. Default: the whole file.
 */
export function quotedRows(file: string, section?: string): readonly (readonly string[])[] {
	const text = readFileSync(file, "utf8");
	const sections = text.split(/^## /m).filter((part) => section === undefined || part.startsWith(`${section}\n`));
	return sections
		.join("")
		.split("\n")
		.filter((line) => /^\| `/.test(line))
		.map((line) => line.split("|").slice(1, -1))
		.map((cells) => cells.map((cell) => cell.trim()));
}
