/**
 * Golden files: a text of commands and of what they printed.
 *
 *     # Comments explain the next step.
 *     command word word
 *     ----
 *     output, up to the next blank line
 *
 * `expect(await replayed(…)).toMatchFileSnapshot(file)` compares; `vitest -u` writes the outputs
 * anew, and the difference is then reviewed like code.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

export interface GoldenFile {
	readonly name: string;
	readonly file: string;
	readonly text: string;
}

export function goldenFiles(folder: string): readonly GoldenFile[] {
	return readdirSync(folder)
		.filter((name) => name.endsWith(".txt"))
		.sort()
		.map((name) => ({ name, file: path.resolve(folder, name), text: readFileSync(path.join(folder, name), "utf8") }));
}

/** Runs every command and returns the file as it should read. */
export async function replayed(text: string, run: (command: string) => string | Promise<string>): Promise<string> {
	const blocks: string[] = [];
	for (const block of text.trim().split(/\n\n+/)) {
		const lines = block.split("\n");
		const rule = lines.indexOf("----");
		const head = rule < 0 ? lines : lines.slice(0, rule);
		const command = head.filter((line) => !line.startsWith("#")).join("\n");
		if (command === "") blocks.push(head.join("\n"));
		else blocks.push([...head, "----", (await run(command)).trimEnd() || "ok"].join("\n"));
	}
	return `${blocks.join("\n\n")}\n`;
}
