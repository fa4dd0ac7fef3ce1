/** The rules in the kernel, with real packets between network namespaces: rows of the acceptance matrix. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Conntrack } from "../../src/edge/conntrack.ts";
import { nameHash } from "../../src/edge/name-hash.ts";
import { NftProgram } from "../../src/edge/nft-program.ts";
import { SystemClock } from "../../src/edge/system-clock.ts";
import type { NftConfig } from "../../src/plan/nft/config.ts";
import { nftFamily, podsByRange } from "../../src/plan/nft/config.ts";
import type { TablePort, Target } from "../../src/plan/service-map/service-table.ts";
import { FamilyRules } from "../../src/proxy/family-rules.ts";
import { KernelProxy } from "../../src/proxy/kernel-proxy.ts";
import { RecordingMetrics } from "../../src/testing/recording-metrics.ts";
import { silentLogger } from "../../src/testing/silent.ts";
import { tableOf } from "../../src/testing/table-ports.ts";
import { Lab, labProblem } from "../netns/lab.ts";

const problem = labProblem();
if (problem !== undefined) process.stderr.write(`skipped: rules in the kernel: ${problem}\n`);

const NODE_IPS = ["192.168.50.1", "fd00:50::1"];
const pod = (last: string, port = 8080): Target => ({
	ip: `10.244.${last}`,
	port,
	nodeName: last.startsWith("1.") ? "node" : "n2",
});
const [pa, pb, rp] = [pod("1.10"), pod("1.11"), pod("2.10")];
const six = (text: string): Target => ({
	ip: `fd00:244:${text}`,
	port: 8080,
	nodeName: text.startsWith("1") ? "node" : "n2",
});

let lab: Lab;
let families: readonly FamilyRules[];
let proxy: KernelProxy;
let running: Promise<void>;
const stopping = new AbortController();

function config(family: "IPv4" | "IPv6"): NftConfig {
	const localPods = podsByRange(family, [family === "IPv4" ? "10.244.0.0/16" : "fd00:244::/32"]);
	return {
		family,
		table: "sliceplane",
		nodeAddresses: NODE_IPS.filter((ip) => ip.includes(":") === (family === "IPv6")),
		nodeName: "node",
		...(localPods === undefined ? {} : { localPods }),
		serviceCIDRs: family === "IPv4" ? ["10.96.0.0/16"] : ["fd00:96::/112"],
		masqueradeAll: false,
		masqueradeBit: 14,
		hash: nameHash,
	};
}

function inNode(program: string): readonly string[] {
	return ["ip", "netns", "exec", lab.namespaceOf("node"), program];
}

async function put(name: string, ...ports: readonly Partial<TablePort>[]): Promise<void> {
	proxy.put(tableOf(name, ...ports));
	await proxy.synced();
}

beforeAll(async () => {
	if (problem !== undefined) return;
	lab = await Lab.start();
	const clock = new SystemClock();
	families = (["IPv4", "IPv6"] as const).map((family) => {
		const kernel = new NftProgram({ family: nftFamily(family), table: "sliceplane", command: inNode("nft") });
		return new FamilyRules(config(family), kernel, clock);
	});
	const flows = new Conntrack(silentLogger, inNode("conntrack"));
	proxy = new KernelProxy(
		families,
		{ clock, log: silentLogger, metrics: new RecordingMetrics(), flows },
		{ minSyncPeriodMs: 0, syncPeriodMs: 30_000, nodeAddresses: NODE_IPS },
	);
	running = proxy.run(stopping.signal);
	await put("default/web", {
		cluster: [pa, pb, rp],
		nodePort: 30_080,
		loadBalancerVIPs: ["203.0.113.10"],
		hasSourceRanges: true,
		loadBalancerSourceRanges: ["192.168.50.0/25"],
		externalIPs: ["203.0.113.20"],
	});
	await put("default/web-local", {
		clusterIP: "10.96.0.11",
		cluster: [pa, rp],
		local: [pa],
		isExternalLocal: true,
		nodePort: 30_081,
	});
	await put("default/no-local", { clusterIP: "10.96.0.12", cluster: [rp], isExternalLocal: true, nodePort: 30_082 });
	await put("default/empty", { clusterIP: "10.96.0.13", hasAny: false, nodePort: 30_083 });
	await put("default/sticky", { clusterIP: "10.96.0.14", cluster: [pa, pb, rp], affinitySeconds: 2 });
	await put("default/node-only", { clusterIP: "10.96.0.15", isInternalLocal: true });
	const dns = [pod("1.10", 5353), pod("1.11", 5353)];
	await put("kube-system/dns", {
		name: "dns",
		protocol: "UDP",
		clusterIP: "10.96.0.53",
		port: 53,
		cluster: dns,
		servingIPs: dns.map(({ ip }) => ip),
	});
	await put("default/six", {
		family: "IPv6",
		clusterIP: "fd00:96::10",
		cluster: [six("1::10"), six("2::10")],
		nodePort: 30_090,
	});
});

afterAll(async () => {
	if (problem !== undefined) return;
	stopping.abort();
	await running;
	await lab.stop();
});

/** Which words came, each once, sorted. */
async function words(from: Parameters<Lab["at"]>[0], how: Parameters<ReturnType<Lab["at"]>["ask"]>[0]) {
	return [...new Set(await lab.at(from).ask({ times: 30, ...how }))].sort();
}

describe.skipIf(problem !== undefined)("rules in the kernel", () => {
	test.each<{ row: string; from: Parameters<Lab["at"]>[0]; to: string; words: readonly string[]; times?: number }>([
		{
			row: "a pod to a cluster IP: all endpoints, which see its own address",
			from: "pc",
			to: "10.96.0.10:80",
			words: ["pa from 10.244.1.12", "pb from 10.244.1.12", "rp from 10.244.1.12"],
		},
		{
			row: "the node to a cluster IP: masqueraded",
			from: "node",
			to: "10.96.0.10:80",
			words: ["pa from 192.168.50.1", "pb from 192.168.50.1", "rp from 192.168.50.1"],
		},
		{
			row: "somebody outside to a cluster IP: masqueraded",
			from: "ext",
			to: "10.96.0.10:80",
			words: ["pa from 192.168.50.1", "pb from 192.168.50.1", "rp from 192.168.50.1"],
		},
		{
			row: "outside to a node port: all endpoints, masqueraded",
			from: "ext",
			to: "192.168.50.1:30080",
			words: ["pa from 192.168.50.1", "pb from 192.168.50.1", "rp from 192.168.50.1"],
		},
		{
			row: "outside to an external IP: the same",
			from: "ext",
			to: "203.0.113.20:80",
			words: ["pa from 192.168.50.1", "pb from 192.168.50.1", "rp from 192.168.50.1"],
		},
		{
			row: "outside of the source ranges to the load balancer's address: silence",
			from: "ext",
			to: "203.0.113.10:80",
			words: ["timeout"],
			times: 1,
		},
		{
			row: "policy Local from outside: the local endpoint, which sees the client",
			from: "ext",
			to: "192.168.50.1:30081",
			words: ["pa from 192.168.50.200"],
		},
		{
			row: "policy Local from a pod: all endpoints",
			from: "pc",
			to: "192.168.50.1:30081",
			words: ["pa from 10.244.1.12", "rp from 10.244.1.12"],
		},
		{
			row: "policy Local from the node: all endpoints",
			from: "node",
			to: "192.168.50.1:30081",
			words: ["pa from 192.168.50.1", "rp from 192.168.50.1"],
		},
		{
			row: "policy Local, no local endpoint, from outside: silence",
			from: "ext",
			to: "192.168.50.1:30082",
			words: ["timeout"],
			times: 1,
		},
		{
			row: "policy Local, no local endpoint, from a pod: the remote one",
			from: "pc",
			to: "192.168.50.1:30082",
			words: ["rp from 10.244.1.12"],
		},
		...(["pc", "node", "ext"] as const).flatMap((from) =>
			["10.96.0.13:80", "192.168.50.1:30083"].map((to) => ({
				row: `no endpoints, ${from} to ${to}: refused, 20 times in a row`,
				from,
				to,
				words: ["refused"],
				times: 20,
			})),
		),
		{
			row: "a port that nobody has at a cluster IP: refused",
			from: "pc",
			to: "10.96.0.10:81",
			words: ["refused"],
			times: 20,
		},
		{ row: "a cluster IP that nobody has: silence", from: "pc", to: "10.96.200.200:80", words: ["timeout"], times: 1 },
		{ row: "internal policy Local, none here: silence", from: "pc", to: "10.96.0.15:80", words: ["timeout"], times: 1 },
		{ row: "a node port on loopback: refused", from: "node", to: "127.0.0.1:30080", words: ["refused"], times: 1 },
		{
			row: "IPv6, a pod to a cluster IP",
			from: "pc",
			to: "fd00:96::10:80",
			words: ["pa from fd00:244:1::12", "rp from fd00:244:1::12"],
		},
		{
			row: "IPv6, outside to a node port",
			from: "ext",
			to: "fd00:50::1:30090",
			words: ["pa from fd00:50::1", "rp from fd00:50::1"],
		},
	])("$row", async ({ from, to, words: expected, times = 30 }) => {
		const colon = to.lastIndexOf(":");
		const asked = { host: to.slice(0, colon), port: Number(to.slice(colon + 1)), times };
		expect(await words(from, asked)).toEqual(expected);
	});

	test("a pod that gets itself sees the node's address, and the other pods its own", async () => {
		const seen = await words("pa", { host: "10.96.0.10", port: 80, times: 40 });
		expect(seen).toHaveLength(3);
		expect(seen.slice(1)).toEqual(["pb from 10.244.1.10", "rp from 10.244.1.10"]);
		expect(seen[0]).toMatch(/^pa from (?!10\.244\.1\.10$)/);
	});

	test("within the source ranges the load balancer's address answers", async () => {
		lab.run("ext", "ip", "addr", "add", "192.168.50.100/24", "dev", "eth0");
		expect(await words("ext", { host: "203.0.113.10", port: 80, source: "192.168.50.100" })).toHaveLength(3);
	});

	test("datagrams reach both endpoints, and a port that nobody has is refused", async () => {
		expect(await words("pc", { protocol: "udp", host: "10.96.0.53", port: 53 })).toEqual([
			"pa from 10.244.1.12",
			"pb from 10.244.1.12",
		]);
		expect(await words("pc", { protocol: "udp", host: "10.96.0.53", port: 54, times: 1 })).toEqual(["refused"]);
	});

	test("ClientIP: one endpoint, until the client was silent for the time", async () => {
		const first = await words("pc", { host: "10.96.0.14", port: 80, times: 8 });
		expect(first).toHaveLength(1);
		expect(await words("pb", { host: "10.96.0.14", port: 80, times: 8 })).toHaveLength(1);
		const known = (): number =>
			lab.run("node", "nft", "list", "table", "ip", "sliceplane").split("10.244.1.12 ").length - 1;
		expect(known()).toBe(1);
		await expect.poll(known, { timeout: 10_000, interval: 200 }).toBe(0);
	});

	test("loading everything anew under load fails no connection", async () => {
		let isOver = false;
		const load = (async () => {
			const seen: string[] = [];
			while (!isOver) seen.push(...(await lab.at("pc").ask({ host: "10.96.0.10", port: 80, times: 20, atOnce: true })));
			return seen;
		})();
		for (let round = 0; round < 10; round++) {
			await put("default/web", { cluster: round % 2 === 0 ? [pa, rp] : [pa, pb, rp], nodePort: 30_080 });
		}
		isOver = true;
		const seen = await load;
		expect(seen.length).toBeGreaterThan(20);
		expect(seen.filter((word) => !word.includes(" from "))).toEqual([]);
	});

	test("a flow of datagrams leaves an endpoint that is gone at once, though its client never stops", async () => {
		const ask = () => lab.at("pc").ask({ protocol: "udp", host: "10.96.0.53", port: 53, sourcePort: 4_000 });
		const [first = ""] = await ask();
		const gone = first.startsWith("pa") ? "10.244.1.10" : "10.244.1.11";
		const left = pod(first.startsWith("pa") ? "1.11" : "1.10", 5353);
		expect((await ask())[0]).toBe(first);
		const port = { name: "dns", protocol: "UDP", clusterIP: "10.96.0.53", port: 53 } as const;
		await put("kube-system/dns", { ...port, cluster: [left], servingIPs: [left.ip] });
		const [then = ""] = await ask();
		expect(then).not.toBe(first);
		expect(gone).not.toBe(left.ip);
	});

	test("a connection lives on when its Service is gone", async () => {
		expect(await lab.at("pc").hold("held", "10.96.0.11", 80)).toBe("connected");
		proxy.remove("default/web-local");
		await proxy.synced();
		expect(await lab.at("pc").say("held")).toMatch(/ from 10\.244\.1\.12$/);
		expect(await words("pc", { host: "10.96.0.11", port: 80, times: 1 })).toEqual(["timeout"]);
	});

	test("what was loaded is seen as whole: affinity, source ranges, both families", async () => {
		// Chains of what is gone are deleted a while later; a look beside that would see half of it.
		await expect.poll(() => families.every(({ dueMs }) => dueMs === undefined), { timeout: 30_000 }).toBe(true);
		for (const family of families) expect(await family.isIntact()).toBe(true);
		lab.run("node", "nft", "flush", "chain", "ip6", "sliceplane", "cluster-ips-check");
		await expect.poll(() => families[1]?.isIntact(), { timeout: 30_000, interval: 200 }).toBe(false);
	});

	test("what somebody else flushed is there again with the next change", async () => {
		lab.run("node", "nft", "flush", "ruleset");
		await put("default/web", { cluster: [pa], nodePort: 30_080 });
		expect(await words("pc", { host: "10.96.0.10", port: 80, times: 4 })).toEqual(["pa from 10.244.1.12"]);
		expect(await words("pc", { host: "10.96.0.13", port: 80, times: 4 })).toEqual(["refused"]);
	});

	test("another proxy takes the rules over, and none is left of Services that are gone meanwhile", async () => {
		stopping.abort();
		await running;
		const clock = new SystemClock();
		const kernel = new NftProgram({ family: "ip", table: "sliceplane", command: inNode("nft") });
		const flows = { list: () => Promise.resolve([]), cut: () => Promise.resolve(0) };
		const next = new KernelProxy(
			[new FamilyRules(config("IPv4"), kernel, clock)],
			{ clock, log: silentLogger, metrics: new RecordingMetrics(), flows },
			{ minSyncPeriodMs: 0, syncPeriodMs: 30_000, nodeAddresses: NODE_IPS },
		);
		next.put(tableOf("default/web", { cluster: [pa], nodePort: 30_080 }));
		const end = new AbortController();
		const run = next.run(end.signal);
		await next.synced();
		expect(await words("pc", { host: "10.96.0.10", port: 80, times: 4 })).toEqual(["pa from 10.244.1.12"]);
		await expect.poll(() => lab.run("node", "nft", "list", "chains", "ip"), { timeout: 5_000 }).not.toContain("sticky");
		end.abort();
		await run;
	});
});
