import { expect, test } from "vitest";
import type { Target } from "../plan/service-map/service-table.ts";
import { endpointText } from "../plan/service-map/slice-endpoints.ts";
import { SeededRandom } from "../testing/seeded.ts";
import { silentMetrics } from "../testing/silent.ts";
import { tableOf, targets } from "../testing/table-ports.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { NodeProxy } from "./node-proxy.ts";
import { UdpSessions } from "./udp-sessions.ts";

const DNS = { ip: "10.96.0.53", port: 53, protocol: "UDP" } as const;
const port = { protocol: "UDP", clusterIP: "10.96.0.53", port: 53 } as const;

function harness() {
	const clock = new VirtualClock();
	const proxy = new NodeProxy(
		{ addresses: [], clusterCIDRs: [], serviceCIDRs: [] },
		{ clock, random: new SeededRandom(1) },
	);
	const told: string[] = [];
	const decided: string[] = [];
	const refusals: (() => void)[] = [];
	const gone = new Set<string>();
	const sessions = new UdpSessions({
		clock,
		metrics: silentMetrics,
		attempt: ({ ip }) => proxy.attempt(DNS, { ip, place: "pod" }),
		decided: ({ port: from }, { route }, target) =>
			decided.push(`${from} ${target === undefined ? route.kind : endpointText(target)}`),
		serves: (target: Target) => !gone.has(endpointText(target)),
		dialer: {
			openFlow(target, { answered, refused }) {
				const text = endpointText(target);
				told.push(`open ${text}`);
				refusals.push(refused);
				return {
					send: (bytes) => {
						told.push(`${text} gets ${bytes.join()}`);
						answered(Uint8Array.of(0, ...bytes));
					},
					close: () => told.push(`close ${text}`),
				};
			},
		},
	});
	const listener = {
		send: ({ ip, port: to }: { ip: string; port: number }, bytes: Uint8Array) =>
			told.push(`${ip}:${to} gets ${bytes.join()}`),
	};
	const send = (from: number, byte: number): void =>
		sessions.receive({ ip: "10.244.1.1", port: from }, Uint8Array.of(byte), listener);
	return { clock, proxy, sessions, told, decided, gone, refusals, send };
}

test("a client keeps its endpoint, and gets its answers where it sent from", () => {
	const { proxy, told, send } = harness();
	proxy.put(tableOf("demo/dns", { ...port, cluster: targets(1) }));
	send(4000, 1);
	send(4000, 2);
	expect(told).toEqual([
		"open 10.244.0.1:8080",
		"10.244.0.1:8080 gets 1",
		"10.244.1.1:4000 gets 0,1",
		"10.244.0.1:8080 gets 2",
		"10.244.1.1:4000 gets 0,2",
	]);
});

test("clients are spread over the endpoints, each port of an address for itself", () => {
	const { proxy, told, send } = harness();
	proxy.put(tableOf("demo/dns", { ...port, cluster: targets(1, 2) }));
	send(4000, 1);
	send(4001, 1);
	expect(told.filter((line) => line.startsWith("open")).sort()).toEqual([
		"open 10.244.0.1:8080",
		"open 10.244.0.2:8080",
	]);
});

test("a flow is closed when its endpoint serves no more, and the next datagram goes elsewhere", () => {
	const { proxy, sessions, told, gone, send } = harness();
	proxy.put(tableOf("demo/dns", { ...port, cluster: targets(1) }));
	send(4000, 1);
	proxy.put(tableOf("demo/dns", { ...port, cluster: targets(2) }));
	sessions.review();
	expect(sessions.size).toBe(1);
	gone.add("10.244.0.1:8080");
	sessions.review();
	send(4000, 2);
	expect(told.filter((line) => !line.includes("gets"))).toEqual([
		"open 10.244.0.1:8080",
		"close 10.244.0.1:8080",
		"open 10.244.0.2:8080",
	]);
});

test("a refusal ends the flow, so that the next datagram picks anew", () => {
	const { proxy, sessions, refusals, send } = harness();
	proxy.put(tableOf("demo/dns", { ...port, cluster: targets(1) }));
	send(4000, 1);
	refusals[0]?.();
	expect(sessions.size).toBe(0);
});

test("a flow with answers lives for two minutes of silence, and nothing is left behind", async () => {
	const { clock, proxy, sessions, send } = harness();
	proxy.put(tableOf("demo/dns", { ...port, cluster: targets(1) }));
	send(4000, 1);
	await clock.advance(110_000);
	expect(sessions.size).toBe(1);
	await clock.advance(20_000);
	expect([sessions.size, clock.sleepers]).toEqual([0, 0]);
});

test("nobody there: the datagram is lost, and nothing is kept", () => {
	const { sessions, clock, send } = harness();
	send(4000, 1);
	expect([sessions.size, clock.sleepers]).toEqual([0, 0]);
});

test("tells what was decided of each new flow, not of each datagram, and of a client that is refused now and then", async () => {
	const { clock, proxy, decided, send } = harness();
	proxy.put(tableOf("demo/dns", port));
	send(4000, 1);
	send(4000, 2);
	proxy.put(tableOf("demo/dns", { ...port, cluster: targets(1) }));
	for (const from of [4000, 4000, 4001]) send(from, 3);
	expect(decided).toEqual(["4000 reject", "4000 10.244.0.1:8080", "4001 10.244.0.1:8080"]);
	proxy.put(tableOf("demo/dns", port));
	for (let second = 0; second < 60; second++) {
		send(4002, 4);
		await clock.advance(1_000);
	}
	expect(decided.slice(3)).toEqual(["4002 reject", "4002 reject"]);
});
