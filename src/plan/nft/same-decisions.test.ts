/**
 * One table, two backends: what the rules in the kernel do with a packet is what `NodeRules` decides for a connection.
 *
 * The chains and elements are followed as the kernel follows them; test/e2e/kernel-proxy.test.ts shows that it does.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { contains, parseCIDR, parseIP } from "../../api/ip.ts";
import { assertDefined } from "../../kernel/assert.ts";
import { NftModel } from "../../testing/nft-model.ts";
import { tablePort } from "../../testing/table-ports.ts";
import { type Asked, type Client, NodeRules, type Route } from "../service-map/node-rules.ts";
import type { ServiceTable, TablePort, Target } from "../service-map/service-table.ts";
import { endpointText } from "../service-map/slice-endpoints.ts";
import { baseRuleset } from "./base-ruleset.ts";
import { type NftConfig, podsByRange } from "./config.ts";
import { NftState } from "./nft-state.ts";
import { nftObjects } from "./service-objects.ts";

const NODE_IP = "192.168.50.1";
const PODS = "10.244.0.0/16";
const SERVICES = "10.96.0.0/16";
const CONFIG: NftConfig = {
	family: "IPv4",
	table: "t",
	nodeAddresses: [NODE_IP],
	nodeName: "n1",
	localPods: assertDefined(podsByRange("IPv4", [PODS]), "a range"),
	serviceCIDRs: [SERVICES],
	masqueradeAll: false,
	masqueradeBit: 14,
	hash: (text) => String(text.length),
};

interface Verdict {
	readonly kind: "forward" | "reject" | "drop" | "absent";
	/** Sorted texts of where it may go. */
	readonly targets: readonly string[];
	readonly isMasqueraded: boolean;
}

/** A packet on its way through the rules. */
class Packet {
	readonly #kernel: NftModel;
	readonly #asked: Asked;
	readonly #client: Client;
	#isMarked = false;
	#targets: readonly string[] | undefined;

	constructor(kernel: NftModel, asked: Asked, client: Client) {
		this.#kernel = kernel;
		this.#asked = asked;
		this.#client = client;
	}

	verdict(): Verdict {
		const { ip, port, protocol } = this.#asked;
		const [address, number] = [`${ip} . ${protocol.toLowerCase()} . ${port}`, `${protocol.toLowerCase()} . ${port}`];
		if (this.#follow(this.#find("firewall-ips", address)) === "drop") return this.#end("drop");
		if (this.#has("cluster-ips") && !isIn(PODS, this.#client.ip)) this.#isMarked = true;
		const chosen =
			this.#find("service-ips", address) ?? (ip === NODE_IP ? this.#find("service-nodeports", number) : undefined);
		this.#follow(chosen);
		if (this.#targets !== undefined) return this.#end("forward");
		const none =
			this.#find("no-endpoint-services", address) ??
			(ip === NODE_IP ? this.#find("no-endpoint-nodeports", number) : undefined);
		if (none !== undefined) return this.#end(none === "drop" ? "drop" : "reject");
		if (this.#has("cluster-ips")) return this.#end("reject");
		return this.#end(isIn(SERVICES, ip) ? "drop" : "absent");
	}

	#end(kind: Verdict["kind"]): Verdict {
		return { kind, targets: this.#targets ?? [], isMasqueraded: kind === "forward" && this.#isMarked };
	}

	#find(map: string, key: string): string | undefined {
		return this.#kernel.elementsOf(map).get(key);
	}

	#has(set: string): boolean {
		return this.#kernel.elementsOf(set).has(this.#asked.ip);
	}

	#follow(verdict: string | undefined): "drop" | undefined {
		const chain = verdict?.replace(/^goto /, "");
		for (const rule of chain === undefined ? [] : this.#kernel.rulesOf(chain)) {
			const result = this.#rule(rule);
			if (result === "drop") return "drop";
			if (result === "done") return undefined;
		}
		return undefined;
	}

	/** What one rule does: each form that the planner writes, and no other. */
	#rule(rule: string): "drop" | "done" | undefined {
		const conditional = /^(ip saddr != \{ [^}]* \}|ip saddr \S+|fib saddr type local) (.*)$/.exec(rule);
		if (conditional !== null) {
			const [, condition = "", rest = ""] = conditional;
			return this.#holds(condition) ? this.#rule(rest) : undefined;
		}
		if (rule === "drop") return "drop";
		const marked = /^meta mark set meta mark or 0x4000(?: (.*))?$/.exec(rule);
		if (marked !== null) {
			this.#isMarked = true;
			return marked[1] === undefined ? undefined : this.#rule(marked[1]);
		}
		if (rule.startsWith("goto ")) {
			this.#follow(rule);
			return "done";
		}
		const dnat = /dnat (?:to (\S+)|ip to numgen random mod \d+ map \{ (.*) \})$/.exec(rule);
		expect(dnat, rule).not.toBeNull();
		const [, one, many = ""] = dnat ?? [];
		this.#targets =
			one === undefined
				? many
						.split(", ")
						.map((text) => text.replace(/^\d+ : /, "").replace(" . ", ":"))
						.sort()
				: [one];
		return "done";
	}

	#holds(condition: string): boolean {
		const { ip, place } = this.#client;
		if (condition === "fib saddr type local") return place === "node";
		const outside = /^ip saddr != \{ (.*) \}$/.exec(condition);
		if (outside !== null) return !(outside[1] ?? "").split(", ").some((range) => range === ip || isIn(range, ip));
		return isIn(condition.replace("ip saddr ", ""), ip);
	}
}

function isIn(range: string, text: string): boolean {
	const [cidr, ip] = [parseCIDR(range), parseIP(text)];
	return cidr !== undefined && ip !== undefined && contains(cidr, ip);
}

function decided(route: Route): Verdict {
	if (route.kind !== "forward") return { kind: route.kind, targets: [], isMasqueraded: false };
	return { kind: "forward", targets: route.targets.map(endpointText).sort(), isMasqueraded: route.isMasqueraded };
}

const endpoint = fc
	.integer({ min: 1, max: 6 })
	.map((last): Target => ({ ip: `10.244.${last % 2}.${last}`, port: 8080, nodeName: last % 2 === 0 ? "n1" : "n2" }));

/** Lists as the table has them: Local's are those of the node, and somebody is there if anybody is. */
const somePort = fc
	.record({
		endpoints: fc.uniqueArray(endpoint, { maxLength: 4, selector: endpointText }),
		/** None is ready here, one terminates: it is in Local's list alone. */
		hasFallback: fc.boolean(),
		nodePort: fc.constantFrom(0, 30_080),
		externalIPs: fc.subarray(["203.0.113.1"]),
		loadBalancerVIPs: fc.subarray(["198.51.100.1"]),
		hasSourceRanges: fc.boolean(),
		loadBalancerSourceRanges: fc.subarray(["192.168.50.0/25", "10.244.0.0/16", "198.18.0.0/15"]),
		isInternalLocal: fc.boolean(),
		isExternalLocal: fc.boolean(),
	})
	.map(({ endpoints, hasFallback, ...rest }): TablePort => {
		const local = endpoints.filter(({ nodeName }) => nodeName === "n1");
		const isFallback = hasFallback && local.length === 0 && endpoints.length > 0;
		const terminating = { ip: "10.244.0.99", port: 8080, nodeName: "n1" };
		return tablePort({
			...rest,
			cluster: endpoints,
			local: isFallback ? [terminating] : local,
			hasAny: endpoints.length > 0,
		});
	});

const CLIENTS: readonly Client[] = [
	{ ip: "10.244.1.77", place: "pod" },
	{ ip: NODE_IP, place: "node" },
	{ ip: "192.168.50.200", place: "other" },
	{ ip: "198.18.7.7", place: "other" },
];
const ASKED: readonly Asked[] = [
	["10.96.0.10", 80],
	["10.96.0.10", 81],
	["10.96.99.99", 80],
	["203.0.113.1", 80],
	["198.51.100.1", 80],
	[NODE_IP, 30_080],
	[NODE_IP, 30_081],
].map(([ip, port]) => ({ ip: String(ip), port: Number(port), protocol: "TCP" }));

test("the kernel's rules decide as NodeRules does, for every policy, client and address", () => {
	fc.assert(
		fc.property(somePort, (port) => {
			const table: ServiceTable = { key: "a/b", ports: [port], localReady: 0 };
			const kernel = new NftModel();
			kernel.load(baseRuleset(CONFIG).join("\n"));
			const state = new NftState("ip t");
			state.put(table.key, nftObjects(table, CONFIG));
			kernel.load(state.next(0, 10)?.text ?? "");
			const rules = new NodeRules({
				addresses: [NODE_IP],
				clusterCIDRs: [assertDefined(parseCIDR(PODS), "pods")],
				serviceCIDRs: [assertDefined(parseCIDR(SERVICES), "services")],
			});
			rules.put(table);
			for (const asked of ASKED) {
				for (const client of CLIENTS) {
					const where = `${client.place} ${client.ip} to ${asked.ip}:${asked.port}`;
					expect({ where, ...new Packet(kernel, asked, client).verdict() }).toEqual({
						where,
						...decided(rules.route(asked, client)),
					});
				}
			}
		}),
		{ numRuns: 500 },
	);
});
