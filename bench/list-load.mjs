#!/usr/bin/env node
/**
 * Times proxied requests while a client lists many objects again and again, beside the same without it, and prints JSON.
 *
 *     node bench/list-load.mjs --objects 150000 --seconds 5
 *
 * The API and the data plane have threads of their own: what one does should not be felt in the other, as long as the
 * machine has a core for each.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parse } from "yaml";

const { values } = parseArgs({
	options: {
		objects: { type: "string", default: "150000" },
		seconds: { type: "string", default: "5" },
		rounds: { type: "string", default: "3" },
		list: { type: "string" },
	},
});
const HERE = path.dirname(fileURLToPath(import.meta.url));
const NODE_PORT = 30_779;
const CONCURRENCY = 16;
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

const MANIFESTS = `
apiVersion: v1
kind: Service
metadata: {name: bench}
spec: {type: NodePort, selector: {app: bench}, ports: [{port: 80, targetPort: 8080, nodePort: ${NODE_PORT}}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: bench}
spec: {replicas: 3, selector: {matchLabels: {app: bench}}, template: {metadata: {labels: {app: bench}}, spec: {containers: [{name: c, image: x}]}}}
`;

/** Asks with the credentials of a kubeconfig. */
function asking(kubeconfig) {
	const { clusters, users } = parse(readFileSync(kubeconfig, "utf8"));
	const [{ cluster }] = clusters;
	const [{ user }] = users;
	const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });
	const common = {
		agent,
		ca: Buffer.from(cluster["certificate-authority-data"], "base64"),
		headers: { Authorization: `Bearer ${user.token}`, "Content-Type": "application/json" },
	};
	return async (method, where, body) => {
		const sent = request(`${cluster.server}${where}`, { ...common, method });
		sent.end(body === undefined ? undefined : JSON.stringify(body));
		const [answer] = await once(sent, "response");
		let [bytes, text] = [0, ""];
		answer.on("data", (chunk) => {
			bytes += chunk.length;
			if (answer.statusCode >= 400) text += chunk;
		});
		await once(answer, "end");
		if (answer.statusCode >= 400) throw new Error(`${method} ${where}: ${answer.statusCode} ${text}`);
		return bytes;
	};
}

async function create(ask, count) {
	let made = 0;
	const worker = async () => {
		while (made < count) {
			const index = made++;
			if (index % 10_000 === 0) process.stderr.write(`list load: ${index} of ${count} objects\n`);
			await ask("POST", CONFIG_MAPS, {
				apiVersion: "v1",
				kind: "ConfigMap",
				metadata: { name: `object-${index}` },
				data: { text: "x".repeat(100) },
			});
		}
	};
	await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

/** Whole lists, one after the other, until the process is ended; a line for each. */
async function listAgain(kubeconfig) {
	const ask = asking(kubeconfig);
	for (;;) {
		const startedMs = performance.now();
		const bytes = await ask("GET", `${CONFIG_MAPS}?resourceVersion=0`);
		process.stdout.write(`${JSON.stringify({ bytes, tookMs: Math.round(performance.now() - startedMs) })}\n`);
	}
}

function measure(seconds) {
	const child = spawnSync(
		process.execPath,
		[path.join(HERE, "proxy-load.mjs"), `127.0.0.1:${NODE_PORT}`, "open", seconds],
		{
			encoding: "utf8",
		},
	);
	return JSON.parse(child.stdout);
}

function median(samples) {
	return [...samples].sort((a, b) => a - b)[Math.floor(samples.length / 2)];
}

async function bench() {
	const folder = mkdtempSync(path.join(tmpdir(), "sliceplane-list-load-"));
	const kubeconfig = path.join(folder, "kubeconfig");
	const file = path.join(folder, "bench.yaml");
	writeFileSync(file, MANIFESTS);
	const program = path.join(HERE, "../bin/sliceplane");
	const args = [program, "up", "--listen", "127.0.0.1:0", "--kubeconfig", kubeconfig, "-f", file];
	const plane = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
	let lister;
	try {
		await once(plane.stdout, "data");
		await create(asking(kubeconfig), Number(values.objects));
		const [quiet, listing] = [[], []];
		const lists = [];
		for (let round = 1; round <= Number(values.rounds); round++) {
			process.stderr.write(`list load: round ${round} of ${values.rounds}\n`);
			quiet.push(measure(values.seconds));
			lister = spawn(process.execPath, [fileURLToPath(import.meta.url), "--list", kubeconfig], {
				stdio: ["ignore", "pipe", "inherit"],
			});
			lister.stdout.on("data", (text) =>
				lists.push(
					...String(text)
						.trim()
						.split("\n")
						.map((line) => JSON.parse(line)),
				),
			);
			await once(lister.stdout, "data");
			listing.push(measure(values.seconds));
			lister.kill("SIGTERM");
			await once(lister, "exit");
		}
		const [alone, beside] = [quiet, listing].map((samples) => median(samples.map(({ p99Ms }) => p99Ms)));
		return {
			objects: Number(values.objects),
			lists: lists.length,
			listMs: median(lists.map(({ tookMs }) => tookMs)),
			listMiB: Math.round((lists[0]?.bytes ?? 0) / 2 ** 20),
			p99Ms: { alone, besideLists: beside, ratio: Math.round((beside / alone) * 100) / 100 },
			rounds: { alone: quiet, besideLists: listing },
		};
	} finally {
		lister?.kill("SIGTERM");
		plane.kill("SIGTERM");
		rmSync(folder, { recursive: true, force: true });
	}
}

if (values.list !== undefined) await listAgain(values.list);
else process.stdout.write(`${JSON.stringify(await bench(), undefined, 2)}\n`);
process.exit(0);
