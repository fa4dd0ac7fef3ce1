/**
 * Times the start of a plane on a data folder of many objects, after a kill -9, and prints JSON.
 *
 *     node bench/durable-start.mjs --objects 50000 --runs 5
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
	options: { objects: { type: "string", default: "50000" }, runs: { type: "string", default: "5" } },
});

const WRITERS = 64;
const PATH = "/api/v1/namespaces/default/configmaps";
const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
const folder = mkdtempSync(path.join(tmpdir(), "sliceplane-durable-start-"));
const kubeconfig = path.join(folder, "kubeconfig");
const program = path.join(root, "bin/sliceplane");
const args = ["up", "--listen", "127.0.0.1:0", "--kubeconfig", kubeconfig, "--nodes", "0"];
const dataDir = path.join(folder, "data");

/** The process, and how long it took to say that it is ready. */
async function started() {
	const fromMs = performance.now();
	const plane = spawn(process.execPath, [program, ...args, "--data-dir", dataDir], { cwd: folder, stdio: "pipe" });
	plane.stderr.resume();
	await once(plane.stdout, "data");
	return { plane, ms: performance.now() - fromMs, client: clientOf(JSON.parse(readFileSync(kubeconfig, "utf8"))) };
}

function clientOf({ clusters, users }) {
	const ca = Buffer.from(clusters[0].cluster["certificate-authority-data"], "base64");
	const { hostname, port } = new URL(clusters[0].cluster.server);
	const agent = new Agent({ keepAlive: true, maxSockets: WRITERS, ca });
	const headers = { authorization: `Bearer ${users[0].user.token}`, "content-type": "application/json" };
	return (method, target, body) =>
		new Promise((resolve, reject) => {
			const sent = request({ agent, host: hostname, port, method, path: target, headers }, async (answer) => {
				const chunks = await answer.toArray();
				resolve({ status: answer.statusCode, text: Buffer.concat(chunks).toString() });
			});
			sent.once("error", reject);
			sent.end(body);
		});
}

async function killed(plane) {
	plane.kill("SIGKILL");
	await once(plane, "exit");
}

/** Each of the size of a small Pod. */
async function fill(client, count) {
	const data = { text: "x".repeat(500) };
	let made = 0;
	const writer = async () => {
		while (made < count) {
			const metadata = { name: `c-${made++}` };
			const { status, text } = await client("POST", PATH, JSON.stringify({ metadata, data }));
			if (status !== 201) throw new Error(`${status}: ${text}`);
		}
	};
	await Promise.all(Array.from({ length: WRITERS }, writer));
}

try {
	const count = Number(values.objects);
	const first = await started();
	await fill(first.client, count);
	await killed(first.plane);
	const readyMs = [];
	for (let run = 0; run < Number(values.runs); run++) {
		const { plane, ms, client } = await started();
		readyMs.push(Math.round(ms));
		const { text } = await client("GET", `${PATH}?limit=1`);
		const left = JSON.parse(text).metadata.remainingItemCount;
		if (left < count - 1) throw new Error(`${count} objects were told to be stored, ${left + 1} are there`);
		await killed(plane);
	}
	const mib = Math.round(statSync(path.join(dataDir, "store/data.mdb")).size / 2 ** 20);
	process.stdout.write(`${JSON.stringify({ objects: count, fileMiB: mib, readyMs: readyMs.sort((a, b) => a - b) })}\n`);
} finally {
	rmSync(folder, { recursive: true, force: true });
}
