#!/usr/bin/env node
/**
 * Measures the built program and prints JSON on stdout; progress goes to stderr.
 *
 *     npm run bench -- --runs 10 --idle-seconds 60
 *
 * Times of a shared machine drift, so each figure stands beside a peer of the same run: an empty Node process.
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { cpus, tmpdir, totalmem } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { kubectlPath } from "../scripts/fetch-kubectl.mjs";
import { proxyBench } from "./proxy.mjs";

const { values } = parseArgs({
	options: { runs: { type: "string", default: "10" }, "idle-seconds": { type: "string", default: "60" } },
});
const PROGRAM = path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), "../bin/sliceplane");
const folder = mkdtempSync(path.join(tmpdir(), "sliceplane-bench-"));
const kubectl = await kubectlPath(35);

function dist(samples) {
	const sorted = [...samples].sort((a, b) => a - b);
	const at = (share) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] * 10) / 10;
	return { runs: sorted.length, min: at(0), median: at(0.5), max: at(1) };
}

/** A plane, ready: from its spawn to the end of a first `kubectl get --raw /version`. */
async function start(cache) {
	const kubeconfig = path.join(folder, "kubeconfig");
	const startedMs = performance.now();
	const args = [PROGRAM, "up", "--listen", "127.0.0.1:0", "--kubeconfig", kubeconfig];
	const child = spawn(process.execPath, args, {
		env: { ...process.env, XDG_CACHE_HOME: cache },
		stdio: ["ignore", "pipe", "ignore"],
	});
	await new Promise((resolve) => child.stdout.once("data", resolve));
	const readyMs = performance.now() - startedMs;
	execFileSync(kubectl, ["--kubeconfig", kubeconfig, "get", "--raw", "/version"], { env: { HOME: folder } });
	return { child, readyMs, answeredMs: performance.now() - startedMs };
}

function stop(child) {
	return new Promise((resolve) => {
		child.once("exit", resolve);
		child.kill("SIGTERM");
	});
}

/** Resident memory of a process and everything it started, in MiB. */
function residentMiB(pid) {
	const children = readdirSync(`/proc/${pid}/task`)
		.flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").trim().split(" "))
		.filter((child) => child !== "");
	const own = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
	return children.reduce((sum, child) => sum + residentMiB(child), own);
}

const runs = Number(values.runs);
const cache = path.join(folder, "cache");
process.stderr.write("start without certificates\n");
const first = await start(cache);
await stop(first.child);
const started = [];
const empty = [];
for (let run = 1; run <= runs; run++) {
	process.stderr.write(`start ${run} of ${runs}\n`);
	const plane = await start(cache);
	await stop(plane.child);
	started.push(plane);
	const beforeMs = performance.now();
	execFileSync(process.execPath, ["-e", "0"]);
	empty.push(performance.now() - beforeMs);
}
process.stderr.write(`idle for ${values["idle-seconds"]} s\n`);
const idle = await start(cache);
await new Promise((resolve) => setTimeout(resolve, Number(values["idle-seconds"]) * 1000));
const idleMiB = residentMiB(idle.child.pid);
await stop(idle.child);
rmSync(folder, { recursive: true, force: true });

const answered = dist(started.map(({ answeredMs }) => answeredMs));
const emptyNode = dist(empty);
const result = {
	machine: {
		cpus: cpus().length,
		model: cpus()[0]?.model,
		memoryGiB: Math.round(totalmem() / 2 ** 30),
		node: process.version,
	},
	start: {
		firstWithoutCertificatesMs: Math.round(first.answeredMs),
		readyMs: dist(started.map(({ readyMs }) => readyMs)),
		spawnToVersionMs: answered,
		emptyNodeMs: emptyNode,
		ratioToEmptyNode: Math.round((answered.median / emptyNode.median) * 10) / 10,
	},
	proxy: await proxyBench({ seconds: 3, rounds: 3 }),
	idle: { seconds: Number(values["idle-seconds"]), residentMiB: Math.round(idleMiB) },
};
process.stdout.write(`${JSON.stringify(result, undefined, 2)}\n`);
