import { describe, expect, test } from "vitest";
import { tablePort } from "../../testing/table-ports.ts";
import type { TablePort, Target } from "../service-map/service-table.ts";
import { type NftConfig, podsByRange } from "./config.ts";
import { nftObjects } from "./service-objects.ts";

const near: Target = { ip: "10.244.1.10", port: 8080, nodeName: "n1" };
const far: Target = { ip: "10.244.2.10", port: 8080, nodeName: "n2" };

function config(more: Partial<NftConfig> = {}): NftConfig {
	const localPods = podsByRange("IPv4", ["10.244.0.0/16"]);
	return {
		family: "IPv4",
		table: "t",
		nodeAddresses: ["192.168.50.1"],
		nodeName: "n1",
		...(localPods === undefined ? {} : { localPods }),
		serviceCIDRs: ["10.96.0.0/16"],
		masqueradeAll: false,
		masqueradeBit: 14,
		hash: () => "HASH",
		...more,
	};
}

/** `chain: rule` and `container: key : verdict`, without what every port has. */
function shown(port: Partial<TablePort>, more: Partial<NftConfig> = {}): readonly string[] {
	const { chains, elements } = nftObjects({ key: "a/b", ports: [tablePort(port)], localReady: 0 }, config(more));
	return [
		...chains.flatMap(({ name, rules }) => rules.map((rule) => `${name.split("-")[0]}: ${rule}`)),
		...elements
			.filter(({ container }) => container !== "cluster-ips" && container !== "hairpin-connections")
			.map(({ container, key, verdict }) => `${container}: ${key} : ${verdict}`),
	].map((text) => text.replaceAll("-HASH-a/b/tcp/http", ""));
}

describe("nftObjects: where connections go, by policy", () => {
	test.each<{ rule: string; port: Partial<TablePort>; objects: readonly string[] }>([
		{
			rule: "a cluster IP leads to the cluster list, at random",
			port: { cluster: [near, far] },
			objects: [
				"service: meta l4proto tcp dnat ip to numgen random mod 2 map { 0 : 10.244.1.10 . 8080, 1 : 10.244.2.10 . 8080 }",
				"service-ips: 10.96.0.10 . tcp . 80 : goto service",
			],
		},
		{
			rule: "without endpoints a cluster IP is refused",
			port: { hasAny: false },
			objects: ["no-endpoint-services: 10.96.0.10 . tcp . 80 : goto reject-chain"],
		},
		{
			rule: "internal policy Local leads to the local list",
			port: { isInternalLocal: true, local: [near] },
			objects: ["local: meta l4proto tcp dnat to 10.244.1.10:8080", "service-ips: 10.96.0.10 . tcp . 80 : goto local"],
		},
		{
			rule: "internal policy Local, all endpoints elsewhere: silence",
			port: { isInternalLocal: true },
			objects: ["no-endpoint-services: 10.96.0.10 . tcp . 80 : drop"],
		},
		{
			rule: "a node port under policy Cluster is marked for masquerading",
			port: { cluster: [far], nodePort: 30_080 },
			objects: [
				"service: meta l4proto tcp dnat to 10.244.2.10:8080",
				"external: meta mark set meta mark or 0x4000",
				"external: goto service",
				"service-ips: 10.96.0.10 . tcp . 80 : goto service",
				"service-nodeports: tcp . 30080 : goto external",
			],
		},
		{
			rule: "a node port under policy Local: pods and the node to all, others to the local list",
			port: { cluster: [near, far], local: [near], nodePort: 30_080, isExternalLocal: true },
			objects: [
				"service: meta l4proto tcp dnat ip to numgen random mod 2 map { 0 : 10.244.1.10 . 8080, 1 : 10.244.2.10 . 8080 }",
				"local: meta l4proto tcp dnat to 10.244.1.10:8080",
				"external: ip saddr 10.244.0.0/16 goto service",
				"external: fib saddr type local meta mark set meta mark or 0x4000 goto service",
				"external: goto local",
				"service-ips: 10.96.0.10 . tcp . 80 : goto service",
				"service-nodeports: tcp . 30080 : goto external",
			],
		},
		{
			rule: "a node port under policy Local, none local: silence for others",
			port: { cluster: [far], nodePort: 30_080, isExternalLocal: true },
			objects: [
				"service: meta l4proto tcp dnat to 10.244.2.10:8080",
				"external: ip saddr 10.244.0.0/16 goto service",
				"external: fib saddr type local meta mark set meta mark or 0x4000 goto service",
				"service-ips: 10.96.0.10 . tcp . 80 : goto service",
				"service-nodeports: tcp . 30080 : goto external",
				"no-endpoint-nodeports: tcp . 30080 : drop",
			],
		},
		{
			rule: "without endpoints node ports and outside addresses are refused",
			port: { hasAny: false, nodePort: 30_080, externalIPs: ["203.0.113.1"], isExternalLocal: true },
			objects: [
				"no-endpoint-services: 10.96.0.10 . tcp . 80 : goto reject-chain",
				"no-endpoint-services: 203.0.113.1 . tcp . 80 : goto reject-chain",
				"no-endpoint-nodeports: tcp . 30080 : goto reject-chain",
			],
		},
	])("$rule", ({ port, objects }) => {
		expect(shown(port)).toEqual(objects);
	});
});

describe("nftObjects", () => {
	const firewall = (
		ranges: readonly string[],
		nodeAddresses: readonly string[] = ["192.168.50.1"],
	): string | undefined =>
		shown(
			{ cluster: [far], loadBalancerVIPs: ["203.0.113.10"], hasSourceRanges: true, loadBalancerSourceRanges: ranges },
			{ nodeAddresses },
		).find((text) => text.startsWith("firewall:"));

	test.each<{ rule: string; text: string | undefined; is: string }>([
		{ rule: "who is in no range waits in vain", text: firewall(["10.0.0.0/8"]), is: "ip saddr != { 10.0.0.0/8 } drop" },
		{
			rule: "the node may come with the load balancer's address",
			text: firewall(["192.168.50.0/25"]),
			is: "ip saddr != { 192.168.50.0/25, 203.0.113.10 } drop",
		},
		{
			rule: "ranges inside others are left out, whatever the order",
			text: firewall(["10.1.0.0/16", "10.0.0.0/8", "10.2.3.4/32", "10.0.0.0/8"]),
			is: "ip saddr != { 10.0.0.0/8 } drop",
		},
		{ rule: "ranges of the other family only: nobody", text: firewall([]), is: "drop" },
	])("source ranges: $rule", ({ text, is }) => {
		expect(text).toBe(`firewall: ${is}`);
	});

	test("of a port with ClientIP affinity notes the client in a rule of its own, before dnat", () => {
		const { chains, affinitySets } = nftObjects(
			{ key: "a/b", ports: [tablePort({ cluster: [near], affinitySeconds: 10 })], localReady: 0 },
			config(),
		);
		const [set] = affinitySets;
		expect(set).toEqual({ name: "affinity-HASH-a/b/tcp/http__10.244.1.10/8080", timeoutSeconds: 10 });
		expect(chains).toEqual([
			{
				name: "endpoint-HASH-a/b/tcp/http__10.244.1.10/8080",
				rules: [`update @${set?.name} { ip saddr }`, "meta l4proto tcp dnat to 10.244.1.10:8080"],
			},
			{
				name: "service-HASH-a/b/tcp/http",
				rules: [
					`ip saddr @${set?.name} goto endpoint-HASH-a/b/tcp/http__10.244.1.10/8080`,
					"numgen random mod 1 vmap { 0 : goto endpoint-HASH-a/b/tcp/http__10.244.1.10/8080 }",
				],
			},
		]);
	});

	test("in IPv6 use its words, and brackets", () => {
		const target = { ip: "fd00::7", port: 8080 };
		const port = { family: "IPv6" as const, clusterIP: "fd01::1", cluster: [target] };
		expect(shown(port, { family: "IPv6" })).toEqual([
			"service: meta l4proto tcp dnat to [fd00::7]:8080",
			"service-ips: fd01::1 . tcp . 80 : goto service",
		]);
		expect(shown(port)).toEqual([]);
	});

	test("hold hairpins of this node's endpoints only", () => {
		const { elements } = nftObjects(
			{ key: "a/b", ports: [tablePort({ cluster: [near, far] })], localReady: 0 },
			config(),
		);
		expect(elements.filter(({ container }) => container === "hairpin-connections")).toEqual([
			{ container: "hairpin-connections", key: "10.244.1.10 . 10.244.1.10 . tcp . 8080" },
		]);
	});

	test("leave out a port whose name nft would read as something else", () => {
		expect(shown({ name: "http; flush ruleset", cluster: [near] })).toEqual([]);
	});
});
