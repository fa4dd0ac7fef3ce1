/** Pods listen on loopback, for as long as they are there. */
import type { Duplex } from "node:stream";
import { expect, test } from "vitest";
import { assertDefined } from "../kernel/assert.ts";
import type { DatagramListener, Peer } from "../proxy/datagrams.ts";
import { type Accepted, addressText, type ListenAddress, type OpenResult } from "../proxy/ports.ts";
import { silentLogger } from "../testing/silent.ts";
import type { EchoPod } from "./echo-pod.ts";
import { memoryPair } from "./memory-pair.ts";
import { loopbackOf, PodListeners, type PodListenersPorts } from "./pod-listeners.ts";

const POD: EchoPod = {
	key: "demo/web-1",
	uid: "u1",
	name: "web-1",
	namespace: "demo",
	nodeName: "n1",
	ips: ["10.244.1.7", "fd00::7"],
	labels: {},
	ports: [
		{ port: 8080, protocol: "TCP" },
		{ port: 53, protocol: "UDP" },
	],
	isReady: true,
	isTerminating: false,
};

function harness(more: Partial<PodListenersPorts> = {}) {
	const open = new Set<string>();
	const refused = new Set<string>();
	const clients = new Map<string, (client: Accepted<Duplex>) => void>();
	const datagrams = new Map<string, (from: Peer, bytes: Uint8Array, listener: DatagramListener) => void>();
	const dialled: string[] = [];
	const opened = async (address: ListenAddress): Promise<OpenResult> => {
		const text = addressText(address);
		if (refused.has(text)) return { kind: "failed", problem: "address-in-use", message: "EADDRINUSE" };
		open.add(text);
		return { kind: "open", listener: { port: address.port, close: () => open.delete(text) } };
	};
	const warnings: unknown[] = [];
	const log = { ...silentLogger, warn: (_: string, fields?: unknown) => warnings.push(fields) };
	const listeners = new PodListeners({
		listeners: {
			open: (address, onConnection) => {
				clients.set(addressText(address), onConnection);
				return opened(address);
			},
		},
		datagrams: {
			openDatagrams: (address, received) => {
				datagrams.set(addressText(address), received);
				return opened(address);
			},
		},
		dialer: {
			dial: async ({ ip, port }) => {
				dialled.push(`${ip}:${port}`);
				return { kind: "connected", stream: memoryPair()[0] };
			},
		},
		answerDatagram: (ip, _port, bytes) => (ip === "10.244.1.7" ? bytes : undefined),
		log,
		hostsOf: loopbackOf,
		...more,
	});
	return { open, refused, clients, datagrams, dialled, warnings, listeners };
}

test("a pod listens at 127 for 10, on the ports that its containers name, until it is gone", async () => {
	const { open, listeners } = harness();
	await listeners.put(POD);
	expect([...open].sort()).toEqual(["127.244.1.7:53/UDP", "127.244.1.7:8080/TCP"]);
	listeners.remove(POD.key);
	expect(open.size).toBe(0);
});

test("what connects there comes to the pod, and datagrams are answered", async () => {
	const { clients, datagrams, dialled, listeners } = harness();
	await listeners.put(POD);
	assertDefined(clients.get("127.244.1.7:8080/TCP"), "listener")({ stream: memoryPair()[1], ip: "127.0.0.1" });
	await Promise.resolve();
	expect(dialled).toEqual(["10.244.1.7:8080"]);
	const answers: Uint8Array[] = [];
	const peer = { ip: "127.0.0.1", port: 9 };
	assertDefined(datagrams.get("127.244.1.7:53/UDP"), "socket")(peer, new Uint8Array([1]), {
		send: (_, bytes) => answers.push(bytes),
	});
	expect(answers).toEqual([new Uint8Array([1])]);
});

test("a change that moves nothing leaves its listeners, and another pod of the name has its own", async () => {
	const { open, listeners } = harness();
	await listeners.put(POD);
	await listeners.put({ ...POD, isReady: false });
	await listeners.put({ ...POD, uid: "u2", ips: ["10.244.2.1"] });
	expect([...open].sort()).toEqual(["127.244.2.1:53/UDP", "127.244.2.1:8080/TCP"]);
});

test("a pod that is gone before it listens leaves nothing behind", async () => {
	const { open, listeners } = harness();
	const listening = listeners.put(POD);
	listeners.stop();
	await listening;
	expect(open.size).toBe(0);
});

test("an address that is taken is told, and costs no other", async () => {
	const { open, refused, warnings, listeners } = harness();
	refused.add("127.244.1.7:8080/TCP");
	await listeners.put(POD);
	expect([...open]).toEqual(["127.244.1.7:53/UDP"]);
	expect(warnings).toEqual([{ pod: "demo/web-1", address: "127.244.1.7:8080/TCP", why: "EADDRINUSE" }]);
});

test("a port that is added is listened on beside the others", async () => {
	const { open, listeners } = harness({ hostsOf: (ip) => [ip] });
	await listeners.put({ ...POD, ips: ["10.244.1.7"], ports: [{ port: 80, protocol: "TCP" }] });
	await listeners.put({
		...POD,
		ips: ["10.244.1.7"],
		ports: [
			{ port: 80, protocol: "TCP" },
			{ port: 81, protocol: "TCP" },
		],
	});
	expect([...open].sort()).toEqual(["10.244.1.7:80/TCP", "10.244.1.7:81/TCP"]);
});

test("a pod that terminated listens a little longer, unless another one has its address", async () => {
	const { open, listeners } = harness({ lingerMs: 60_000 });
	await listeners.put({ ...POD, isTerminating: true });
	listeners.remove(POD.key);
	expect(open.size).toBe(2);
	await listeners.put({ ...POD, key: "demo/web-2", uid: "u2" });
	listeners.remove("demo/web-2");
	expect(open.size).toBe(0);
});
