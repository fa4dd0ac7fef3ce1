/**
 * Times the requests of an honest client while another sends hostile ones, beside the same alone, and prints JSON.
 *
 *     node bench/hostile.mjs --count 1000 --rate 20 --without lists
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:https";
import { constants, setPriority, tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
	options: {
		count: { type: "string", default: "1000" },
		/** Hostile requests a second. */
		rate: { type: "string", default: "20" },
		seed: { type: "string", default: "1" },
		/** A kind that is left out: `lists` are long, but right. */
		without: { type: "string", default: "" },
		/** Honest requests a second. */
		honest: { type: "string", default: "100" },
	},
});

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
const SECONDS_ALONE = 20;
const folder = mkdtempSync(path.join(tmpdir(), "sliceplane-hostile-"));
const kubeconfig = path.join(folder, "kubeconfig");
const args = [
	path.join(root, "bin/sliceplane"),
	"up",
	"--listen",
	"127.0.0.1:0",
	"--kubeconfig",
	kubeconfig,
	"--nodes",
	"0",
];
const plane = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
let said = "";
plane.stderr.on("data", (text) => {
	said += String(text);
});
await once(plane.stdout, "data");

const config = JSON.parse(readFileSync(kubeconfig, "utf8"));
const ca = Buffer.from(config.clusters[0].cluster["certificate-authority-data"], "base64");
const authorization = `Bearer ${config.users[0].user.token}`;
const { hostname, port } = new URL(config.clusters[0].cluster.server);
const agent = new Agent({ keepAlive: true, maxSockets: 32, ca });
const SERVICES = "/api/v1/namespaces/default/services";

function ask(method, target, body) {
	return new Promise((resolve, reject) => {
		const headers = { authorization, "content-type": "application/json" };
		const sent = request({ agent, host: hostname, port, method, path: target, headers }, (answer) => {
			answer.resume();
			answer.once("end", () => resolve(answer.statusCode));
		});
		sent.once("error", reject);
		sent.end(body);
	});
}

/** Reads and writes in turn at a steady rate until `work` is done; milliseconds of each, from when it was due. */
async function measured(work) {
	const samples = [];
	let failed = 0;
	let isOver = false;
	const open = new Set();
	const startMs = performance.now();
	const perMs = Number(values.honest) / 1_000;
	let sent = 0;
	const timer = setInterval(() => {
		const due = Math.floor((performance.now() - startMs) * perMs) + 1;
		for (; sent < due && !isOver; sent++) {
			const dueMs = startMs + sent / perMs;
			const isWrite = sent % 4 === 0;
			const one = (
				isWrite
					? ask("PATCH", `${SERVICES}/kept?dryRun=All`, '{"metadata":{"labels":{"a":"b"}}}')
					: ask("GET", `${SERVICES}/kept`)
			)
				.then((status) => {
					if (!isWrite && status !== 200) failed++;
					samples.push(performance.now() - dueMs);
				})
				.finally(() => open.delete(one));
			open.add(one);
		}
	}, 1);
	const found = await work();
	isOver = true;
	clearInterval(timer);
	await Promise.all(open);
	samples.sort((a, b) => a - b);
	const at = (share) =>
		Math.round(samples[Math.min(samples.length - 1, Math.floor(samples.length * share))] * 100) / 100;
	return { requests: samples.length, failed, p50Ms: at(0.5), p90Ms: at(0.9), p99Ms: at(0.99), maxMs: at(1), found };
}

function rssMiB() {
	return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${plane.pid}/status`, "utf8"))[1]) / 1024);
}

/** A process that has its requests at hand, and sends them when it is told to. */
async function hostileSender() {
	const gateway = /Gateway at ([\d.:]+)/.exec(said)[1];
	const flags = ["--kubeconfig", kubeconfig, "--gateway", gateway, "--seed", values.seed, "--count", values.count];
	const program = path.join(root, "test/hostile/send.mjs");
	const how = ["--rate", values.rate, "--without", values.without, "--hold"];
	const sender = spawn(process.execPath, [program, ...flags, ...how]);
	let text = "";
	sender.stdout.on("data", (chunk) => {
		text += String(chunk);
	});
	await once(sender.stderr, "data");
	// Whoever means harm is on another machine, and does not take this one's time: it has what is left of it.
	setPriority(sender.pid, constants.priority.PRIORITY_LOW);
	return async () => {
		sender.stdin.write("go\n");
		await once(sender, "exit");
		return JSON.parse(text.trim().split("\n").at(-1));
	};
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
try {
	await ask("POST", SERVICES, JSON.stringify({ metadata: { name: "kept" }, spec: { ports: [{ port: 80 }] } }));
	await measured(() => pause(3_000));
	const alone = await measured(() => pause(SECONDS_ALONE * 1_000));
	const rssBefore = rssMiB();
	const send = await hostileSender();
	const beside = await measured(send);
	const ratio = Math.round((beside.p99Ms / alone.p99Ms) * 100) / 100;
	process.stdout.write(`${JSON.stringify({ alone, beside, ratio, rssMiB: { before: rssBefore, after: rssMiB() } })}\n`);
} finally {
	agent.destroy();
	plane.kill("SIGTERM");
	await once(plane, "exit");
	rmSync(folder, { recursive: true, force: true });
}
