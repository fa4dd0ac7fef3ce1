import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { ProbeTarget } from "../kubelet/ports.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import type { EchoPod } from "./echo-pod.ts";
import { EchoPods } from "./echo-pods.ts";
import { memoryPair } from "./memory-pair.ts";
import { PodProber } from "./pod-prober.ts";

type Action = ProbeTarget["action"];

const IP = "10.244.0.2";
const HTTP = { kind: "http", host: "", port: 80, path: "/", scheme: "HTTP", headers: [] } as const;
const GRPC = { kind: "grpc", port: 50_051, service: "" } as const;

function prober(more: Partial<EchoPod> = {}) {
	const lines: string[] = [];
	const pods = new EchoPods({ clock: new VirtualClock(), answered: ({ text }) => lines.push(text) });
	pods.put({
		key: "default/p",
		uid: "u",
		name: "p",
		namespace: "default",
		nodeName: "n1",
		ips: [IP, "fd00::2"],
		labels: {},
		ports: [],
		isReady: true,
		isTerminating: false,
		...more,
	});
	const made = new PodProber({
		whenTold: () => Promise.resolve(),
		async dial(ip, port, signal) {
			// An address that drops what is sent to it, as a firewall does.
			if (ip === "10.244.0.9")
				await new Promise((_, reject) => signal.addEventListener("abort", reject, { once: true }));
			const stream = pods.connect(ip, port);
			if (stream === undefined) throw new Error("connect ECONNREFUSED");
			return stream;
		},
	});
	const probe = async (action: Action, ip = IP, timeoutMs = 5_000): Promise<string> => {
		const over = new AbortController();
		const done = new AbortController();
		void sleep(timeoutMs, undefined, { signal: done.signal }).then(
			() => over.abort(new Error("timeout")),
			() => undefined,
		);
		const { isSuccess, message } = await made.probe({ ip, action, timeoutMs }, over.signal);
		done.abort();
		return isSuccess ? `yes${message}` : message;
	};
	return { probe, lines };
}

describe("a probe", () => {
	test.each<{ action: Action; says: string; ip?: string; timeoutMs?: number }>([
		{ action: { ...HTTP, path: "/healthz" }, says: "yes" },
		{ action: { ...HTTP, path: "status/399" }, says: "yes" },
		{ action: { ...HTTP, path: "/status/400" }, says: "HTTP probe failed with statuscode: 400" },
		{
			action: { ...HTTP, path: "/x?y=1" },
			ip: "10.244.0.3",
			says: 'Get "http://10.244.0.3:80/x?y=1": dial tcp 10.244.0.3:80: connect: connection refused',
		},
		{
			action: { ...HTTP, path: "/delay?ms=900" },
			ip: "fd00::2",
			timeoutMs: 50,
			says: 'Get "http://[fd00::2]:80/delay?ms=900": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
		},
		{ action: { kind: "tcp", host: "", port: 1 }, says: "yes" },
		{
			action: { kind: "tcp", host: "10.244.0.3", port: 1 },
			says: "dial tcp 10.244.0.3:1: connect: connection refused",
		},
		{ action: { kind: "tcp", host: "10.244.0.9", port: 1 }, timeoutMs: 20, says: "dial tcp 10.244.0.9:1: i/o timeout" },
		{ action: GRPC, says: "yes" },
		{
			action: GRPC,
			ip: "10.244.0.3",
			says: 'timeout: failed to connect service "10.244.0.3:50051" within 5s: context deadline exceeded',
		},
	])("$action of $ip says $says", async ({ action, says, ip, timeoutMs }) => {
		expect(await prober().probe(action, ip, timeoutMs)).toBe(says);
	});

	test("by gRPC says what the server says", async () => {
		const { probe } = prober({ isReady: false });
		expect(await probe(GRPC)).toBe('service unhealthy (responded with "NOT_SERVING")');
	});

	test("by HTTPS fails where nobody speaks TLS", async () => {
		const says = 'Get "https://10.244.0.2:80/": http: server gave HTTP response to HTTPS client';
		expect(await prober().probe({ ...HTTP, scheme: "HTTPS" }, IP, 500)).toBe(says);
		const [client, server] = memoryPair();
		server.once("data", () => server.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
		const made = new PodProber({ whenTold: () => Promise.resolve(), dial: () => Promise.resolve(client) });
		const action = { ...HTTP, scheme: "HTTPS" } as const;
		const outcome = made.probe({ ip: IP, action, timeoutMs: 1_000 }, new AbortController().signal);
		expect(await outcome).toEqual({ isSuccess: false, message: says });
	});

	test("by HTTP carries the spec's headers, which replace its own", async () => {
		const [client, server] = memoryPair();
		const made = new PodProber({ whenTold: () => Promise.resolve(), dial: () => Promise.resolve(client) });
		const headers = [
			["Host", "shop.example"],
			["X-A", "1"],
			["X-A", "2"],
		] as const;
		const action = { ...HTTP, headers, path: "/up" };
		const outcome = made.probe({ ip: IP, action, timeoutMs: 1_000 }, new AbortController().signal);
		const [asked] = await once(server, "data");
		server.end("HTTP/1.1 204 No Content\r\n\r\n");
		expect(await outcome).toEqual({ isSuccess: true, message: "" });
		expect(String(asked).trimEnd().split("\r\n").sort()).toEqual([
			"GET /up HTTP/1.1",
			"accept: */*",
			"connection: close",
			"host: shop.example",
			"user-agent: kube-probe/1.36",
			"x-a: 1",
			"x-a: 2",
		]);
	});
});
