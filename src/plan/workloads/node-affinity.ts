/**
 * The nodes that a Pod insists on, by their labels and their names. A preference is none.
 *
 * @see https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#node-affinity
 */
import { matchesLabels, type Requirement, type SelectorOperator } from "../../api/label-selector.ts";
import type { Node, NodeSelectorRequirement, NodeSelectorTerm, Pod } from "../../api/types/core.ts";
import type { StringMap } from "../../api/types/meta.ts";

/** One term is enough; a list without terms matches no node. */
export function matchesNodeAffinity(node: Node, { spec }: Pod): boolean {
	const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
	if (required === undefined) return true;
	return (required.nodeSelectorTerms ?? []).some((term) => matchesTerm(node, term));
}

/** All of a term must hold; a term that says nothing matches no node. */
function matchesTerm({ metadata }: Node, { matchExpressions = [], matchFields = [] }: NodeSelectorTerm): boolean {
	if (matchExpressions.length === 0 && matchFields.length === 0) return false;
	return holdAll(matchExpressions, metadata.labels) && holdAll(matchFields, { "metadata.name": metadata.name });
}

function holdAll(requirements: readonly NodeSelectorRequirement[], values: StringMap | undefined): boolean {
	return requirements.every((requirement) => {
		const selector = selectorOf(requirement);
		return selector !== undefined && matchesLabels([selector], values);
	});
}

const OPERATORS: ReadonlyMap<string, SelectorOperator> = new Map([
	["In", "in"],
	["NotIn", "notin"],
	["Exists", "exists"],
	["DoesNotExist", "!"],
	["Gt", "gt"],
	["Lt", "lt"],
]);

/** Undefined for an operator that there is none of: what cannot be understood does not hold. */
function selectorOf({ key, operator: name, values = [] }: NodeSelectorRequirement): Requirement | undefined {
	const operator = OPERATORS.get(name);
	return operator === undefined ? undefined : { key, operator, values };
}
