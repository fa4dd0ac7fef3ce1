import { describe, expect, test } from "vitest";
import { checkOptions } from "./check-options.ts";
import { selectionHint } from "./controller-selection.ts";
import { DEFAULT_PLANE_OPTIONS, type PlaneOptions } from "./plane-options.ts";

const V6 = { clusterCIDRs: ["fd00:1::/48"], serviceCIDRs: ["fd00:2::/112"] };

describe("checkOptions()", () => {
	const taken: readonly Partial<PlaneOptions>[] = [
		{},
		V6,
		{ serviceCIDRs: ["10.0.0.0/29"] },
		{ clusterCIDRs: ["10.244.0.0/16", "fd00:1::/48"], serviceCIDRs: ["fd00:2::/112", "10.96.0.0/16"] },
		{ controllers: ["*", "-scheduler"] },
		{ network: "none" },
		{ clusterCIDRs: ["192.168.0.0/16"] },
		{ podListeners: true, clusterCIDRs: ["fd00:1::/48", "10.1.0.0/16"] },
	];
	test.each(taken)("takes %j", (options) => {
		expect(() => checkOptions({ ...DEFAULT_PLANE_OPTIONS, ...options })).not.toThrow();
	});

	const etcd = { servers: ["http://127.0.0.1:2379"], prefix: "/registry", compactionIntervalMs: 0 };
	test("takes several servers of etcd, by name, by IPv6, with TLS", () => {
		const servers = ["https://etcd-0.example:2379", "https://[::1]:2379/"];
		const options = { ...etcd, servers, certFile: "cert", keyFile: "key" };
		expect(() => checkOptions({ ...DEFAULT_PLANE_OPTIONS, etcd: options })).not.toThrow();
	});

	const refused: readonly (readonly [Partial<PlaneOptions>, string])[] = [
		[{ etcd, dataFolder: "/data" }, "--etcd-servers and --data-dir: objects are kept in one place"],
		[{ etcd: { ...etcd, servers: [] } }, "--etcd-servers: want URLs such as http://127.0.0.1:2379"],
		[{ etcd: { ...etcd, servers: ["127.0.0.1:2379"] } }, '--etcd-servers "127.0.0.1:2379": want a URL such as'],
		[{ etcd: { ...etcd, servers: ["http://u:p@x:1"] } }, '--etcd-servers "http://u:p@x:1": want a URL such as'],
		[{ etcd: { ...etcd, certFile: "cert" } }, "--etcd-certfile and --etcd-keyfile: want both, or none"],
		[{ nodes: 300 }, "has room for 256 nodes, --nodes asks for 300"],
		[{ nodeCIDRMaskSizes: [16, 64] }, "--node-cidr-mask-size 16 has room for 1 node, --nodes asks for 3"],
		[{ controllers: ["foo"] }, '--controllers: "foo" is no controller'],
		[{ clusterCIDRs: ["abc"] }, "--cluster-cidr abc: want a CIDR such as 10.244.0.0/16"],
		[{ serviceCIDRs: [] }, "--service-cluster-ip-range: want one range, or an IPv4 and an IPv6 range"],
		[{ serviceCIDRs: ["10.0.0.0/30"] }, "--service-cluster-ip-range 10.0.0.0/30: want at least 8 addresses"],
		[
			{ clusterCIDRs: V6.clusterCIDRs },
			"--cluster-cidr fd00:1::/48: has no IPv4 range, and --service-cluster-ip-range",
		],
		[
			{ clusterCIDRs: ["10.96.128.0/17"] },
			"--cluster-cidr 10.96.128.0/17 and --service-cluster-ip-range 10.96.0.0/16 overlap",
		],
		[{ clusterCIDRs: ["10.0.0.0/8"] }, "--cluster-cidr 10.0.0.0/8 and --service-cluster-ip-range 10.96.0.0/16 overlap"],
		...[
			{ gatewayListen: { host: "127.0.0.1", port: 1080 } },
			{ asNode: "n1" },
			{ logDecisions: true },
			{ podListeners: true },
			{ dnsListen: { host: "127.0.0.1", port: 0 } },
		].map((more) => [{ network: "none", ...more }, " and --network none: nothing answers"] as const),
		...[
			{ asNode: "n1" },
			{ logDecisions: true },
			{ podListeners: true },
			{ gatewayListen: { host: "127.0.0.1", port: 1080 } },
			{ runtime: "process" as const },
		].map((more) => [{ network: "netns", ...more }, " and --network netns: nodes have networks of their own"] as const),
		[{ network: "netns", nodes: 101 }, "--network netns: want at most 100 nodes, --nodes asks for 101"],
		[{ network: "netns", serviceCIDRs: ["10.0.0.0/29"] }, "10.0.0.0/29: want at least 16 addresses"],
		[
			{ podListeners: true, clusterCIDRs: ["192.168.0.0/16"] },
			"--pod-listeners and --cluster-cidr 192.168.0.0/16: only Pods 10.a.b.c",
		],
	];
	test.each(refused)("refuses %j with the flag and what is wanted", (options, says) => {
		expect(() => checkOptions({ ...DEFAULT_PLANE_OPTIONS, ...options })).toThrow(says);
	});
});

describe("selectionHint()", () => {
	test.each([
		[["-scheduler"], "no controller runs: to leave one out write '*,-scheduler'"],
		[[], "no controller runs: to leave one out write '*,-scheduler'"],
		[["*", "-scheduler"], undefined],
		[["scheduler"], undefined],
	])("of %j is %j", (asked, hint) => {
		expect(selectionHint(asked)).toBe(hint);
	});
});
