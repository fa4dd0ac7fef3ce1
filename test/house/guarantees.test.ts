import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

/** `| promise | source | [file](../path): "name" |`, with or without a source. */
const ROW = /^\| .+ \| \[[^\]]+\]\(([^)]+)\): "(.+)" \|$/gm;

test.each([
	["docs/guarantees.md", "| promise"],
	["SECURITY.md", "| line"],
])("every promise in %s names a test that is there", (document, head) => {
	const text = readFileSync(document, "utf8");
	const rows = [...text.matchAll(ROW)].map(([, link = "", name = ""]) => ({
		file: path.join(path.dirname(document), link),
		name,
	}));
	const missing = rows.filter(
		({ file, name }) => !existsSync(file) || !readFileSync(file, "utf8").includes(`"${name}`),
	);
	expect(missing).toEqual([]);
	const lines = text.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith(head));
	expect(rows).toHaveLength(lines.length);
	expect(rows.length).toBeGreaterThan(10);
});
