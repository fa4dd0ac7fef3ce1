import { beforeEach, describe, expect, test } from "vitest";
import type { IPFamily } from "../api/types/meta.ts";
import { CONTAINER_NAMES } from "../plan/nft/base-ruleset.ts";
import { type NftConfig, podsByRange } from "../plan/nft/config.ts";
import type { Listing } from "../plan/nft/nft-state.ts";
import type { NftElement } from "../plan/nft/objects.ts";
import type { Flow } from "../plan/service-map/stale-flows.ts";
import { NftModel } from "../testing/nft-model.ts";
import { RecordingMetrics } from "../testing/recording-metrics.ts";
import { silentLogger } from "../testing/silent.ts";
import { tableOf, targets } from "../testing/table-ports.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { FamilyRules } from "./family-rules.ts";
import { KernelProxy } from "./kernel-proxy.ts";
import type { KernelRules, LoadResult } from "./kernel-rules.ts";

const localPods = podsByRange("IPv4", ["10.244.0.0/16"]);
const CONFIG: NftConfig = {
	family: "IPv4",
	table: "t",
	nodeAddresses: ["192.168.50.1"],
	nodeName: "n1",
	...(localPods === undefined ? {} : { localPods }),
	serviceCIDRs: [],
	masqueradeAll: false,
	masqueradeBit: 14,
	hash: () => "HASH",
};
const CHAIN = "service-HASH-a/web/tcp/http";

class FakeKernel implements KernelRules {
	model: NftModel = new NftModel();
	readonly texts: string[] = [];
	refusals = 0;

	load(text: string): Promise<LoadResult> {
		if (this.refusals > 0) {
			this.refusals--;
			return Promise.resolve({ kind: "failed", message: "Error: no" });
		}
		this.model.load(text);
		this.texts.push(text);
		return Promise.resolve({ kind: "loaded" });
	}

	chains(): Promise<readonly string[]> {
		return Promise.resolve(this.model.chainNames);
	}

	list(): Promise<Listing | undefined> {
		const { chainNames } = this.model;
		if (chainNames.length === 0) return Promise.resolve(undefined);
		const elements = this.#elements().filter(({ container }) => container !== "nodeport-ips");
		return Promise.resolve({ chains: chainNames, affinitySets: [], elements });
	}

	elements(): Promise<readonly NftElement[]> {
		return Promise.resolve(this.#elements());
	}

	ruleCounts(): Promise<ReadonlyMap<string, number>> {
		return Promise.resolve(new Map(this.model.chainNames.map((name) => [name, this.model.rulesOf(name).length])));
	}

	#elements(): readonly NftElement[] {
		return CONTAINER_NAMES.flatMap((container) =>
			[...this.model.elementsOf(container)].map(([key, verdict]) => ({
				container,
				key,
				...(verdict === "" ? {} : { verdict }),
			})),
		);
	}
}

let clock: VirtualClock;
let kernel: FakeKernel;
let proxy: KernelProxy;
let stopping: AbortController;
let metrics: RecordingMetrics;
let warnings: string[];
let flowsTo: readonly Flow[];
let cuts: string[];

function start(minSyncPeriodMs = 1_000): void {
	const rules = new FamilyRules(CONFIG, kernel, clock);
	const cut = (_: IPFamily, cutFlows: readonly Flow[]): Promise<number> => {
		for (const { originalDestination } of cutFlows) cuts.push(originalDestination);
		return Promise.resolve(cutFlows.length);
	};
	const flows = { list: () => Promise.resolve(flowsTo), cut };
	const log = { ...silentLogger, warn: (message: string) => warnings.push(message) };
	const ports = { clock, log, metrics, flows };
	proxy = new KernelProxy([rules], ports, { minSyncPeriodMs, syncPeriodMs: 30_000, nodeAddresses: ["192.168.50.1"] });
	stopping = new AbortController();
	proxy.put(tableOf("a/web", { cluster: targets(1) }));
	void proxy.run(stopping.signal);
}

beforeEach(() => {
	clock = new VirtualClock();
	kernel = new FakeKernel();
	metrics = new RecordingMetrics();
	warnings = [];
	flowsTo = [];
	cuts = [];
});

describe("KernelProxy", () => {
	test("loads the fixed rules and all Services at the start, and says when they are there", async () => {
		start();
		await proxy.synced();
		expect(kernel.model.rulesOf(CHAIN)).toEqual(["meta l4proto tcp dnat to 10.244.0.1:8080"]);
		expect(kernel.texts).toHaveLength(2);
		expect(proxy.pendingSinceMs).toBeUndefined();
		stopping.abort();
	});

	test("takes the first change after a quiet time at once, and those of the next second together", async () => {
		start();
		await proxy.synced();
		await clock.advance(5_000);
		proxy.put(tableOf("a/web", { cluster: targets(1, 2) }));
		await clock.advance(0);
		expect(kernel.texts).toHaveLength(3);
		proxy.put(tableOf("a/web", { cluster: targets(1, 2, 3) }));
		proxy.put(tableOf("a/web", { cluster: targets(1, 2, 3, 4) }));
		await clock.advance(999);
		expect(kernel.texts).toHaveLength(3);
		await clock.advance(1);
		expect(kernel.texts).toHaveLength(4);
		expect(kernel.model.rulesOf(CHAIN)[0]).toContain("mod 4");
		stopping.abort();
	});

	test("tries again after a refusal, reading what the kernel has", async () => {
		start(0);
		await proxy.synced();
		kernel.refusals = 2;
		proxy.put(tableOf("a/web", { cluster: targets(1, 2) }));
		await clock.advance(0);
		expect(kernel.model.rulesOf(CHAIN)[0]).toContain("10.244.0.1:8080");
		expect(proxy.pendingSinceMs).not.toBeUndefined();
		await clock.advance(30_000);
		expect(kernel.model.rulesOf(CHAIN)[0]).toContain("mod 2");
		expect(proxy.pendingSinceMs).toBeUndefined();
		stopping.abort();
	});

	test("writes all anew at once when a small change does not fit what is there", async () => {
		start(0);
		await proxy.synced();
		kernel.model = new NftModel();
		kernel.refusals = 1;
		proxy.put(tableOf("a/web", { cluster: targets(1, 2) }));
		await clock.advance(0);
		expect(kernel.model.rulesOf(CHAIN)[0]).toContain("mod 2");
		stopping.abort();
	});

	test("finds within the sync period that somebody flushed the rules, and writes them anew", async () => {
		start();
		await proxy.synced();
		kernel.model = new NftModel();
		await clock.advance(30_000);
		expect(kernel.model.rulesOf(CHAIN)).toEqual(["meta l4proto tcp dnat to 10.244.0.1:8080"]);
		stopping.abort();
	});

	const foreign: readonly (readonly [string, string])[] = [
		["rules of a Service's chain", `flush chain ip t ${CHAIN}`],
		["rules of a fixed chain", "flush chain ip t services"],
		["a hook", "delete chain ip t nat-postrouting"],
		["an element", "delete element ip t service-ips { 10.96.0.10 . tcp . 80 }"],
		["addresses of node ports", "flush set ip t nodeport-ips"],
		["nothing, and added an element", "add element ip t cluster-ips { 10.96.0.99 }"],
		["nothing, and added a rule", "add rule ip t services drop"],
	];
	test.each(foreign)("repairs within the sync period when somebody took away %s, and warns once", async (_, line) => {
		start();
		await proxy.synced();
		const before = kernel.model.snapshot;
		await clock.advance(30_000);
		expect([kernel.texts.length, warnings]).toEqual([2, []]);
		kernel.model.load(line);
		expect(kernel.model.snapshot).not.toEqual(before);
		await clock.advance(30_000);
		expect(kernel.model.snapshot).toEqual(before);
		await clock.advance(60_000);
		expect(warnings).toEqual(["Rules were changed by somebody else; all are written anew"]);
		stopping.abort();
	});

	test("leaves out looks of 2 seconds until they take no more than a hundredth of the time", async () => {
		start();
		await proxy.synced();
		const counts = kernel.ruleCounts.bind(kernel);
		let looks = 0;
		kernel.ruleCounts = async () => {
			looks++;
			await clock.sleep(2_000);
			return counts();
		};
		await clock.advance(33_000);
		expect(looks).toBe(1);
		await clock.advance(190_000);
		expect(looks).toBe(1);
		await clock.advance(40_000);
		expect(looks).toBe(2);
		stopping.abort();
	});

	test("takes over the rules of the one before it without a moment in which a Service has none", async () => {
		start();
		await proxy.synced();
		stopping.abort();
		const before = kernel.texts.length;
		start();
		await proxy.synced();
		const texts = kernel.texts.slice(before).join("");
		expect(texts).not.toContain("delete element");
		expect(texts).not.toContain("flush map");
		expect(kernel.model.elementsOf("service-ips").get("10.96.0.10 . tcp . 80")).toBe(`goto ${CHAIN}`);
		stopping.abort();
	});

	test("observes how long a change took to be in the kernel, once, and not what was before its start", async () => {
		start(0);
		await proxy.synced();
		const name = "kubeproxy_network_programming_duration_seconds";
		const table = tableOf("a/web", { cluster: targets(1, 2) });
		proxy.put({ ...table, triggeredMs: clock.wallMs() - 60_000 });
		await clock.advance(0);
		expect(metrics.values.get(name)).toBeUndefined();
		proxy.put({ ...table, triggeredMs: clock.wallMs() });
		await clock.advance(0);
		proxy.put({ ...tableOf("a/web", { cluster: targets(1) }), triggeredMs: clock.wallMs() });
		await clock.advance(0);
		expect(metrics.values.get(name)).toBe(1);
		stopping.abort();
	});

	test("counts ports under policy Local without an endpoint here", async () => {
		start(0);
		proxy.put(tableOf("a/local", { clusterIP: "10.96.0.11", isInternalLocal: true, isExternalLocal: true }));
		await proxy.synced();
		const name = "kubeproxy_sync_proxy_rules_no_local_endpoints_total";
		expect(metrics.values.get(`${name}{traffic_policy=internal}`)).toBe(1);
		proxy.remove("a/local");
		await clock.advance(0);
		expect(metrics.values.get(`${name}{traffic_policy=external}`)).toBe(0);
		stopping.abort();
	});

	const dns = { name: "dns", protocol: "UDP", clusterIP: "10.96.0.53", port: 53, nodePort: 30_053 } as const;
	const udp = { ...dns, cluster: targets(1), servingIPs: ["10.244.0.1"] };
	const flowTo = (originalDestination: string): Flow => ({
		protocol: "udp",
		originalDestination,
		replySource: "10.244.0.1:8080",
	});

	test("cuts flows of datagrams to an address that its Service no longer has, and keeps those to the others", async () => {
		start(0);
		proxy.put(tableOf("a/dns", { ...udp, externalIPs: ["1.1.1.1"], loadBalancerVIPs: ["1.1.1.2", "1.1.1.3"] }));
		await proxy.synced();
		flowsTo = ["10.96.0.53:53", "1.1.1.1:53", "1.1.1.2:53", "1.1.1.3:53", "192.168.50.1:30053"].map(flowTo);
		proxy.put(tableOf("a/dns", { ...udp, loadBalancerVIPs: ["1.1.1.2"] }));
		await proxy.synced();
		expect(cuts).toEqual(["1.1.1.1:53", "1.1.1.3:53"]);
		stopping.abort();
	});

	test("cuts at its start what led to Services that went while no proxy was there", async () => {
		start(0);
		proxy.put(tableOf("a/dns", udp));
		await proxy.synced();
		stopping.abort();
		flowsTo = ["10.96.0.53:53", "192.168.50.1:30053", "9.9.9.9:53"].map(flowTo);
		start(0);
		await proxy.synced();
		expect(cuts).toEqual(["10.96.0.53:53", "192.168.50.1:30053"]);
		stopping.abort();
	});

	test("deletes chains of a Service that is gone a second later", async () => {
		start();
		await proxy.synced();
		proxy.remove("a/web");
		await clock.advance(1_000);
		expect(kernel.model.chainNames).toContain(CHAIN);
		await clock.advance(1_001);
		expect(kernel.model.chainNames).not.toContain(CHAIN);
		stopping.abort();
	});
});
