import { describe, expect, test } from "vitest";
import { type Decision, decisionFields } from "../plan/service-map/decision.ts";
import type { ServiceTable, TablePort } from "../plan/service-map/service-table.ts";
import { FakeNetwork } from "../testing/fake-network.ts";
import { RecordingMetrics } from "../testing/recording-metrics.ts";
import { SeededRandom } from "../testing/seeded.ts";
import { silentLogger } from "../testing/silent.ts";
import { tableOf } from "../testing/table-ports.ts";
import { settle, VirtualClock } from "../testing/virtual-clock.ts";
import type { ListenFailure } from "./front.ts";
import { NodeProxy } from "./node-proxy.ts";
import { LOOPBACK_HOSTS, UserspaceProxy } from "./userspace-proxy.ts";

const FRONT = "127.0.0.1:30080/TCP";

/** A table with endpoints 10.0.0.N:8080. */
function table(key: string, ends: readonly number[], more: Partial<TablePort> = {}): ServiceTable {
	const cluster = ends.map((n) => ({ ip: `10.0.0.${n}`, port: 8080 }));
	return tableOf(key, { nodePort: 30_080, cluster, ...more });
}

function harness() {
	const net = new FakeNetwork();
	const clock = new VirtualClock();
	const metrics = new RecordingMetrics();
	const failures: string[] = [];
	const decisions: Record<string, unknown>[] = [];
	const random = new SeededRandom(1);
	const own = { addresses: Object.values(LOOPBACK_HOSTS), clusterCIDRs: [], serviceCIDRs: [] };
	const node = new NodeProxy(own, { clock, random });
	const ports = {
		listeners: net,
		dialer: net,
		datagrams: net,
		streams: net,
		healthChecks: net,
		asNode: "",
		decided: (decision: Decision) => decisions.push(decisionFields(decision)),
		clock,
		random,
		log: silentLogger,
		metrics,
		listenFailed: ({ serviceKey, portName, problem }: ListenFailure) =>
			failures.push(`${serviceKey}:${portName} ${problem}`),
	};
	const proxy = new UserspaceProxy<string>(ports, () => node);
	const remove = (key: string): void => {
		node.remove(key);
		proxy.serve(key);
	};
	const put = async (...tables: ServiceTable[]): Promise<void> => {
		for (const one of tables) {
			node.put(one);
			proxy.serve(one.key);
		}
		await proxy.settled();
	};
	return { net, clock, metrics, failures, decisions, proxy, put, remove };
}

describe("UserspaceProxy", () => {
	test("listens while there are endpoints, and refuses otherwise", async () => {
		const { net, put, metrics } = harness();
		await put(table("default/web", []));
		expect(net.listening).toEqual([]);
		await put(table("default/web", [1]));
		expect(net.listening).toEqual([FRONT]);
		await put(table("default/web", [1, 2]));
		await put(table("default/web", []));
		expect(net.told).toEqual([`open ${FRONT}`, `close ${FRONT}`]);
		await put(table("default/web", [3]));
		expect([net.listening, metrics.values.get("sliceplane_proxy_listeners")]).toEqual([[FRONT], 1]);
	});

	test("carries datagrams, and lets a flow go when its endpoint serves no more", async () => {
		const { net, put, remove } = harness();
		const udp = { protocol: "UDP", servingIPs: ["10.0.0.1"] } as const;
		await put(table("default/dns", [1], udp));
		net.sendDatagram("127.0.0.1:30080/UDP", { ip: "127.0.0.1", port: 4000 }, Uint8Array.of(7));
		await put(table("default/dns", [2], { ...udp, servingIPs: ["10.0.0.2"] }));
		remove("default/dns");
		expect(net.told).toEqual([
			"open 127.0.0.1:30080/UDP",
			"flow 10.0.0.1:8080",
			"127.0.0.1:4000 gets 7",
			"close 10.0.0.1:8080",
			"close 127.0.0.1:30080/UDP",
		]);
	});

	test.each<{ rule: string; more: Partial<TablePort>; listening: string[] }>([
		{ rule: "a port without a node port", more: { nodePort: 0 }, listening: [] },
		{ rule: "UDP", more: { protocol: "UDP" }, listening: ["127.0.0.1:30080/UDP"] },
		{ rule: "SCTP, which needs the kernel", more: { protocol: "SCTP" }, listening: [] },
		{ rule: "IPv6, on the loopback address of its family", more: { family: "IPv6" }, listening: ["[::1]:30080/TCP"] },
		{
			rule: "policy Local, for which loopback is the node itself",
			more: { isExternalLocal: true },
			listening: [FRONT],
		},
	])("knows $rule", async ({ more, listening }) => {
		const { net, put } = harness();
		await put(table("default/web", [1], more));
		expect(net.listening).toEqual(listening);
	});

	test("sends new connections to all endpoints in turn, and none to one that is gone", async () => {
		const { net, put, metrics } = harness();
		await put(table("default/web", [1, 2]));
		for (const _ of [1, 2, 3, 4]) net.connect(FRONT);
		await settle();
		const spliced = net.told.filter((line) => line.startsWith("splice")).map((line) => line.split(" ")[2]);
		expect(spliced.toSorted()).toEqual(["10.0.0.1:8080", "10.0.0.1:8080", "10.0.0.2:8080", "10.0.0.2:8080"]);
		net.told.length = 0;
		await put(table("default/web", [2]));
		for (const _ of [1, 2]) net.connect(FRONT);
		await settle();
		expect(net.told.filter((line) => line.startsWith("dial"))).toEqual(["dial 10.0.0.2:8080", "dial 10.0.0.2:8080"]);
		expect(net.told.filter((line) => line.startsWith("reset"))).toEqual([]);
		net.end("c1");
		expect(metrics.values.get("sliceplane_proxy_connections_open")).toBe(5);
		expect(metrics.values.get("sliceplane_proxy_connections_total{result=forwarded}")).toBe(6);
	});

	test("goes to the next endpoint when one refuses, at once, and when one is silent, after its time", async () => {
		const { net, put, clock } = harness();
		net.refusing.add("10.0.0.1:8080");
		await put(table("default/web", [1, 2]));
		net.connect(FRONT);
		net.connect(FRONT);
		await settle();
		expect(net.told.filter((line) => line.startsWith("splice"))).toEqual([
			"splice c1 10.0.0.2:8080",
			"splice c2 10.0.0.2:8080",
		]);
		net.refusing.clear();
		net.silent.add("10.0.0.1:8080");
		net.connect(FRONT);
		net.connect(FRONT);
		await clock.advance(249);
		expect(net.told.filter((line) => line.startsWith("splice"))).toHaveLength(3);
		await clock.advance(1);
		expect(net.told.filter((line) => line.startsWith("splice"))).toHaveLength(4);
	});

	test("resets the client after four attempts, 250 ms, 500 ms, 1 s and 2 s long", async () => {
		const { net, put, clock, metrics } = harness();
		net.silent.add("10.0.0.1:8080");
		await put(table("default/web", [1]));
		net.connect(FRONT);
		const dialsAfter = async (ms: number): Promise<number> => {
			await clock.advance(ms);
			return net.told.filter((line) => line.startsWith("dial")).length;
		};
		expect([await dialsAfter(249), await dialsAfter(1), await dialsAfter(500), await dialsAfter(1_000)]).toEqual([
			1, 2, 3, 4,
		]);
		await clock.advance(1_999);
		expect(net.told).not.toContain("reset c1");
		await clock.advance(1);
		expect(net.told.at(-1)).toBe("reset c1");
		expect(metrics.values.get("sliceplane_proxy_connections_total{result=reset}")).toBe(1);
	});

	test("tells once that a port is taken, and tries again with back-off until it is free", async () => {
		const { net, put, clock, failures } = harness();
		net.taken.add(FRONT);
		await put(table("default/web", [1]));
		expect(failures).toEqual(["default/web:http address-in-use"]);
		await clock.advance(500 + 1_000 + 2_000);
		expect(net.told).toHaveLength(4);
		await put(table("default/web", [1, 2]));
		expect([net.told.length, failures.length]).toEqual([4, 1]);
		net.taken.clear();
		await clock.advance(4_000);
		expect(net.listening).toEqual([FRONT]);
	});

	test("stops trying when the endpoints go", async () => {
		const { net, put, clock } = harness();
		net.taken.add(FRONT);
		await put(table("default/web", [1]));
		await put(table("default/web", []));
		await clock.advance(60_000);
		expect(net.told).toEqual([`taken ${FRONT}`]);
	});

	test("hands a node port from one Service to another, in whatever order it is told", async () => {
		const { net, put, proxy, remove } = harness();
		await put(table("default/a", [1]));
		await put(table("default/b", [2]), table("default/a", [1], { nodePort: 30081 }));
		net.connect(FRONT);
		await settle();
		expect(net.told).toContain("splice c1 10.0.0.2:8080");
		remove("default/b");
		await proxy.settled();
		expect(net.listening).toEqual(["127.0.0.1:30081/TCP"]);
	});

	test("removed and put again while its listener is opening, it has one listener and no trouble", async () => {
		const { net, proxy, failures, put, remove } = harness();
		const first = put(table("default/web", [1]));
		remove("default/web");
		await Promise.all([first, put(table("default/web", [2]))]);
		await settle();
		expect([net.listening, failures]).toEqual([[FRONT], []]);
		proxy.stop();
		expect(net.listening).toEqual([]);
	});

	test("answers a health check node port as long as the Service has one, with endpoints or without", async () => {
		const { net, put, remove } = harness();
		const local = table("default/web", [], { isExternalLocal: true, healthCheckNodePort: 32_000 });
		await put(local);
		expect(net.listening).toEqual(["127.0.0.1:32000/TCP"]);
		net.connect("127.0.0.1:32000/TCP");
		await put({ ...local, localReady: 1 });
		net.connect("127.0.0.1:32000/TCP");
		expect(net.told.slice(1)).toEqual(["health 503 for c1", "health 200 for c2"]);
		remove("default/web");
		expect(net.listening).toEqual([]);
	});

	test("opens the same number for a node port after it was a health check's", async () => {
		const { net, clock, put, remove } = harness();
		await put(table("default/web", [1], { nodePort: 0, isExternalLocal: true, healthCheckNodePort: 32_000 }));
		remove("default/web");
		await put(table("default/shop", [1], { nodePort: 32_000 }));
		await clock.advance(500);
		net.connect("127.0.0.1:32000/TCP");
		await settle();
		expect(net.told.at(-1)).toBe("splice c1 10.0.0.1:8080");
	});

	test("listens on a load balancer's own ports too, and carries what comes there", async () => {
		const { net, put } = harness();
		await put(table("default/web", [1], { port: 8080, loadBalancerVIPs: ["203.0.113.1"] }));
		expect(net.listening).toEqual([FRONT, "127.0.0.1:8080/TCP"]);
		net.connect("127.0.0.1:8080/TCP");
		await settle();
		expect(net.told.at(-1)).toBe("splice c1 10.0.0.1:8080");
	});

	test("does not listen there when the source ranges let nobody of this machine in", async () => {
		const { net, put } = harness();
		const ranged = { port: 8080, loadBalancerVIPs: ["203.0.113.1"], hasSourceRanges: true };
		await put(table("default/web", [1], { ...ranged, loadBalancerSourceRanges: ["198.51.100.0/24"] }));
		expect(net.listening).toEqual([FRONT]);
		await put(table("default/web", [1], { ...ranged, loadBalancerSourceRanges: ["127.0.0.0/8"] }));
		expect(net.listening).toEqual([FRONT, "127.0.0.1:8080/TCP"]);
	});

	test("tells what was decided of each connection", async () => {
		const { net, put, decisions } = harness();
		net.refusing.add("10.0.0.1:8080");
		net.refusing.add("10.0.0.2:8080");
		await put(table("default/web", [1, 2, 3]));
		for (const _ of [1, 2, 3]) net.connect(FRONT);
		await settle();
		await put(table("default/web", [3]));
		net.connect(FRONT);
		await settle();
		const shown = { service: "default/web", asked: FRONT, verdict: "forward", endpoint: "10.0.0.3:8080" };
		expect(decisions.slice(0, 3).every(({ by }) => by === "round robin")).toBe(true);
		expect(decisions.flatMap(({ failed = [] }) => failed)).toContain("10.0.0.1:8080: ECONNREFUSED");
		expect(decisions.at(-1)).toMatchObject({ ...shown, by: "the only one" });
	});
});
