import { describe, expect, test } from "vitest";
import { formatCIDR } from "../api/ip.ts";
import { type NodePoolOptions, nodeObject, simulatedNodes } from "./node-pool.ts";

const OPTIONS: NodePoolOptions = {
	nodes: 3,
	zones: [],
	maxPods: 110,
	clusterCIDRs: ["10.244.0.0/16"],
	nodeCIDRMaskSizes: [24, 64],
	kubeletVersion: "v1.36.2",
};

/** Every node as `n1 z1 10.244.0.0/24 192.168.0.1`. */
function shown(more: Partial<NodePoolOptions>): readonly string[] {
	return simulatedNodes({ ...OPTIONS, ...more }).map(({ name, zone = "-", podCIDRs, addresses }) =>
		[name, zone, podCIDRs.map(formatCIDR).join(","), addresses.join(",")].join(" "),
	);
}

describe("simulatedNodes", () => {
	test("are named and numbered from 1, each with its part of the range", () => {
		expect(shown({})).toEqual([
			"n1 - 10.244.0.0/24 192.168.0.1",
			"n2 - 10.244.1.0/24 192.168.0.2",
			"n3 - 10.244.2.0/24 192.168.0.3",
		]);
	});

	test("are spread over the zones in turn", () => {
		expect(shown({ zones: ["a", "b"] }).map((text) => text.split(" ")[1])).toEqual(["a", "b", "a"]);
	});

	test("have two families when the cluster has, the primary one first", () => {
		expect(shown({ nodes: 1, clusterCIDRs: ["fd00:244::/56", "10.244.0.0/16"] })).toEqual([
			"n1 - fd00:244::/64,10.244.0.0/24 fd00:192:168::1,192.168.0.1",
		]);
	});

	test("have addresses that no Pod and no Service has", () => {
		expect(shown({ nodes: 1, clusterCIDRs: ["192.168.0.0/16"] })).toEqual(["n1 - 192.168.0.0/24 172.30.0.1"]);
		expect(shown({ nodes: 1, serviceCIDRs: ["192.168.64.0/24"] })).toEqual(["n1 - 10.244.0.0/24 172.30.0.1"]);
		expect(() => shown({ clusterCIDRs: ["192.168.0.0/16"], serviceCIDRs: ["172.16.0.0/12"] })).toThrow(
			"--cluster-cidr 192.168.0.0/16 and --service-cluster-ip-range 172.16.0.0/12 leave no addresses for nodes",
		);
	});

	test("may be of IPv6 alone", () => {
		expect(shown({ nodes: 2, clusterCIDRs: ["fd00:244::/56"] })).toEqual([
			"n1 - fd00:244::/64 fd00:192:168::1",
			"n2 - fd00:244:0:1::/64 fd00:192:168::2",
		]);
	});

	test.each([
		[
			{ nodes: 257 },
			"--cluster-cidr 10.244.0.0/16 with --node-cidr-mask-size 24 has room for 256 nodes, --nodes asks for 257: " +
				"take a larger range or a larger mask size",
		],
		[
			{ clusterCIDRs: ["10.244.0.0/25"] },
			"--cluster-cidr 10.244.0.0/25 with --node-cidr-mask-size 24 has room for 0 nodes, --nodes asks for 3: " +
				"take a larger range or a larger mask size",
		],
		[
			{ clusterCIDRs: ["10.244.0.0/16", "fd00::/63"] },
			"--cluster-cidr fd00::/63 with --node-cidr-mask-size 64 has room for 2 nodes, --nodes asks for 3: " +
				"take a larger range or a larger mask size",
		],
		[{ clusterCIDRs: ["10.244"] }, '"10.244": want a CIDR such as 10.244.0.0/16'],
	])("refuse %j with what to do about it", (more, message) => {
		expect(() => simulatedNodes({ ...OPTIONS, ...more })).toThrow(new RangeError(message));
	});
});

describe("nodeObject", () => {
	const options = { ...OPTIONS, zones: ["a"], clusterCIDRs: ["10.244.0.0/16", "fd00:244::/56"], maxPods: 7 };
	const [node] = simulatedNodes(options).map((simulated) => nodeObject(simulated, options, "2026-01-01T00:00:00Z"));

	test("says where the node is and what it can take", () => {
		expect(node?.metadata.labels).toMatchObject({
			"topology.kubernetes.io/zone": "a",
			"kubernetes.io/hostname": "n1",
			"kubernetes.io/os": "linux",
		});
		expect(node?.spec).toEqual({ podCIDR: "10.244.0.0/24", podCIDRs: ["10.244.0.0/24", "fd00:244::/64"] });
		expect(node?.status?.allocatable).toMatchObject({ pods: "7" });
		expect(node?.status?.addresses).toEqual([
			{ type: "InternalIP", address: "192.168.0.1" },
			{ type: "InternalIP", address: "fd00:192:168::1" },
			{ type: "Hostname", address: "n1" },
		]);
	});

	test("is Ready, and has no pressure of any kind", () => {
		const conditions = node?.status?.conditions?.map(({ type, status }) => `${type} ${status}`);
		expect(conditions).toEqual(["MemoryPressure False", "DiskPressure False", "PIDPressure False", "Ready True"]);
	});
});
