/** The examples of the specification, asked by a real dig over real sockets. */
import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { answerPacket } from "../../src/dns/answer.ts";
import type { Response } from "../../src/dns/message.ts";
import { dnsCodec } from "../../src/edge/codec/dns.ts";
import { forwarder } from "../../src/edge/dns-forwarder.ts";
import { DnsServer } from "../../src/edge/dns-server.ts";
import { SystemClock } from "../../src/edge/system-clock.ts";
import { Zone } from "../../src/plan/dns-records/zone.ts";
import { meta, service } from "../../src/testing/builders.ts";
import { SeededRandom } from "../../src/testing/seeded.ts";
import { silentMetrics } from "../../src/testing/silent.ts";
import { PROGRAM, RunningPlane } from "./plane.ts";

const hasDig = spawnSync("dig", ["-v"]).status === 0;
if (!hasDig) process.stderr.write("skipped: DNS by dig: no dig on this machine\n");

const SERIAL = 1_785_412_800;
const SOA = "cluster.local. 5 IN SOA ns.dns.cluster.local. hostmaster.cluster.local. 1785412800 7200 1800 86400 5";

function zone(endpoints = 3): Zone {
	const made = new Zone({ name: "cluster.local.", ttl: 5 });
	made.putNamespace("default");
	const put = (name: string, spec: object, slices: Parameters<Zone["putService"]>[0]["slices"] = []): void =>
		made.putService({ key: `default/${name}`, asOf: "1", service: service(name, spec), slices }, SERIAL);
	put("kubernetes", {
		clusterIP: "10.96.0.1",
		clusterIPs: ["10.96.0.1"],
		ports: [{ name: "https", protocol: "TCP", port: 443 }],
	});
	const named = ["web-0", "web-1"].map((hostname, i) => ({
		addresses: [`10.244.1.${10 + i}`],
		hostname,
		conditions: { ready: true },
	}));
	const unnamed = Array.from({ length: endpoints - 2 }, (_, i) => ({
		addresses: [`10.244.2.${10 + i}`],
		conditions: { ready: true },
	}));
	const slice = {
		apiVersion: "discovery.k8s.io/v1",
		kind: "EndpointSlice",
		metadata: meta("nginx-1"),
		addressType: "IPv4",
		endpoints: [...named, ...unnamed],
		ports: [{ name: "web", protocol: "TCP", port: 80 }],
	} as const;
	put("nginx", { clusterIP: "None" }, [slice]);
	put("db", { type: "ExternalName", externalName: "db.prod.example.net", clusterIP: "", ports: [] });
	return made;
}

const servers: DnsServer[] = [];
afterAll(() => {
	for (const server of servers) server.close();
});

async function served(made: Zone, upstreams: readonly number[] = [], isSynced = true): Promise<number> {
	const random = new SeededRandom(1);
	const hosts = upstreams.map((port) => ({ host: "127.0.0.1", port }));
	const ports = {
		zone: made,
		codec: dnsCodec,
		random,
		isSynced: () => isSynced,
		...(hosts.length === 0 ? {} : { upstreams: forwarder(hosts, random) }),
	};
	const server = new DnsServer({
		answer: (packet, transport) => answerPacket(ports, packet, transport),
		clock: new SystemClock(),
		metrics: silentMetrics,
	});
	servers.push(server);
	return server.listen("127.0.0.1", 0);
}

interface Dug {
	readonly status: string;
	readonly flags: string;
	/** Lines of records, with single spaces, sorted. */
	readonly answer: readonly string[];
	readonly authority: readonly string[];
	readonly additional: readonly string[];
	readonly text: string;
}

async function dug(port: number, ...args: readonly string[]): Promise<Dug> {
	const all = ["@127.0.0.1", "-p", String(port), "+nocookie", "+tries=1", "+time=3", ...args];
	const { stdout } = await promisify(execFile)("dig", all).catch((error: { stdout: string }) => error);
	const section = (name: string): readonly string[] => {
		const [, lines = ""] = new RegExp(`;; ${name} SECTION:\\n([^]*?)\\n\\n`).exec(stdout) ?? [];
		return lines
			.split("\n")
			.filter((line) => line !== "")
			.map((line) => line.replaceAll(/\s+/g, " "))
			.sort();
	};
	return {
		status: /status: (\w+)/.exec(stdout)?.[1] ?? "",
		flags: /flags: ([a-z ]+);/.exec(stdout)?.[1] ?? "",
		answer: section("ANSWER"),
		authority: section("AUTHORITY"),
		additional: section("ADDITIONAL"),
		text: stdout,
	};
}

describe.skipIf(!hasDig)("dig", () => {
	let port = 0;
	beforeAll(async () => {
		const upstream = new DnsServer({ answer: answeringOutside, clock: new SystemClock(), metrics: silentMetrics });
		servers.push(upstream);
		port = await served(zone(), [await upstream.listen("127.0.0.1", 0)]);
	});

	test.each<{
		name: string;
		type: string;
		status?: string;
		answer?: readonly string[];
		authority?: readonly string[];
		additional?: readonly string[];
	}>([
		{
			name: "kubernetes.default.svc.cluster.local",
			type: "A",
			answer: ["kubernetes.default.svc.cluster.local. 5 IN A 10.96.0.1"],
		},
		{ name: "kubernetes.default.svc.cluster.local", type: "AAAA", authority: [SOA] },
		{ name: "nosuch.default.svc.cluster.local", type: "A", status: "NXDOMAIN", authority: [SOA] },
		{
			name: "_https._tcp.kubernetes.default.svc.cluster.local",
			type: "SRV",
			answer: [
				"_https._tcp.kubernetes.default.svc.cluster.local. 5 IN SRV 0 100 443 kubernetes.default.svc.cluster.local.",
			],
			additional: ["kubernetes.default.svc.cluster.local. 5 IN A 10.96.0.1"],
		},
		{
			name: "nginx.default.svc.cluster.local",
			type: "A",
			answer: ["10.244.1.10", "10.244.1.11", "10.244.2.10"].map(
				(ip) => `nginx.default.svc.cluster.local. 5 IN A ${ip}`,
			),
		},
		{
			name: "web-0.nginx.default.svc.cluster.local",
			type: "A",
			answer: ["web-0.nginx.default.svc.cluster.local. 5 IN A 10.244.1.10"],
		},
		{
			name: "_web._tcp.nginx.default.svc.cluster.local",
			type: "SRV",
			answer: ["10-244-2-10", "web-0", "web-1"].map(
				(label) =>
					`_web._tcp.nginx.default.svc.cluster.local. 5 IN SRV 0 33 80 ${label}.nginx.default.svc.cluster.local.`,
			),
			additional: [
				"10-244-2-10.nginx.default.svc.cluster.local. 5 IN A 10.244.2.10",
				"web-0.nginx.default.svc.cluster.local. 5 IN A 10.244.1.10",
				"web-1.nginx.default.svc.cluster.local. 5 IN A 10.244.1.11",
			],
		},
		{
			name: "1.0.96.10.in-addr.arpa",
			type: "PTR",
			answer: ["1.0.96.10.in-addr.arpa. 5 IN PTR kubernetes.default.svc.cluster.local."],
		},
		{
			name: "db.default.svc.cluster.local",
			type: "A",
			answer: [
				"db.default.svc.cluster.local. 5 IN CNAME db.prod.example.net.",
				"db.prod.example.net. 60 IN A 192.0.2.53",
			],
		},
		{ name: "dns-version.cluster.local", type: "TXT", answer: ['dns-version.cluster.local. 28800 IN TXT "1.1.0"'] },
	])("$name $type comes out as the specification has it", async ({ name, type, ...wanted }) => {
		const { text: _, ...found } = await dug(port, name, type);
		expect(found).toEqual({
			status: "NOERROR",
			flags: "qr aa rd",
			answer: [],
			authority: [],
			additional: [],
			...wanted,
		});
	});

	test("what does not fit into a datagram is cut without EDNS, and comes whole with it or over TCP", async () => {
		const many = await served(zone(60));
		const cut = await dug(many, "+noedns", "+ignore", "+notcp", "nginx.default.svc.cluster.local", "A");
		expect([cut.flags, cut.answer.length < 60]).toEqual(["qr aa tc rd", true]);
		const whole = await dug(many, "+notcp", "+ignore", "nginx.default.svc.cluster.local", "A");
		expect([whole.flags, whole.answer.length]).toEqual(["qr aa rd", 60]);
		expect((await dug(many, "+tcp", "nginx.default.svc.cluster.local", "A")).answer).toHaveLength(60);
		const retried = await dug(many, "+noedns", "nginx.default.svc.cluster.local", "A");
		expect([retried.text.includes("Truncated, retrying in TCP mode"), retried.answer.length]).toEqual([true, 60]);
	});

	test("sliceplane dns answers for a cluster that a kubeconfig leads to, and follows it", async () => {
		const plane = await RunningPlane.start(["--network", "none", "--nodes", "0"]);
		const dns = spawn(process.execPath, [PROGRAM, "dns", "--listen", "127.0.0.1:0", "--kubeconfig", plane.kubeconfig]);
		try {
			let out = "";
			await new Promise<void>((ready, failed) => {
				dns.once("exit", (status) => failed(new Error(`exit ${status}`)));
				dns.stdout.on("data", (chunk) => {
					out += String(chunk);
					if (out.includes("\n")) ready();
				});
			});
			const at = Number(/DNS is ready: 127\.0\.0\.1:(\d+), UDP and TCP/.exec(out)?.[1]);
			const name = "kubernetes.default.svc.cluster.local";
			expect((await dug(at, name, "A")).answer).toEqual([`${name}. 5 IN A 10.96.0.1`]);
			const ended = once(dns, "exit");
			dns.kill("SIGTERM");
			expect((await ended)[0]).toBe(0);
		} finally {
			dns.kill("SIGKILL");
			await plane.stop();
		}
	});

	test("before the lists are there, a name that is not known is a failure and no answer", async () => {
		const early = await served(zone(), [], false);
		expect(await dug(early, "nosuch.default.svc.cluster.local", "A")).toMatchObject({
			status: "SERVFAIL",
			flags: "qr aa rd",
			authority: [SOA],
		});
	});

	test("names of other zones go to the other server, and are refused without one", async () => {
		expect(await dug(port, "db.prod.example.net", "A")).toMatchObject({
			status: "NOERROR",
			flags: "qr aa rd ra",
			answer: ["db.prod.example.net. 60 IN A 192.0.2.53"],
		});
		expect(await dug(await served(zone()), "db.prod.example.net", "A")).toMatchObject({ status: "REFUSED" });
	});
});

/** Knows one name, whatever it is asked. */
async function answeringOutside(packet: Uint8Array): Promise<Uint8Array | undefined> {
	const decoded = dnsCodec.decode(packet);
	if (decoded.kind !== "query") return undefined;
	const answer = { name: "db.prod.example.net.", ttl: 60, data: { type: "A", address: "192.0.2.53" } } as const;
	const isKnown = decoded.query.questions[0]?.name === answer.name;
	const response: Response = {
		query: decoded.query,
		rcode: isKnown ? "NOERROR" : "NXDOMAIN",
		isAuthoritative: true,
		isRecursionAvailable: true,
		answers: isKnown ? [answer] : [],
		authority: [],
		additional: [],
	};
	return dnsCodec.encode(response, 512);
}
