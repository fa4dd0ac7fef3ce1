#!/usr/bin/env node
/**
 * Puts small faults into the endpoint planners, one at a time, in a copy of the sources, and runs the planners'
 * tests: each fault must be caught by one. Closes with the line `N caught, N survived`; exit status 1 if one survived.
 *
 *     node scripts/faults.mjs [WORD]         only those whose name or file has the word
 *
 * Faults are data, in test/faults/: a file, an exact text that it has once, and what stands there instead; where one
 * file of tests is meant to catch it, that alone is named and run.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const VECTORS = "src/controllers/vectors.test.ts";
const INDEXES = "src/plan/endpointslice/slice-index.test.ts";

const require = createRequire(import.meta.url);
const vitest = path.join(path.dirname(require.resolve("vitest/package.json")), "vitest.mjs");

const [word = ""] = process.argv.slice(2);
const every = JSON.parse(readFileSync(path.join(ROOT, "test/faults/planner-faults.json"), "utf8"));
const faults = every.filter(({ name, file }) => `${name} ${file}`.includes(word));
const copy = mkdtempSync(path.join(tmpdir(), "faults-"));

/** The tests that are named, or those of the planner that the file belongs to. */
function testsOf({ file, tests }) {
	if (tests !== undefined) return tests;
	const room = path.dirname(file);
	return [room, VECTORS, ...(room.startsWith("src/plan/endpoint") ? [INDEXES] : [])];
}

function testsPass(tests) {
	const args = [vitest, "run", "--project", "unit", "--bail", "1", "--reporter=dot", ...tests];
	const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: copy, encoding: "utf8" });
	return { passed: status === 0, output: `${stdout}${stderr}` };
}

/** The source with the fault. */
function faulty({ name, file, text, replacement }) {
	const source = readFileSync(path.join(ROOT, file), "utf8");
	if (source.split(text).length !== 2) throw new Error(`${name}: ${file} must have this text once: ${text}`);
	return source.replace(text, () => replacement);
}

try {
	for (const name of ["src", "testdata", "package.json", "vitest.config.ts", "vitest.setup.ts"]) {
		cpSync(path.join(ROOT, name), path.join(copy, name), { recursive: true });
	}
	symlinkSync(path.join(ROOT, "node_modules"), path.join(copy, "node_modules"));
	const { passed, output } = testsPass([...new Set(faults.flatMap(testsOf))]);
	if (!passed) throw new Error(`the tests must pass before faults are put in:\n${output}`);
	let survived = 0;
	for (const fault of faults) {
		const file = path.join(copy, fault.file);
		writeFileSync(file, faulty(fault));
		const isCaught = !testsPass(testsOf(fault)).passed;
		if (!isCaught) survived++;
		console.log(`${isCaught ? "caught    " : "NOT CAUGHT"} ${fault.name} (${fault.file})`);
		cpSync(path.join(ROOT, fault.file), file);
	}
	console.log(`${faults.length - survived} caught, ${survived} survived`);
	process.exitCode = survived === 0 ? 0 : 1;
} finally {
	rmSync(copy, { recursive: true, force: true });
}
