#!/usr/bin/env node
/**
 * Loads the built program's DNS with dnsperf, beside Knot DNS with the same names in a static zone, and prints JSON on
 * stdout; progress goes to stderr. Needs the Debian packages dnsperf and knot.
 *
 *     node bench/dns.mjs --seconds 10
 *
 * 1,000 Services and 5,000 endpoints; both servers run in turn, on loopback, with the same queries.
 */
import { execFileSync, spawn } from "node:child_process";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import { kubectlPath } from "../scripts/fetch-kubectl.mjs";

const { values } = parseArgs({
	options: { seconds: { type: "string", default: "10" }, rate: { type: "string", default: "10000" } },
});
const PROGRAM = path.join(path.dirname(new URL(import.meta.url).pathname), "../bin/sliceplane");
const SERVICES = 1000;
const ENDPOINTS_EACH = 10;
const CHANGES = 200;
const RATE_DURING_CHANGES = "2000";
const folder = mkdtempSync(path.join(tmpdir(), "sliceplane-bench-dns-"));
const queries = path.join(folder, "queries");
const children = [];

/** Every second Service is headless, with ten endpoints that have hostnames. */
const services = Array.from({ length: SERVICES }, (_, index) => ({
	name: `svc-${index}`,
	clusterIP: index % 2 === 0 ? "None" : `10.96.${100 + (index >> 8)}.${index & 255}`,
	addresses: Array.from({ length: ENDPOINTS_EACH }, (_, at) => `10.244.${index >> 2}.${(index & 3) * 16 + at + 1}`),
}));

function manifest({ name, clusterIP, addresses }) {
	const port = { name: "http", port: 80, protocol: "TCP" };
	const service = { apiVersion: "v1", kind: "Service", metadata: { name }, spec: { clusterIP, ports: [port] } };
	if (clusterIP !== "None") return [service];
	const slice = {
		apiVersion: "discovery.k8s.io/v1",
		kind: "EndpointSlice",
		metadata: { name: `${name}-1`, labels: { "kubernetes.io/service-name": name } },
		addressType: "IPv4",
		ports: [port],
		endpoints: addresses.map((address, at) => ({
			addresses: [address],
			hostname: `h${at}`,
			conditions: { ready: true },
		})),
	};
	return [service, slice];
}

function zoneLines({ name, clusterIP, addresses }) {
	const own = `${name}.default.svc.cluster.local.`;
	if (clusterIP !== "None") return [`${own} A ${clusterIP}`, `_http._tcp.${own} SRV 0 100 80 ${own}`];
	return addresses.flatMap((address, at) => [
		`${own} A ${address}`,
		`h${at}.${own} A ${address}`,
		`_http._tcp.${own} SRV 0 10 80 h${at}.${own}`,
	]);
}

function queryLines({ name, clusterIP }, index) {
	const own = `${name}.default.svc.cluster.local`;
	const second = clusterIP === "None" ? `h1.${own} A` : `_http._tcp.${own} SRV`;
	return [`${own} A`, second, ...(index % 10 === 0 ? [`nope-${index}.default.svc.cluster.local A`] : [])];
}

function freePort() {
	return new Promise((resolve) => {
		const server = createServer().listen(0, "127.0.0.1", () => {
			const { port } = server.address();
			server.close(() => resolve(port));
		});
	});
}

function started(command, args, env) {
	const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "inherit"] });
	children.push(child);
	return child;
}

function ended(child) {
	return new Promise((resolve) => {
		child.once("exit", resolve);
		child.kill("SIGTERM");
	});
}

async function sliceplane() {
	const kubeconfig = path.join(folder, "kubeconfig");
	const port = await freePort();
	const args = ["up", "--listen", "127.0.0.1:0", "--kubeconfig", kubeconfig, "--dns-listen", `127.0.0.1:${port}`];
	const child = started(PROGRAM, args, { XDG_CACHE_HOME: path.join(folder, "cache") });
	await new Promise((resolve) => child.stdout.once("data", resolve));
	const file = path.join(folder, "objects.json");
	const items = services.flatMap(manifest);
	writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
	const kubectl = await kubectlPath(35);
	execFileSync(kubectl, ["--kubeconfig", kubeconfig, "create", "-f", file], { env: { HOME: folder } });
	return { child, port, measureChanges: () => changes(kubeconfig, port) };
}

/** Writes an endpoint's address through the API, and asks DNS until it is there, again and again under load. */
async function changes(kubeconfig, port) {
	const write = writer(parse(readFileSync(kubeconfig, "utf8")));
	const resolver = new Resolver({ timeout: 1000 });
	resolver.setServers([`127.0.0.1:${port}`]);
	process.stderr.write(`sliceplane: ${CHANGES} changes at ${RATE_DURING_CHANGES} queries/s\n`);
	const args = ["-s", "127.0.0.1", "-p", String(port), "-d", queries, "-l", "600", "-Q", RATE_DURING_CHANGES];
	const load = started("dnsperf", args, {});
	load.stdout.resume();
	const times = [];
	for (let change = 0; change < CHANGES; change++) {
		const { name } = services[(change * 2) % SERVICES];
		const address = `10.245.${change >> 8}.${change & 255}`;
		const startedMs = performance.now();
		await write(name, [{ addresses: [address], hostname: "h1", conditions: { ready: true } }]);
		const domain = `h1.${name}.default.svc.cluster.local`;
		while ((await resolver.resolve4(domain))[0] !== address);
		times.push(performance.now() - startedMs);
	}
	load.kill("SIGINT");
	await once(load, "exit");
	return { changes: CHANGES, queriesPerSecond: Number(RATE_DURING_CHANGES), ...timesOf(times) };
}

/** Gives the EndpointSlice of a Service other endpoints. */
function writer({ clusters: [{ cluster }], users: [{ user }] }) {
	const agent = new Agent({ keepAlive: true });
	const common = {
		method: "PATCH",
		agent,
		ca: Buffer.from(cluster["certificate-authority-data"], "base64"),
		headers: { Authorization: `Bearer ${user.token}`, "Content-Type": "application/merge-patch+json" },
	};
	return async (name, endpoints) => {
		const url = `${cluster.server}/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/${name}-1`;
		const asking = request(url, common);
		asking.end(JSON.stringify({ endpoints }));
		const [answer] = await once(asking, "response");
		answer.resume();
		await once(answer, "end");
		if (answer.statusCode !== 200) throw new Error(`PATCH ${url}: want 200, found ${answer.statusCode}`);
	};
}

async function knot() {
	const port = await freePort();
	const soa = "cluster.local. SOA ns.dns.cluster.local. hostmaster.cluster.local. 1 7200 1800 86400 5";
	const lines = ["$TTL 5", soa, "cluster.local. NS ns.dns.cluster.local.", "ns.dns.cluster.local. A 10.96.0.10"];
	writeFileSync(path.join(folder, "zone"), `${[...lines, ...services.flatMap(zoneLines)].join("\n")}\n`);
	const config = {
		server: { rundir: folder, listen: `127.0.0.1@${port}` },
		database: { storage: folder },
	};
	const sections = Object.entries(config).map(([name, options]) =>
		[`${name}:`, ...Object.entries(options).map(([key, value]) => `    ${key}: ${value}`)].join("\n"),
	);
	const zone = `zone:\n  - domain: cluster.local\n    storage: ${folder}\n    file: zone\n`;
	writeFileSync(path.join(folder, "knot.conf"), `${sections.join("\n")}\n${zone}`);
	const child = started("knotd", ["-c", path.join(folder, "knot.conf")], {});
	return { child, port };
}

/** Ready when dig's question has an answer. */
async function answers(port) {
	const args = ["-s", "127.0.0.1", "-p", String(port), "-d", queries, "-n", "1"];
	for (let attempt = 0; attempt < 50; attempt++) {
		const text = execFileSync("dnsperf", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
		if (/Queries completed:\s+(\d+)/.exec(text)?.[1] === String(countOfQueries)) return;
	}
	throw new Error(`DNS at 127.0.0.1:${port}: want answers to all queries of ${queries}`);
}

function dnsperf(port, more) {
	const args = ["-s", "127.0.0.1", "-p", String(port), "-d", queries, "-l", values.seconds, ...more];
	return execFileSync("dnsperf", args, { encoding: "utf8", maxBuffer: 2 ** 30, stdio: ["ignore", "pipe", "ignore"] });
}

function figure(text, pattern) {
	return Number(pattern.exec(text)?.[1] ?? Number.NaN);
}

function timesOf(timesMs) {
	const sorted = [...timesMs].sort((a, b) => a - b);
	const at = (share) => Math.round((sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN) * 100) / 100;
	return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

/** As fast as it goes with 100 outstanding, then how long each answer takes at the given rate. */
function measure(name, port) {
	process.stderr.write(`${name}: as fast as it goes for ${values.seconds} s\n`);
	const fast = dnsperf(port, ["-q", "100"]);
	process.stderr.write(`${name}: ${values.rate} queries/s for ${values.seconds} s\n`);
	const paced = dnsperf(port, ["-Q", values.rate, "-v"]);
	const times = [...paced.matchAll(/^> \S+ \S+ \S+ ([\d.]+)$/gm)].map(([, seconds]) => Number(seconds) * 1000);
	return {
		queriesPerSecond: Math.round(figure(fast, /Queries per second:\s+([\d.]+)/)),
		lost: figure(fast, /Queries lost:\s+(\d+)/),
		paced: {
			queriesPerSecond: Math.round(figure(paced, /Queries per second:\s+([\d.]+)/)),
			lost: figure(paced, /Queries lost:\s+(\d+)/),
			...timesOf(times),
		},
	};
}

const lines = services.flatMap(queryLines);
const countOfQueries = lines.length;
writeFileSync(queries, `${lines.join("\n")}\n`);
const results = {};
try {
	for (const [name, start] of Object.entries({ sliceplane, knot })) {
		process.stderr.write(`${name}: start\n`);
		const { child, port, measureChanges } = await start();
		await answers(port);
		results[name] = measure(name, port);
		if (measureChanges !== undefined) results[name].propagation = await measureChanges();
		await ended(child);
	}
} finally {
	for (const child of children) if (child.exitCode === null) child.kill("SIGTERM");
	rmSync(folder, { recursive: true, force: true });
}
const ratio = Math.round((results.sliceplane.queriesPerSecond / results.knot.queriesPerSecond) * 100) / 100;
process.stdout.write(`${JSON.stringify({ ...results, ratioToKnot: ratio }, undefined, 2)}\n`);
