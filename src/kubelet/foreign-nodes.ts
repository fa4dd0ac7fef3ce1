/** Simulated nodes beside real ones: they take no name, no range and no address that another Node has. */
import { type CIDR, contains, formatCIDR, networkOf, parseCIDR } from "../api/ip.ts";
import type { Node } from "../api/types/core.ts";
import type { SimulatedNode } from "./node-pool.ts";

/** On every Node that `sliceplane kubelet` has made, with the value "true"; by it, all are found and removed. */
export const SIMULATED_LABEL = "sliceplane.dev/simulated";

/** Why these nodes must not be there, in a sentence that says what to do. Undefined: nothing is in the way. */
export function nodesProblem(wanted: readonly SimulatedNode[], stored: readonly Node[]): string | undefined {
	const byName = new Map(wanted.map((node) => [node.name, node]));
	for (const node of stored) {
		const own = byName.get(node.metadata.name);
		const problem = own === undefined ? rangeProblem(wanted, node) : ownProblem(own, node);
		if (problem !== undefined) return problem;
	}
	return undefined;
}

function ownProblem({ name, podCIDRs }: SimulatedNode, { metadata, spec }: Node): string | undefined {
	if (metadata.labels?.[SIMULATED_LABEL] !== "true") {
		return `the Node ${name} is there, and is another kubelet's: choose other names with --node-prefix or --node-names`;
	}
	const [now, wanted] = [(spec?.podCIDRs ?? []).join(), podCIDRs.map(formatCIDR).join()];
	if (now === wanted || now === "") return undefined;
	return `the Node ${name} has the pod range ${now}, not ${wanted}: delete it, or take its range with --cluster-cidr`;
}

function rangeProblem(wanted: readonly SimulatedNode[], { metadata, spec, status }: Node): string | undefined {
	const theirs = (spec?.podCIDRs ?? []).flatMap((text) => parseCIDR(text) ?? []);
	const addresses = new Set((status?.addresses ?? []).map(({ address }) => address));
	for (const { name, podCIDRs, addresses: own } of wanted) {
		const shared = podCIDRs.find((range) => theirs.some((other) => isOverlap(range, other)));
		if (shared !== undefined) {
			return `${name} would have the pod range ${formatCIDR(shared)}, of which the Node ${metadata.name} has a part: choose another with --cluster-cidr`;
		}
		const taken = own.find((address) => addresses.has(address));
		if (taken !== undefined) {
			return `${name} would have the address ${taken}, which is that of the Node ${metadata.name}: choose others with --node-cidr`;
		}
	}
	return undefined;
}

function isOverlap(a: CIDR, b: CIDR): boolean {
	return contains(a, networkOf(b)) || contains(b, networkOf(a));
}
