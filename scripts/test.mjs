#!/usr/bin/env node
/**
 * Runs the tests and closes with the line `N passed, N failed[, N skipped]`.
 *
 *     node scripts/test.mjs               builds, then everything that Node and npm suffice for
 *     node scripts/test.mjs --long        the long tests: real waits, seeds, load
 *
 * Other arguments go to the test runner. What a machine lacks is skipped, and its reason printed.
 */
import { spawn } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";

const REPORT = path.resolve(".tsbuild/test-report.json");
const require = createRequire(import.meta.url);
const args = process.argv.slice(2);
const isLong = args.includes("--long");
const rest = args.filter((arg) => arg !== "--long");

function run(command, commandArgs) {
	return new Promise((resolve) => {
		const child = spawn(command, commandArgs, { stdio: "inherit" });
		child.once("error", () => resolve(127));
		child.once("exit", (status) => resolve(status ?? 1));
	});
}

const built = await run("npm", ["run", "--silent", "build"]);
if (built !== 0) process.exit(built);
await rm(REPORT, { force: true });
const vitest = path.join(path.dirname(require.resolve("vitest/package.json")), "vitest.mjs");
const projects = isLong ? ["--project", "long"] : ["--project", "unit", "--project", "e2e", "--project", "sim"];
const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${REPORT}`];
const status = await run(process.execPath, [vitest, "run", ...projects, ...reporters, ...rest]);
const report = JSON.parse(await readFile(REPORT, "utf8").catch(() => "{}"));
const { numPassedTests = 0, numFailedTests = 0, numPendingTests = 0, numTodoTests = 0 } = report;
// A file that cannot be loaded fails without a failed test.
const failed = status !== 0 && numFailedTests === 0 ? 1 : numFailedTests;
const skipped = numPendingTests + numTodoTests;
process.stdout.write(`${numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`);
process.exit(status);
