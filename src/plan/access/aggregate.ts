/** The rules of a ClusterRole that takes them from others. */
import { matchesLabels, requirementsOf } from "../../api/label-selector.ts";
import type { ClusterRole, PolicyRule } from "../../api/types/rbac.ts";
import { deepEqual } from "../../kernel/json.ts";
import { sortedBy } from "../../kernel/order.ts";

/** Each rule once, in the order of the names of the roles that have it. Undefined: the role takes none from others. */
export function aggregatedRules(role: ClusterRole, all: Iterable<ClusterRole>): readonly PolicyRule[] | undefined {
	if (role.aggregationRule === undefined) return undefined;
	const others = sortedBy(all, ({ metadata }) => metadata.name).filter(
		({ metadata }) => metadata.name !== role.metadata.name,
	);
	const taken = (role.aggregationRule.clusterRoleSelectors ?? []).flatMap((selector) => {
		const requirements = requirementsOf(selector);
		return others.filter(({ metadata }) => matchesLabels(requirements, metadata.labels));
	});
	const rules: PolicyRule[] = [];
	for (const rule of taken.flatMap((source) => source.rules ?? [])) {
		if (!rules.some((known) => deepEqual(known, rule))) rules.push(rule);
	}
	return rules;
}
