#!/usr/bin/env node
/**
 * What a node port costs, beside HAProxy in TCP mode in front of the same servers, and beside no proxy at all.
 *
 *     node bench/proxy.mjs --seconds 3 --rounds 3
 *
 * The three are measured in turn, and the medians of the rounds compared: only their ratios mean anything.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const NODE_PORT = 30_777;
const HAPROXY_PORT = 30_778;
const BACKENDS = 3;
const WAYS = ["direct", "userspace", "haproxy"];
const MODES = ["fresh", "kept", "open"];

/** An address of this machine that an EndpointSlice may hold, which loopback is not; packets to it go no further. */
function ownAddress() {
	return Object.values(networkInterfaces())
		.flat()
		.find(({ family, internal }) => family === "IPv4" && !internal)?.address;
}

const BACKEND_CODE = `
const http = require("node:http");
for (let i = 0; i < ${BACKENDS}; i++) {
	const server = http.createServer((_, response) => response.end("hello\\n"));
	server.keepAliveTimeout = 60000;
	server.listen(0, process.argv[1], () => console.log(server.address().port));
}`;

function lines(child, isDone) {
	return new Promise((resolve, reject) => {
		let text = "";
		child.stdout.on("data", (chunk) => {
			text += chunk;
			if (isDone(text)) resolve(text);
		});
		child.once("exit", (status) => reject(new Error(`ended with ${status}: ${text}`)));
	});
}

async function startBackends(address) {
	const child = spawn(process.execPath, ["-e", BACKEND_CODE, address], { stdio: ["ignore", "pipe", "inherit"] });
	const text = await lines(child, (all) => all.trim().split("\n").length === BACKENDS);
	return { child, ports: text.trim().split("\n").map(Number) };
}

function manifests(address, ports) {
	const meta = { namespace: "default" };
	const service = {
		apiVersion: "v1",
		kind: "Service",
		metadata: { ...meta, name: "bench" },
		spec: { type: "NodePort", ports: [{ name: "http", port: 80, nodePort: NODE_PORT }] },
	};
	const slices = ports.map((port) => ({
		apiVersion: "discovery.k8s.io/v1",
		kind: "EndpointSlice",
		metadata: { ...meta, name: `bench-${port}`, labels: { "kubernetes.io/service-name": "bench" } },
		addressType: "IPv4",
		ports: [{ name: "http", port, protocol: "TCP" }],
		endpoints: [{ addresses: [address], conditions: { ready: true } }],
	}));
	return [service, ...slices].map((object) => JSON.stringify(object)).join("\n---\n");
}

async function startPlane(folder, address, ports) {
	const file = path.join(folder, "bench.yaml");
	writeFileSync(file, manifests(address, ports));
	const program = path.join(HERE, "../bin/sliceplane");
	const args = [program, "up", "--listen", "127.0.0.1:0", "--kubeconfig", path.join(folder, "kubeconfig"), "-f", file];
	const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
	await lines(child, (all) => all.includes("ready"));
	return child;
}

function startHaproxy(folder, address, ports) {
	if (spawnSync("haproxy", ["-v"]).status !== 0) return undefined;
	const file = path.join(folder, "haproxy.cfg");
	const servers = ports.map((port) => `\tserver s${port} ${address}:${port}\n`).join("");
	const timeouts = "\ttimeout connect 5s\n\ttimeout client 60s\n\ttimeout server 60s\n";
	writeFileSync(
		file,
		`global\n\tmaxconn 4000\ndefaults\n\tmode tcp\n${timeouts}listen bench\n\tbind 127.0.0.1:${HAPROXY_PORT}\n${servers}`,
	);
	return spawn("haproxy", ["-db", "-f", file], { stdio: "ignore" });
}

function measure(address, mode, seconds) {
	const args = [path.join(HERE, "proxy-load.mjs"), address, mode, seconds];
	const { stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
	return JSON.parse(stdout);
}

function median(samples) {
	return [...samples].sort((a, b) => a - b)[Math.floor(samples.length / 2)];
}

function summary(rounds) {
	const of = (key) => median(rounds.map((round) => round[key]));
	const errors = rounds.reduce((sum, round) => sum + round.errors, 0);
	return { perSecond: of("perSecond"), p50Ms: of("p50Ms"), p99Ms: of("p99Ms"), errors };
}

const ratio = (a, b) => Math.round((a / b) * 100) / 100;

function compared(results) {
	const { direct, userspace, haproxy } = results;
	const p99 = (way) => Math.round((way.open.p99Ms - direct.open.p99Ms) * 100) / 100;
	return {
		...(haproxy === undefined
			? {}
			: {
					freshToHaproxy: ratio(userspace.fresh.perSecond, haproxy.fresh.perSecond),
					keptToHaproxy: ratio(userspace.kept.perSecond, haproxy.kept.perSecond),
					haproxyP99AboveDirectMs: p99(haproxy),
				}),
		freshToDirect: ratio(userspace.fresh.perSecond, direct.fresh.perSecond),
		keptToDirect: ratio(userspace.kept.perSecond, direct.kept.perSecond),
		p99AboveDirectMs: p99(userspace),
	};
}

export async function proxyBench({ seconds, rounds }) {
	const address = ownAddress();
	if (address === undefined) return { skipped: "this machine has no address but loopback" };
	const folder = mkdtempSync(path.join(tmpdir(), "sliceplane-proxy-"));
	const backends = await startBackends(address);
	const plane = await startPlane(folder, address, backends.ports);
	const haproxy = startHaproxy(folder, address, backends.ports);
	await new Promise((resolve) => setTimeout(resolve, 500));
	const addresses = {
		direct: `${address}:${backends.ports[0]}`,
		userspace: `127.0.0.1:${NODE_PORT}`,
		haproxy: `127.0.0.1:${HAPROXY_PORT}`,
	};
	try {
		const ways = WAYS.filter((way) => way !== "haproxy" || haproxy !== undefined);
		const samples = Object.fromEntries(ways.map((way) => [way, { fresh: [], kept: [], open: [] }]));
		for (let round = 1; round <= rounds; round++) {
			process.stderr.write(`proxy: round ${round} of ${rounds}\n`);
			for (const mode of MODES)
				for (const way of ways) samples[way][mode].push(measure(addresses[way], mode, String(seconds)));
		}
		const results = Object.fromEntries(
			ways.map((way) => [way, Object.fromEntries(MODES.map((mode) => [mode, summary(samples[way][mode])]))]),
		);
		const skipped = haproxy === undefined ? { haproxy: "skipped: haproxy is not installed" } : {};
		return { ...results, ...skipped, ratios: compared(results) };
	} finally {
		for (const child of [plane, haproxy, backends.child]) child?.kill("SIGTERM");
		rmSync(folder, { recursive: true, force: true });
	}
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const { values } = parseArgs({
		options: { seconds: { type: "string", default: "3" }, rounds: { type: "string", default: "3" } },
	});
	const result = await proxyBench({ seconds: Number(values.seconds), rounds: Number(values.rounds) });
	process.stdout.write(`${JSON.stringify(result, undefined, 2)}\n`);
	process.exit(0);
}
