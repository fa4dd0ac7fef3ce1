import { describe, expect, test } from "vitest";
import type { Node, Pod, Taint, Toleration } from "../../api/types/core.ts";
import { node, pod } from "../../testing/builders.ts";
import { demandOf } from "./pod-demand.ts";
import { type NodeLoad, placePod, wantsNode } from "./scheduling.ts";

function placed(nodes: readonly Node[], spec: Partial<Pod["spec"]> = {}, loads: Record<string, NodeLoad> = {}): string {
	const podsOn = (name: string): NodeLoad => loads[name] ?? { count: 0, siblings: 0 };
	const placement = placePod({ pod: pod("p", { node: "", spec }), nodes, podsOn });
	return placement.kind === "bind" ? placement.nodeName : placement.message;
}

function nodeWith(name: string, spec: Node["spec"], pods = "110"): Node {
	return { ...node(name), ...(spec === undefined ? {} : { spec }), status: { allocatable: { pods } } };
}

const NO_EXECUTE: Taint = { key: "k", value: "v", effect: "NoExecute" };

describe("placePod", () => {
	test("takes the node with the fewest Pods of the same workload", () => {
		const loads = { a: { count: 1, siblings: 1 }, b: { count: 9, siblings: 0 }, c: { count: 2, siblings: 1 } };
		expect(placed([node("a"), node("b"), node("c")], {}, loads)).toBe("b");
	});

	test("then the one with the fewest Pods of all, then the first by name", () => {
		const loads = { a: { count: 3, siblings: 1 }, c: { count: 2, siblings: 1 }, b: { count: 2, siblings: 1 } };
		expect(placed([node("a"), node("c"), node("b")], {}, loads)).toBe("b");
	});

	const Taints: readonly (readonly [string, Toleration | undefined, string])[] = [
		["is not tolerated by itself", undefined, "0/1 nodes are available: 1 node(s) had untolerated taint(s)."],
		["is tolerated by key, value and effect", { key: "k", value: "v", effect: "NoExecute" }, "a"],
		["is tolerated for every effect", { key: "k", operator: "Equal", value: "v" }, "a"],
		["is tolerated whatever its value", { key: "k", operator: "Exists" }, "a"],
		["is tolerated by what tolerates everything", { operator: "Exists" }, "a"],
		[
			"is not tolerated with another value",
			{ key: "k", value: "w" },
			"0/1 nodes are available: 1 node(s) had untolerated taint(s).",
		],
		[
			"is not tolerated for another effect",
			{ key: "k", operator: "Exists", effect: "NoSchedule" },
			"0/1 nodes are available: 1 node(s) had untolerated taint(s).",
		],
	];
	test.each(Taints)("a taint %s", (_, toleration, expected) => {
		const spec = toleration === undefined ? {} : { tolerations: [toleration] };
		expect(placed([nodeWith("a", { taints: [NO_EXECUTE] })], spec)).toBe(expected);
	});

	test("a taint that is only a preference keeps nobody away", () => {
		expect(placed([nodeWith("a", { taints: [{ ...NO_EXECUTE, effect: "PreferNoSchedule" }] })])).toBe("a");
	});

	test("a cordoned node takes only Pods that tolerate it", () => {
		const cordoned = nodeWith("a", { unschedulable: true });
		expect(placed([cordoned])).toBe("0/1 nodes are available: 1 node(s) were unschedulable.");
		const tolerations = [{ key: "node.kubernetes.io/unschedulable", operator: "Exists" }] as const;
		expect(placed([cordoned], { tolerations })).toBe("a");
	});

	test("a node selector must match", () => {
		const nodes = [node("a", "z1"), node("b", "z2")];
		expect(placed(nodes, { nodeSelector: { "topology.kubernetes.io/zone": "z2" } })).toBe("b");
	});

	test("a node is full with as many Pods as it has room for, 110 when it says nothing", () => {
		const loads = { a: { count: 109, siblings: 0 }, b: { count: 5, siblings: 0 } };
		expect(placed([node("a"), nodeWith("b", undefined, "5")], {}, loads)).toBe("a");
		const full = { ...loads, a: { count: 110, siblings: 0 } };
		expect(placed([node("a"), nodeWith("b", undefined, "5")], {}, full)).toBe(
			"0/2 nodes are available: 2 Too many pods.",
		);
	});

	test("counts why nodes refuse, sorted as text", () => {
		const nodes = [
			nodeWith("a", {}, "0"),
			nodeWith("b", { unschedulable: true }),
			nodeWith("c", { taints: [NO_EXECUTE] }),
			nodeWith("d", {}, "0"),
			{ ...node("e"), metadata: { ...node("e").metadata, labels: {} } },
		];
		expect(placed(nodes, { nodeSelector: { disk: "ssd" }, tolerations: [{ operator: "Exists" }] })).toBe(
			"0/5 nodes are available: 5 node(s) didn't match Pod's node affinity/selector.",
		);
		expect(placed(nodes.slice(0, 4))).toBe(
			"0/4 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 Too many pods.",
		);
	});

	test("tells all that a node is short of, and the first reason of the others", () => {
		const containers = [
			{ name: "c", resources: { requests: { cpu: "2", memory: "2" } }, ports: [{ containerPort: 1, hostPort: 1 }] },
		];
		const withRoom = (name: string, allocatable: Readonly<Record<string, string>>): Node => ({
			...node(name),
			status: { allocatable: { pods: "1", ...allocatable } },
		});
		const nodes = [
			withRoom("a", { cpu: "1", memory: "1" }),
			withRoom("b", { cpu: "1", memory: "2", pods: "0" }),
			withRoom("c", { cpu: "1", memory: "1" }),
		];
		const demand = demandOf(pod("other", { spec: { containers } }));
		const loads = { c: { count: 1, siblings: 0, demand } };
		expect(placed(nodes, { containers }, loads)).toBe(
			"0/3 nodes are available: 1 Insufficient memory, 1 Too many pods, " +
				"1 node(s) didn't have free ports for the requested pod ports, 2 Insufficient cpu.",
		);
		expect(placed([...nodes, withRoom("d", { cpu: "2", memory: "2" })], { containers }, loads)).toBe("d");
	});

	test("says so when there are no nodes at all", () => {
		expect(placed([])).toBe("no nodes available to schedule pods");
	});
});

describe("wantsNode", () => {
	test.each([
		["a new Pod", pod("p", { node: "" }), true],
		["a Pod that has a node", pod("p"), false],
		["a Pod behind a gate", pod("p", { node: "", spec: { schedulingGates: [{ name: "g" }] } }), false],
		["another scheduler's Pod", pod("p", { node: "", spec: { schedulerName: "mine" } }), false],
		["a Pod that is being deleted", pod("p", { node: "", isTerminating: true }), false],
		["a Pod that has failed", pod("p", { node: "", status: { phase: "Failed" } }), false],
	])("%s: %s", (_, given, expected) => {
		expect(wantsNode(given)).toBe(expected);
	});
});
