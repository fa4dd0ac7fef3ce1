/** The examples, the documents' programs and the examples in docstrings run as they stand, by the package's name. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { transformWithOxc } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { codeBlocks } from "../house/documents.ts";
import { type Finished, finished, PROGRAM } from "./plane.ts";

const SCENARIOS = "examples/scenarios";
/** Inside the package, which finds itself by its name there. */
const FOLDER = path.resolve(".tsbuild/docs");

beforeAll(() => {
	rmSync(FOLDER, { recursive: true, force: true });
	mkdirSync(FOLDER, { recursive: true });
});
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

function node(...args: readonly string[]): Promise<Finished> {
	// What tells Node's runner that it runs inside of another one would change what it prints.
	const { NODE_TEST_CONTEXT: _, VITEST: __, ...env } = process.env;
	return finished(process.execPath, args, { env });
}

function expectGood({ status, stdout, stderr }: Finished): void {
	expect({ status, output: status === 0 ? "" : stdout + stderr }).toEqual({ status: 0, output: "" });
}

describe("examples", () => {
	test.each(readdirSync(SCENARIOS))("scenarios/%s passes", async (file) => {
		const run = await node(PROGRAM, "scenario", path.join(SCENARIOS, file));
		expectGood(run);
		expect(run.stdout.trimEnd().split("\n").at(-1)).toBe("1 passed, 0 failed, 0 pending");
	});

	test("own-controller passes its tests under node --test", async () => {
		const run = await node("--test", "examples/own-controller/own-controller.node-test.mjs");
		expectGood(run);
		expect(run.stdout).toMatch(/# pass 4\n# fail 0/);
	});
});

/** Writes the program and runs it, under the test framework that it imports. */
async function ran(name: string, code: string): Promise<Finished> {
	const { code: plain } = await transformWithOxc(code, `${name}.ts`);
	const folder = path.join(FOLDER, name);
	mkdirSync(folder);
	if (code.includes('from "vitest"')) {
		writeFileSync(path.join(folder, "vitest.config.mjs"), "export default {};\n");
		writeFileSync(path.join(folder, "it.test.mjs"), plain);
		return node("node_modules/vitest/vitest.mjs", "run", "--root", folder);
	}
	const file = path.join(folder, "it.mjs");
	writeFileSync(file, plain);
	return code.includes('from "node:test"') ? node("--test", file) : node(file);
}

const programs = codeBlocks().filter(({ info }) => info === "ts run");

test.each(programs)("$file:$line runs", async ({ file, line, code }) => {
	expectGood(await ran(`${path.basename(file, ".md")}-${line}`, code));
});

/** Each `@example` of what `sliceplane/testing` exports, by the file that it stands in. */
function docstringExamples(): readonly { readonly file: string; readonly line: number; readonly code: string }[] {
	const door = readFileSync("src/testing/testing.ts", "utf8");
	const files = [...door.matchAll(/from "(\.[^"]+)"/g)].map(([, from = ""]) => path.join("src/testing", from));
	return [...new Set(files)].flatMap((file) => {
		const source = readFileSync(file, "utf8");
		return [...source.matchAll(/^ \* @example\n((?: \*.*\n)+?) \*\/$/gm)].map((match) => {
			const code = (match[1] ?? "").replaceAll(/^ \*( {5})?/gm, "");
			return { file, line: source.slice(0, match.index).split("\n").length, code };
		});
	});
}

describe("examples in docstrings", () => {
	const examples = docstringExamples();

	test.each(examples)("$file:$line runs", async ({ file, line, code }) => {
		const names = Object.keys(await import("../../src/testing/testing.ts"));
		const used = names.filter((name) => new RegExp(`\\b${name}\\b`).test(code));
		const imports = `import assert from "node:assert/strict";\nimport { ${used.join(", ")} } from "sliceplane/testing";\n`;
		expectGood(await ran(`${path.basename(file, ".ts")}-${line}`, imports + code));
	});

	test("are there for each function and class that the door is about", () => {
		const files = examples.map(({ file }) => path.basename(file, ".ts"));
		const wanted = ["run-scenario", "scenario-file", "text", "test-plane", "faulty-client", "virtual-clock", "seeded"];
		expect([...new Set(files)].sort()).toEqual([...wanted, "builders"].sort());
	});
});
