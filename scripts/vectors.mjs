#!/usr/bin/env node
/**
 * Runs vectors, which are inputs with the writes that upstream's controllers made for them, over this
 * project's controllers, and closes with the line `N passed, N failed`.
 *
 *     node scripts/vectors.mjs [DIR...]      default: testdata/vectors
 *
 * A failure is shown with its file and what differs: `-` is missing, `+` is too much. Exit status 1 if there is one.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const DETAILS_MAX = 30;

const build = spawnSync("npm", ["run", "--silent", "build"], { cwd: ROOT, stdio: "inherit" });
if (build.status !== 0) process.exit(build.status ?? 1);
const { readVector, vectorFiles } = await import("../dist/testing/vector.js");
const { runVector } = await import("../dist/testing/run-vector.js");
const { vectorDifferences } = await import("../dist/testing/vector-differences.js");

async function problems(file) {
	try {
		const vector = readVector(file);
		return vectorDifferences(vector, await runVector(vector));
	} catch (error) {
		return [`could not be run: ${error instanceof Error ? error.message : error}`];
	}
}

// npm changes the folder before it runs a script.
const from = process.env.INIT_CWD ?? process.cwd();
const asked = process.argv.slice(2).map((folder) => path.resolve(from, folder));
const folders = asked.length > 0 ? asked : [path.join(ROOT, "testdata/vectors")];
const missing = folders.filter((folder) => !existsSync(folder));
if (missing.length > 0) {
	console.error(`${missing.join(", ")}: no such folder`);
	process.exit(1);
}
let [passed, failed] = [0, 0];
for (const file of folders.flatMap((folder) => vectorFiles(folder))) {
	const differences = await problems(file);
	if (differences.length === 0) {
		passed++;
		continue;
	}
	failed++;
	console.log(`FAILED ${file}`);
	for (const line of differences.slice(0, DETAILS_MAX)) console.log(`  ${line}`);
	if (differences.length > DETAILS_MAX) console.log(`  and ${differences.length - DETAILS_MAX} more lines`);
}
if (passed + failed === 0) {
	console.error(`${folders.join(", ")}: no vectors`);
	failed = 1;
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
