#!/usr/bin/env node
/**
 * Puts small faults into the whole plane, one at a time, in a copy of the sources, and runs the simulator until a seed
 * finds it: each fault must be found, and only a promise that broke counts. Closes with the line `N found, N not found`;
 * exit status 1 if one was not.
 *
 *     node scripts/sim-faults.mjs [WORD]     only those whose name or file has the word
 *
 * Faults are data, in test/faults/sim-faults.json: a file, an exact text that it has once, and what stands there instead.
 */
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const SEEDS_MAX = 200;
const STEPS = 500;
/** Of all seeds of a fault; one that makes the plane run in circles would take for ever. */
const TIMEOUT_MS = 600_000;
/** At once, each in a copy of its own. */
const JOBS = Math.min(2, availableParallelism());
const SEARCH = "src/testing/simulator/search.test.ts";
const SEARCH_TEXT = `
import { test } from "vitest";
import { simulateSeeds } from "./simulate-seeds.ts";

test("search", { timeout: ${TIMEOUT_MS} }, async () => {
	for await (const { seed, violations } of simulateSeeds({ first: 1, count: ${SEEDS_MAX}, steps: ${STEPS} })) {
		const [first] = violations;
		if (first !== undefined) throw new Error("<seed " + seed + ", broke " + first.promise + ">");
	}
});
`;

const require = createRequire(import.meta.url);
const vitest = path.join(path.dirname(require.resolve("vitest/package.json")), "vitest.mjs");
const [word = ""] = process.argv.slice(2);
const every = JSON.parse(readFileSync(path.join(ROOT, "test/faults/sim-faults.json"), "utf8"));
const faults = every.filter(({ name, file }) => `${name} ${file}`.includes(word));

/** The source with the fault. */
function faulty({ name, file, text, replacement }) {
	const source = readFileSync(path.join(ROOT, file), "utf8");
	if (source.split(text).length !== 2) throw new Error(`${name}: ${file} must have this text once: ${text}`);
	return source.replace(text, () => replacement);
}

/** Status and output of the search in the copy; no status when its time was up. */
function searched(copy) {
	const args = [vitest, "run", "--project", "unit", "--reporter=dot", SEARCH];
	return new Promise((resolve) => {
		// The group also has the test runner's workers.
		const child = spawn(process.execPath, args, { cwd: copy, detached: true });
		const timer = setTimeout(() => process.kill(-child.pid, "SIGKILL"), TIMEOUT_MS);
		let output = "";
		for (const stream of [child.stdout, child.stderr])
			stream.setEncoding("utf8").on("data", (text) => (output += text));
		child.once("close", (status) => {
			clearTimeout(timer);
			resolve({ status, output });
		});
	});
}

/** Why the fault was not found, or where. */
async function search(copy) {
	const { status, output } = await searched(copy);
	const where = /<(seed \d+, broke \w+)>/.exec(output)?.[1];
	if (where !== undefined) return { isFound: true, text: where };
	if (status === 0) return { isFound: false, text: `${SEEDS_MAX} seeds broke nothing` };
	if (status === null || output.includes("Test timed out")) return { isFound: false, text: "timed out" };
	const error = /^\s*(?:\w*Error|AssertionError): .*$/m.exec(output)?.[0].trim();
	return { isFound: false, text: `the search failed: ${error ?? output.slice(-2000)}` };
}

function copyOfSources(directory) {
	for (const name of ["src", "testdata", "package.json", "vitest.config.ts", "vitest.setup.ts"]) {
		cpSync(path.join(ROOT, name), path.join(directory, name), { recursive: true });
	}
	symlinkSync(path.join(ROOT, "node_modules"), path.join(directory, "node_modules"));
	writeFileSync(path.join(directory, SEARCH), SEARCH_TEXT);
}

const sources = faults.map((fault) => ({ ...fault, source: faulty(fault) }));
const queue = sources.values();
let found = 0;

/** Takes faults until there are none. */
async function work() {
	const copy = mkdtempSync(path.join(tmpdir(), "sim-faults-"));
	try {
		copyOfSources(copy);
		for (const { name, file, source } of queue) {
			writeFileSync(path.join(copy, file), source);
			const { isFound, text } = await search(copy);
			if (isFound) found++;
			console.log(`${isFound ? "found" : "not found"}: ${text}: ${name} (${file})`);
			cpSync(path.join(ROOT, file), path.join(copy, file));
		}
	} finally {
		rmSync(copy, { recursive: true, force: true });
	}
}

await Promise.all(Array.from({ length: JOBS }, work));
console.log(`${found} found, ${faults.length - found} not found`);
process.exitCode = found === faults.length ? 0 : 1;
