#!/usr/bin/env node
/**
 * Runs the whole plane on virtual time under random users and faults, and closes with the line `N passed, N failed`.
 *
 *     node scripts/sim.mjs [--seed N] [--steps K] [--seeds M]      default: seed 1, 500 steps, 1 seed
 *
 * A seed is told in one line on stderr. One that fails shows which promise broke, the end of its history, and the
 * command that runs it again. Exit status 1 if there is one.
 */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const LINES_SHOWN = 60;

const { values } = parseArgs({
	options: {
		seed: { type: "string", default: "1" },
		steps: { type: "string", default: "500" },
		seeds: { type: "string", default: "1" },
	},
});
const [first, steps, count] = [values.seed, values.steps, values.seeds].map(Number);
if (![first, steps, count].every(Number.isSafeInteger) || steps < 1 || count < 1) {
	console.error("--seed, --steps and --seeds must be whole numbers, the last two at least 1");
	process.exit(2);
}
const build = spawnSync("npm", ["run", "--silent", "build"], { cwd: ROOT, stdio: "inherit" });
if (build.status !== 0) process.exit(build.status ?? 1);
const { simulateSeeds } = await import("../dist/testing/simulator/simulate-seeds.js");

let [passed, failed] = [0, 0];
let startedMs = performance.now();
for await (const { seed, violations, hash, faults, commits, history } of simulateSeeds({ first, count, steps })) {
	const took = `${(performance.now() - startedMs).toFixed(0)} ms`;
	startedMs = performance.now();
	const outcome = violations.length === 0 ? "passed" : "FAILED";
	console.error(`seed ${seed}: ${outcome}, ${commits} writes, ${faults} faults, history ${hash.slice(0, 16)}, ${took}`);
	if (violations.length === 0) {
		passed++;
		continue;
	}
	failed++;
	console.log(`FAILED seed ${seed}`);
	for (const { promise, detail, atMs } of violations) console.log(`  +${atMs} broke ${promise}: ${detail}`);
	for (const line of history.slice(-LINES_SHOWN)) console.log(`    ${line}`);
	console.log(`  again: npm run sim -- --seed ${seed} --steps ${steps}`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
