#!/usr/bin/env node
/**
 * From a Pod's readiness to its rule in the kernel, with many Services there; prints JSON.
 *
 *     node bench/kernel-latency.mjs --services 1000 --changes 50
 *
 * Everything runs in a network namespace of its own: a plane, `sliceplane proxy --min-sync-period 0`, and `nft monitor`,
 * which says when a rule has come. The time begins with the watch event of the Pod's readiness. Wants root and nftables.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { clusterClient } from "../dist/wiring/cluster-client.js";

const { values } = parseArgs({
	options: {
		services: { type: "string", default: "1000" },
		changes: { type: "string", default: "50" },
		inside: { type: "boolean", default: false },
	},
});
const PROGRAM = fileURLToPath(new URL("../bin/sliceplane", import.meta.url));
const [SERVICES, PODS, DEPLOYMENTS, SLICES] = [
	["", "Service", "services"],
	["", "Pod", "pods"],
	["apps", "Deployment", "deployments"],
	["discovery.k8s.io", "EndpointSlice", "endpointslices"],
].map(([group, kind, plural]) => ({ group, version: "v1", kind, plural, namespaced: true }));

function outside() {
	const namespace = `sp-latency-${process.pid}`;
	execFileSync("ip", ["netns", "add", namespace]);
	try {
		execFileSync("ip", ["-n", namespace, "link", "set", "lo", "up"]);
		const self = fileURLToPath(import.meta.url);
		const flags = ["--inside", "--services", values.services, "--changes", values.changes];
		execFileSync("ip", ["netns", "exec", namespace, process.execPath, self, ...flags], { stdio: "inherit" });
	} finally {
		execFileSync("ip", ["netns", "del", namespace]);
	}
}

async function started(args, word) {
	const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ["ignore", "pipe", "inherit"] });
	for await (const text of child.stdout) if (String(text).includes(word)) return child;
	throw new Error(`${args[0]} ended`);
}

async function fill(client, count) {
	for (let index = 0; index < count; index++) {
		const name = `other-${index}`;
		await client.create(SERVICES, "default", { metadata: { name }, spec: { ports: [{ port: 80 }] } });
		await client.create(SLICES, "default", {
			metadata: { name, labels: { "kubernetes.io/service-name": name } },
			addressType: "IPv4",
			ports: [{ name: "", port: 8080, protocol: "TCP" }],
			endpoints: [1, 2, 3, 4, 5].map((last) => ({
				addresses: [`10.250.${index >> 8}.${last}`],
				conditions: { ready: true },
			})),
		});
	}
}

async function inside() {
	const folder = mkdtempSync(path.join(tmpdir(), "sliceplane-latency-"));
	const kubeconfig = path.join(folder, "kubeconfig");
	const plane = await started(
		["up", "--listen", "127.0.0.1:0", "--kubeconfig", kubeconfig, "--network", "none"],
		"is ready",
	);
	const client = await clusterClient({ kubeconfig });
	await fill(client, Number(values.services));
	const proxyFlags = ["--kubeconfig", kubeconfig, "--hostname-override", "n1", "--min-sync-period", "0"];
	const proxy = await started(
		["proxy", ...proxyFlags, "--healthz-bind-address", "", "--metrics-bind-address", ""],
		"is ready",
	);
	const monitor = spawn("nft", ["monitor", "rules"], { stdio: ["ignore", "pipe", "inherit"] });
	const ready = new Map();
	const loaded = new Map();
	createInterface({ input: monitor.stdout }).on("line", (line) => {
		for (const [ip] of line.matchAll(/10\.244\.\d+\.\d+/g)) if (!loaded.has(ip)) loaded.set(ip, performance.now());
	});
	const stopping = new AbortController();
	const { resourceVersion } = await client.list(PODS, { namespace: "default" });
	const watching = (async () => {
		for await (const batch of client.watch(PODS, { namespace: "default", resourceVersion, signal: stopping.signal })) {
			for (const { object } of batch) {
				const isReady = object?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
				const ip = object?.status?.podIP;
				if (isReady && !ready.has(ip)) ready.set(ip, performance.now());
			}
		}
	})().catch(() => undefined);
	const labels = { app: "measured" };
	await client.create(SERVICES, "default", {
		metadata: { name: "measured" },
		spec: { selector: labels, ports: [{ port: 80 }] },
	});
	const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "x" }] } };
	await client.create(DEPLOYMENTS, "default", {
		metadata: { name: "measured" },
		spec: { replicas: 1, selector: { matchLabels: labels }, template },
	});
	for (let replicas = 2; replicas <= Number(values.changes) + 1; replicas++) {
		await new Promise((resolve) => setTimeout(resolve, 150));
		const patch = { type: "merge", body: { spec: { replicas } } };
		await client.patch(DEPLOYMENTS, { namespace: "default", name: "measured" }, patch);
	}
	await new Promise((resolve) => setTimeout(resolve, 2_000));
	stopping.abort();
	await watching;
	client.close();
	for (const child of [monitor, proxy, plane]) {
		const exit = once(child, "exit");
		child.kill("SIGTERM");
		await exit;
	}
	rmSync(folder, { recursive: true, force: true });
	const samples = [...ready].flatMap(([ip, at]) => (loaded.has(ip) ? [Math.max(0, loaded.get(ip) - at)] : []));
	samples.sort((a, b) => a - b);
	const at = (share) => Math.round(10 * samples[Math.min(samples.length - 1, Math.floor(share * samples.length))]) / 10;
	const figures = { p50: at(0.5), p99: at(0.99), max: at(1) };
	process.stdout.write(
		`${JSON.stringify({ services: Number(values.services), pods: ready.size, ruled: samples.length, readyToRuleMs: figures })}\n`,
	);
	process.exit(0);
}

if (values.inside) await inside();
else outside();
