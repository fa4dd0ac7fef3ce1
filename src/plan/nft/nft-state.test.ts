import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NftModel } from "../../testing/nft-model.ts";
import { tablePort } from "../../testing/table-ports.ts";
import type { ServiceTable, TablePort } from "../service-map/service-table.ts";
import { baseRuleset } from "./base-ruleset.ts";
import { type NftConfig, podsByRange } from "./config.ts";
import { type Listing, NftState } from "./nft-state.ts";
import { type Container, isAffinitySet } from "./objects.ts";
import { nftObjects } from "./service-objects.ts";

const pods = podsByRange("IPv4", ["10.244.0.0/16"]);
const CONFIG: NftConfig = {
	family: "IPv4",
	table: "t",
	nodeAddresses: ["192.168.50.1"],
	nodeName: "n1",
	...(pods === undefined ? {} : { localPods: pods }),
	serviceCIDRs: ["10.96.0.0/16"],
	masqueradeAll: false,
	masqueradeBit: 14,
	hash: (text) => String(text.length),
};
const ALL = Number.MAX_SAFE_INTEGER;

function table(name: string, ...ports: Partial<TablePort>[]): ServiceTable {
	return { key: `default/${name}`, ports: ports.map((port) => tablePort(port)), localReady: 0 };
}

/** A kernel with the base rules, and the state that speaks to it. */
class Bench {
	readonly kernel: NftModel = new NftModel();
	state: NftState = new NftState("ip t");
	nowMs = 0;

	constructor() {
		this.kernel.load(baseRuleset(CONFIG).join("\n"));
	}

	put(...tables: readonly ServiceTable[]): void {
		for (const each of tables) this.state.put(each.key, nftObjects(each, CONFIG));
	}

	/** Loads what is behind, and later what only time allows. Returns the texts. */
	sync(servicesMax: number = ALL): readonly string[] {
		const texts: string[] = [];
		for (let rounds = 0; rounds < 100; rounds++) {
			const step = this.state.next(this.nowMs, servicesMax);
			if (step === undefined) return texts;
			this.kernel.load(step.text);
			this.state.commit();
			texts.push(step.text);
		}
		throw new Error("no end of transactions");
	}

	listing(): Listing {
		const { kernel } = this;
		const sets = [...kernel.definitions].filter(([name]) => isAffinitySet(name));
		const containers = [...kernel.definitions.keys()].filter((name) => !isAffinitySet(name)) as Container[];
		return {
			chains: kernel.chainNames,
			affinitySets: sets.map(([name, text]) => ({
				name,
				timeoutSeconds: Number(/timeout (\d+)s/.exec(text)?.[1]),
			})),
			elements: containers
				.filter((container) => container !== "nodeport-ips")
				.flatMap((container) =>
					[...kernel.elementsOf(container)].map(([key, verdict]) => ({
						container,
						key,
						...(verdict === "" ? {} : { verdict }),
					})),
				),
		};
	}
}

describe("NftState", () => {
	test("writes one chain when one endpoint comes, and nothing when nothing changed", () => {
		const bench = new Bench();
		const [one, two] = [
			{ ip: "10.244.1.1", port: 80 },
			{ ip: "10.244.1.2", port: 80 },
		];
		bench.put(table("web", { cluster: [one], nodePort: 30_080 }));
		bench.sync();
		bench.put(table("web", { cluster: [one, two], nodePort: 30_080 }));
		const chain = "service-20-default/web/tcp/http";
		expect(bench.sync()).toEqual([
			`flush chain ip t ${chain}\nadd rule ip t ${chain} meta l4proto tcp dnat ip to numgen random mod 2 map { 0 : 10.244.1.1 . 80, 1 : 10.244.1.2 . 80 }\n`,
		]);
		bench.put(table("web", { cluster: [one, two], nodePort: 30_080 }));
		expect(bench.sync()).toEqual([]);
	});

	test("empties the chains of a Service that is gone at once, and deletes them a second later", () => {
		const bench = new Bench();
		bench.put(table("web", { cluster: [{ ip: "10.244.1.1", port: 80 }] }));
		bench.sync();
		bench.state.remove("default/web");
		const [text = "", ...more] = bench.sync();
		expect(more).toEqual([]);
		expect(text).toContain("delete element ip t service-ips { 10.96.0.10 . tcp . 80 }");
		expect(text).toContain("flush chain ip t service-20-default/web/tcp/http");
		expect(bench.kernel.rulesOf("service-20-default/web/tcp/http")).toEqual([]);
		bench.nowMs += 999;
		expect(bench.sync()).toEqual([]);
		bench.nowMs += 1;
		expect(bench.sync()).toEqual(["delete chain ip t service-20-default/web/tcp/http\n"]);
	});

	test("gives an address that two Services want to the first, and to the other when it leaves", () => {
		const bench = new Bench();
		const cluster = [{ ip: "10.244.1.1", port: 80 }];
		const shared = { cluster, externalIPs: ["203.0.113.1"] };
		bench.put(table("a", { ...shared, clusterIP: "10.96.0.1" }), table("b", { ...shared, clusterIP: "10.96.0.2" }));
		bench.sync(1);
		const owner = (): string | undefined => bench.kernel.elementsOf("service-ips").get("203.0.113.1 . tcp . 80");
		expect(owner()).toBe("goto external-18-default/a/tcp/http");
		bench.state.remove("default/a");
		bench.sync();
		expect(owner()).toBe("goto external-18-default/b/tcp/http");
	});

	test("makes an affinity set anew when its timeout changes", () => {
		const bench = new Bench();
		const cluster = [{ ip: "10.244.1.1", port: 80 }];
		bench.put(table("web", { cluster, affinitySeconds: 10 }));
		bench.sync();
		bench.put(table("web", { cluster, affinitySeconds: 20 }));
		bench.sync();
		const set = "affinity-35-default/web/tcp/http__10.244.1.1/80";
		expect(bench.kernel.definitions.get(set)).toContain("timeout 20s");
		expect(bench.kernel.rulesOf("endpoint-35-default/web/tcp/http__10.244.1.1/80")).toHaveLength(2);
	});

	/** A Service as one of few shapes, so that they get in each other's way. */
	const someShape = fc.record({
		name: fc.constantFrom("a", "b", "c", "d"),
		ips: fc.uniqueArray(fc.integer({ min: 1, max: 4 }), { maxLength: 4 }),
		local: fc.boolean(),
		sticky: fc.option(fc.constantFrom(5, 10)),
		nodePort: fc.constantFrom(0, 30_001, 30_002),
		externalIPs: fc.subarray(["203.0.113.1", "203.0.113.2"]),
		isExternalLocal: fc.boolean(),
		isInternalLocal: fc.boolean(),
		ranges: fc.option(fc.subarray(["10.0.0.0/8", "10.1.0.0/16", "192.168.0.0/16"])),
	});
	const action = fc.oneof(
		{ weight: 6, arbitrary: someShape.map((shape) => ({ kind: "put" as const, shape })) },
		{ weight: 2, arbitrary: fc.constantFrom("a", "b", "c", "d").map((name) => ({ kind: "remove" as const, name })) },
		{ weight: 4, arbitrary: fc.integer({ min: 1, max: 5 }).map((most) => ({ kind: "sync" as const, most })) },
		{ weight: 1, arbitrary: fc.constant({ kind: "lose" as const }) },
		{ weight: 2, arbitrary: fc.constant({ kind: "wait" as const }) },
	);

	type Shape = typeof someShape extends fc.Arbitrary<infer T> ? T : never;

	function shaped({ name, ips, local, sticky, ranges, ...rest }: Shape): ServiceTable {
		const cluster = ips.map((last) => ({ ip: `10.244.1.${last}`, port: 80, nodeName: last % 2 === 0 ? "n1" : "n2" }));
		return table(name, {
			...rest,
			clusterIP: `10.96.0.${name.charCodeAt(0)}`,
			cluster,
			local: local ? cluster.filter(({ nodeName }) => nodeName === "n1") : [],
			hasAny: cluster.length > 0,
			loadBalancerVIPs: ranges === null ? [] : ["198.51.100.1"],
			loadBalancerSourceRanges: ranges ?? [],
			hasSourceRanges: ranges !== null,
			...(sticky === null ? {} : { affinitySeconds: sticky }),
		});
	}

	test("comes to the same as loading the last state at once, whatever came before, and is never refused", () => {
		fc.assert(
			fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
				const bench = new Bench();
				for (const each of actions) {
					if (each.kind === "put") {
						bench.put(shaped(each.shape));
					} else if (each.kind === "remove") bench.state.remove(`default/${each.name}`);
					else if (each.kind === "sync") {
						const step = bench.state.next(bench.nowMs, each.most);
						if (step !== undefined) {
							bench.kernel.load(step.text);
							bench.state.commit();
						}
					} else if (each.kind === "lose") bench.state.adopt(bench.listing());
					else bench.nowMs += 1_000;
				}
				bench.sync(2);
				bench.nowMs += 1_000;
				bench.sync(2);
				const fresh = new Bench();
				for (const [service, objects] of bench.state.wanted) fresh.state.put(service, objects);
				fresh.sync();
				expect(bench.kernel.snapshot).toEqual(fresh.kernel.snapshot);
			}),
			{ numRuns: 300 },
		);
	});
});
