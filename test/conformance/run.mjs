#!/usr/bin/env node
/**
 * Asks an API server every pair of `pairs/`, and closes with the line `N passed, N failed`.
 *
 *     node test/conformance/run.mjs                       a plane of its own
 *     node test/conformance/run.mjs --kubeconfig FILE     any server
 *     node test/conformance/run.mjs --only watch          scenarios whose file or name has the word
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { failureText, loadScenarios, playScenario } from "./scenarios.mjs";
import { Server } from "./server.mjs";

const PROGRAM = path.join(path.dirname(fileURLToPath(import.meta.url)), "../../bin/sliceplane");

/** Scenarios: a watch waits for a second, and others go on meanwhile. */
const AT_ONCE = 4;

/** Starts a plane; resolves when it is ready with its kubeconfig and how to end it. */
async function ownPlane() {
	const folder = mkdtempSync(path.join(tmpdir(), "sliceplane-conformance-"));
	const kubeconfig = path.join(folder, "kubeconfig");
	const args = [PROGRAM, "up", "--listen", "127.0.0.1:0", "--kubeconfig", kubeconfig];
	const plane = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
	await new Promise((resolve, reject) => {
		plane.stdout.on("data", (chunk) => {
			if (String(chunk).includes("Sliceplane is ready")) resolve();
		});
		plane.once("exit", (status) => reject(new Error(`the plane ended with ${status}`)));
	});
	const stop = () => {
		plane.kill();
		rmSync(folder, { recursive: true, force: true });
	};
	return { kubeconfig, stop };
}

async function play(server, only) {
	const scenarios = loadScenarios().filter(({ file, name }) => file.includes(only) || name.includes(only));
	let passed = 0;
	let failed = 0;
	const waiting = scenarios.values();
	// The workers share one iterator, so each scenario is played once.
	const work = async () => {
		for (const scenario of waiting) {
			const result = await playScenario(server, scenario);
			passed += result.passed;
			failed += result.failures.length;
			for (const failure of result.failures) process.stdout.write(`${failureText(failure)}\n\n`);
		}
	};
	await Promise.all(Array.from({ length: AT_ONCE }, work));
	process.stdout.write(`${passed} passed, ${failed} failed\n`);
	return failed === 0 && passed > 0;
}

const { values } = parseArgs({ options: { kubeconfig: { type: "string" }, only: { type: "string" } } });
const target = values.kubeconfig === undefined ? await ownPlane() : { kubeconfig: values.kubeconfig, stop: () => {} };
const server = new Server(target.kubeconfig);
try {
	if (!(await play(server, values.only ?? ""))) process.exitCode = 1;
} finally {
	server.close();
	target.stop();
}
