import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** `| promise | source | [file](../path): "name" |` */
const ROW = /^\| .+ \| .+ \| \[[^\]]+\]\(\.\.\/([^)]+)\): "(.+)" \|$/gm;

test("every promise in docs/guarantees.md names a test that is there", () => {
	const text = readFileSync("docs/guarantees.md", "utf8");
	const rows = [...text.matchAll(ROW)].map(([, file = "", name = ""]) => ({ file, name }));
	const missing = rows.filter(
		({ file, name }) => !existsSync(file) || !readFileSync(file, "utf8").includes(`"${name}`),
	);
	expect(missing).toEqual([]);
	const lines = text.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| promise"));
	expect(rows).toHaveLength(lines.length);
});
