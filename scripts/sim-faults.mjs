#!/usr/bin/env node
/**
 * Puts small faults into the whole plane, one at a time, in a copy of the sources, and runs the simulator until a seed
 * finds it: each fault must be found. Closes with the line `N found, N survived`; exit status 1 if one survived.
 *
 *     node scripts/sim-faults.mjs [WORD]     only those whose name or file has the word
 *
 * Faults are data, in test/faults/sim-faults.json: a file, an exact text that it has once, and what stands there instead.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const SEEDS_MAX = 200;
/** A fault may also make the plane run in circles without an end. */
const TIMEOUT_MS = 240_000;
const SEARCH = "src/testing/simulator/search.test.ts";
const SEARCH_TEXT = `
import { test } from "vitest";
import { simulate } from "./simulation.ts";

test("search", { timeout: ${TIMEOUT_MS} }, async () => {
	for (let seed = 1; seed <= ${SEEDS_MAX}; seed++) {
		process.stderr.write("<seed " + seed + ">");
		const [first] = (await simulate({ seed })).violations;
		if (first !== undefined) throw new Error("<broke " + first.promise + ">");
	}
});
`;

const require = createRequire(import.meta.url);
const vitest = path.join(path.dirname(require.resolve("vitest/package.json")), "vitest.mjs");
const [word = ""] = process.argv.slice(2);
const every = JSON.parse(readFileSync(path.join(ROOT, "test/faults/sim-faults.json"), "utf8"));
const faults = every.filter(({ name, file }) => `${name} ${file}`.includes(word));
const copy = mkdtempSync(path.join(tmpdir(), "sim-faults-"));

/** The source with the fault. */
function faulty({ name, file, text, replacement }) {
	const source = readFileSync(path.join(ROOT, file), "utf8");
	if (source.split(text).length !== 2) throw new Error(`${name}: ${file} must have this text once: ${text}`);
	return source.replace(text, () => replacement);
}

/** How the fault was found; undefined when no seed did. */
function found() {
	const args = [vitest, "run", "--project", "unit", "--reporter=dot", SEARCH];
	const options = { cwd: copy, encoding: "utf8", timeout: TIMEOUT_MS, killSignal: "SIGKILL" };
	const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
	if (status === 0) return undefined;
	const output = `${stdout}${stderr}`;
	const seed = [...output.matchAll(/<seed (\d+)>/g)].at(-1)?.[1];
	if (seed === undefined) throw new Error(`the search did not begin:\n${output}`);
	const broken = /<broke (\w+)>/.exec(output)?.[1];
	return `seed ${seed}, ${broken === undefined ? "runs in circles or fails" : `broke ${broken}`}`;
}

try {
	for (const name of ["src", "testdata", "package.json", "vitest.config.ts", "vitest.setup.ts"]) {
		cpSync(path.join(ROOT, name), path.join(copy, name), { recursive: true });
	}
	symlinkSync(path.join(ROOT, "node_modules"), path.join(copy, "node_modules"));
	writeFileSync(path.join(copy, SEARCH), SEARCH_TEXT);
	let survived = 0;
	for (const fault of faults) {
		const file = path.join(copy, fault.file);
		writeFileSync(file, faulty(fault));
		const how = found();
		if (how === undefined) survived++;
		console.log(
			`${how === undefined ? "NOT FOUND" : "found    "} ${fault.name} (${fault.file})${how ? `: ${how}` : ""}`,
		);
		cpSync(path.join(ROOT, fault.file), file);
	}
	console.log(`${faults.length - survived} found, ${survived} survived`);
	process.exitCode = survived === 0 ? 0 : 1;
} finally {
	rmSync(copy, { recursive: true, force: true });
}
