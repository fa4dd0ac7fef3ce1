import { describe, expect, test } from "vitest";
import { parseCIDR } from "../../api/ip.ts";
import { assertDefined } from "../../kernel/assert.ts";
import { tableOf, targets } from "../../testing/table-ports.ts";
import { type Client, NodeRules } from "./node-rules.ts";
import type { TablePort } from "./service-table.ts";

const cidr = (text: string) => assertDefined(parseCIDR(text), text);

function rulesOf(...ports: readonly Partial<TablePort>[]): NodeRules {
	const rules = new NodeRules({
		addresses: ["192.168.0.1", "fd00:1::1"],
		clusterCIDRs: [cidr("10.244.0.0/16")],
		serviceCIDRs: [cidr("10.96.0.0/16")],
	});
	rules.put(tableOf("demo/web", ...ports));
	return rules;
}

const POD: Client = { ip: "10.244.1.7", place: "pod" };
const NODE: Client = { ip: "192.168.0.1", place: "node" };
const OUTSIDE: Client = { ip: "198.51.100.7", place: "other" };

/** `forward 10.244.0.1 masqueraded`, `reject`, ... of `ADDRESS PORT`. */
function routed(rules: NodeRules, asked: string, client: Client): string {
	const [ip = "", port = ""] = asked.split(" ");
	const route = rules.route({ ip, port: Number(port), protocol: "TCP" }, client);
	if (route.kind !== "forward") return route.kind;
	const ips = route.targets.map((target) => target.ip).join(" ");
	return `forward ${ips}${route.isMasqueraded ? " masqueraded" : ""}`;
}

const EVERYWHERE: Partial<TablePort> = {
	nodePort: 30080,
	externalIPs: ["192.0.2.1"],
	loadBalancerVIPs: ["203.0.113.1"],
	cluster: targets(1, 2),
	local: targets(2),
};

describe("NodeRules.route()", () => {
	test.each<{ rule: string; port?: Partial<TablePort>; asked: string; client: Client; route: string }>([
		{
			rule: "a Pod reaches the cluster IP with its own address",
			asked: "10.96.0.10 80",
			client: POD,
			route: "forward 10.244.0.1 10.244.0.2",
		},
		{
			rule: "the node is masqueraded",
			asked: "10.96.0.10 80",
			client: NODE,
			route: "forward 10.244.0.1 10.244.0.2 masqueraded",
		},
		{
			rule: "so is whoever comes from outside",
			asked: "10.96.0.10 80",
			client: OUTSIDE,
			route: "forward 10.244.0.1 10.244.0.2 masqueraded",
		},
		{
			rule: "node ports are masqueraded for everyone",
			asked: "192.168.0.1 30080",
			client: POD,
			route: "forward 10.244.0.1 10.244.0.2 masqueraded",
		},
		{
			rule: "so are external IPs",
			asked: "192.0.2.1 80",
			client: OUTSIDE,
			route: "forward 10.244.0.1 10.244.0.2 masqueraded",
		},
		{
			rule: "external Local keeps the client's address, and to this node",
			port: { isExternalLocal: true },
			asked: "203.0.113.1 80",
			client: OUTSIDE,
			route: "forward 10.244.0.2",
		},
		{
			rule: "for a Pod external Local is as if by any node",
			port: { isExternalLocal: true },
			asked: "203.0.113.1 80",
			client: POD,
			route: "forward 10.244.0.1 10.244.0.2",
		},
		{
			rule: "for the node, too, and it is masqueraded",
			port: { isExternalLocal: true },
			asked: "203.0.113.1 80",
			client: NODE,
			route: "forward 10.244.0.1 10.244.0.2 masqueraded",
		},
		{
			rule: "no local endpoint: silence, for others may have one",
			port: { isExternalLocal: true, local: [] },
			asked: "203.0.113.1 80",
			client: OUTSIDE,
			route: "drop",
		},
		{
			rule: "no endpoint at all: refused",
			port: { isExternalLocal: true, local: [], cluster: [], hasAny: false },
			asked: "203.0.113.1 80",
			client: OUTSIDE,
			route: "reject",
		},
		{ rule: "another port of a cluster IP is refused", asked: "10.96.0.10 81", client: POD, route: "reject" },
		{ rule: "a cluster IP that nobody has is dropped", asked: "10.96.7.7 80", client: POD, route: "drop" },
		{
			rule: "what no Service has is none of the proxy's business",
			asked: "192.0.2.9 80",
			client: POD,
			route: "absent",
		},
		{ rule: "a node port is not at other addresses", asked: "192.0.2.1 30080", client: OUTSIDE, route: "absent" },
		{
			rule: "source ranges let in who is in them",
			port: { hasSourceRanges: true, loadBalancerSourceRanges: ["198.51.100.0/24"] },
			asked: "203.0.113.1 80",
			client: OUTSIDE,
			route: "forward 10.244.0.1 10.244.0.2 masqueraded",
		},
		{
			rule: "and drop who is not",
			port: { hasSourceRanges: true, loadBalancerSourceRanges: ["192.0.2.0/24"] },
			asked: "203.0.113.1 80",
			client: OUTSIDE,
			route: "drop",
		},
		{
			rule: "with none of this family nobody gets in",
			port: { hasSourceRanges: true },
			asked: "203.0.113.1 80",
			client: OUTSIDE,
			route: "drop",
		},
		{
			rule: "they hold for no other address",
			port: { hasSourceRanges: true },
			asked: "192.0.2.1 80",
			client: OUTSIDE,
			route: "forward 10.244.0.1 10.244.0.2 masqueraded",
		},
		{
			rule: "the node is let in when one of its own addresses is in them",
			port: { hasSourceRanges: true, loadBalancerSourceRanges: ["192.168.0.0/16"] },
			asked: "203.0.113.1 80",
			client: { ip: "203.0.113.1", place: "node" },
			route: "forward 10.244.0.1 10.244.0.2 masqueraded",
		},
		{
			rule: "and is dropped when none is",
			port: { hasSourceRanges: true, loadBalancerSourceRanges: ["192.0.2.0/24"] },
			asked: "203.0.113.1 80",
			client: NODE,
			route: "drop",
		},
	])("$rule", ({ port = {}, asked, client, route }) => {
		expect(routed(rulesOf({ ...EVERYWHERE, ...port }), asked, client)).toBe(route);
	});

	test("says why nobody answers", () => {
		const skipped = [{ ip: "10.244.0.1", port: 8080, why: "not ready" } as const];
		const rules = rulesOf({ hasAny: false, skipped });
		expect(rules.route({ ip: "10.96.0.10", port: 80, protocol: "TCP" }, POD)).toMatchObject({
			kind: "reject",
			why: "no endpoint can take it: 10.244.0.1 is not ready",
		});
	});

	test("an address that two Services have belongs to the older one, until it is gone", () => {
		const rules = rulesOf({ externalIPs: ["192.0.2.1"], cluster: targets(1) });
		const late = tableOf("demo/late", { clusterIP: "10.96.0.11", externalIPs: ["192.0.2.1"], cluster: targets(9) });
		rules.put({ ...late, createdAt: "2026-01-02T00:00:00Z" });
		expect(routed(rules, "192.0.2.1 80", POD)).toBe("forward 10.244.0.1 masqueraded");
		rules.remove("demo/web");
		expect(routed(rules, "192.0.2.1 80", POD)).toBe("forward 10.244.0.9 masqueraded");
		expect(routed(rules, "10.96.0.10 80", POD)).toBe("drop");
	});
});

test("a version of the rules rises with changes of its family only", () => {
	const rules = rulesOf({ cluster: targets(1) });
	const before = [rules.version("IPv4"), rules.version("IPv6")];
	rules.put(tableOf("demo/web", { cluster: targets(1) }));
	rules.put(tableOf("demo/six", { family: "IPv6", clusterIP: "fd00:96::1" }));
	expect([rules.version("IPv4"), rules.version("IPv6")]).toEqual([before[0], (before[1] ?? 0) + 1]);
	rules.put(tableOf("demo/web", { cluster: targets(2) }));
	expect(rules.version("IPv4")).toBe((before[0] ?? 0) + 1);
});
