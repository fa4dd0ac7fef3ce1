import { describe, expect, test } from "vitest";
import type { NodeSelectorRequirement, NodeSelectorTerm } from "../../api/types/core.ts";
import { node, pod } from "../../testing/builders.ts";
import { matchesNodeAffinity } from "./node-affinity.ts";

const NODE = { ...node("a"), metadata: { ...node("a").metadata, labels: { disk: "ssd", cores: "8" } } };

function matches(nodeSelectorTerms: readonly NodeSelectorTerm[]): boolean {
	const requiredDuringSchedulingIgnoredDuringExecution = { nodeSelectorTerms };
	const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution } };
	return matchesNodeAffinity(NODE, pod("p", { spec: { affinity } }));
}

type Row = readonly [key: string, operator: NodeSelectorRequirement["operator"], values: readonly string[], boolean];

describe("matchesNodeAffinity", () => {
	test.each<Row>([
		["disk", "In", ["hdd", "ssd"], true],
		["disk", "In", ["hdd"], false],
		["none", "In", ["ssd"], false],
		["disk", "NotIn", ["ssd"], false],
		["none", "NotIn", ["ssd"], true],
		["disk", "Exists", [], true],
		["none", "Exists", [], false],
		["disk", "DoesNotExist", [], false],
		["none", "DoesNotExist", [], true],
		["cores", "Gt", ["7"], true],
		["cores", "Gt", ["8"], false],
		["cores", "Lt", ["10"], true],
		["cores", "Lt", ["8"], false],
		["disk", "Gt", ["1"], false],
		["none", "Lt", ["1"], false],
		["disk", "Near" as "In", ["ssd"], false],
	])("%s %s %j of a node with disk=ssd and cores=8: %s", (key, operator, values, expected) => {
		expect(matches([{ matchExpressions: [{ key, operator, values }] }])).toBe(expected);
	});

	const [ssd, hdd] = ["ssd", "hdd"].map((value) => ({ key: "disk", operator: "In" as const, values: [value] }));
	const [a, b] = ["a", "b"].map((name) => ({ key: "metadata.name", operator: "In" as const, values: [name] }));
	test.each<readonly [string, readonly unknown[], boolean]>([
		["one of the terms is enough", [{ matchExpressions: [hdd] }, { matchExpressions: [ssd] }], true],
		["all expressions of a term must hold", [{ matchExpressions: [ssd, hdd] }], false],
		["a field is the node's name", [{ matchFields: [a] }], true],
		["another name is another node", [{ matchFields: [b] }], false],
		["fields and expressions must hold together", [{ matchFields: [a], matchExpressions: [hdd] }], false],
		["a name is no label", [{ matchExpressions: [a] }], false],
		["a term that says nothing matches nothing", [{}], false],
		["no terms match nothing", [], false],
	])("%s", (_, terms, expected) => {
		expect(matches(terms as readonly NodeSelectorTerm[])).toBe(expected);
	});

	test("a Pod that insists on nothing goes anywhere, whatever it prefers", () => {
		const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1 }] } };
		expect(matchesNodeAffinity(NODE, pod("p"))).toBe(true);
		expect(matchesNodeAffinity(NODE, pod("p", { spec: { affinity } }))).toBe(true);
	});
});
