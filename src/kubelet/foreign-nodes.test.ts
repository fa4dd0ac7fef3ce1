import { describe, expect, test } from "vitest";
import type { Node } from "../api/types/core.ts";
import { nodesProblem, SIMULATED_LABEL } from "./foreign-nodes.ts";
import { simulatedNodes } from "./node-pool.ts";

const OPTIONS = {
	nodes: 2,
	zones: [],
	maxPods: 110,
	clusterCIDRs: ["10.244.0.0/16"],
	nodeCIDRMaskSizes: [24, 64],
	kubeletVersion: "v1",
} as const;
const WANTED = simulatedNodes(OPTIONS);

function stored(name: string, podCIDR: string, address: string, labels: Readonly<Record<string, string>> = {}): Node {
	const status = { addresses: [{ type: "InternalIP", address }] };
	return { metadata: { name, labels }, spec: { podCIDR, podCIDRs: [podCIDR] }, status } as unknown as Node;
}

const OWN = { [SIMULATED_LABEL]: "true" };

describe("simulated nodes beside others", () => {
	test.each([
		["others, with ranges and addresses of their own", stored("real", "10.1.0.0/24", "10.0.0.1"), undefined],
		["itself, from before", stored("n1", "10.244.0.0/24", "192.168.0.1", OWN), undefined],
		["itself, with another range", stored("n1", "10.99.0.0/24", "192.168.0.1", OWN), "has the pod range 10.99.0.0/24"],
		["a node of its name", stored("n2", "10.1.0.0/24", "10.0.0.1"), "the Node n2 is there, and is another kubelet's"],
		["a node with a part of its range", stored("real", "10.244.1.0/25", "10.0.0.1"), "--cluster-cidr"],
		["a node with one of its addresses", stored("real", "10.1.0.0/24", "192.168.0.2"), "--node-cidr"],
	])("%s", (_, node, problem) => {
		const found = nodesProblem(WANTED, [node]);
		if (problem === undefined) expect(found).toBeUndefined();
		else expect(found).toContain(problem);
	});
});
