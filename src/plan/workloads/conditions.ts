/** Conditions of a workload, changed as upstream's controllers change them. */
import type { Condition } from "../../api/types/meta.ts";
import { timestamp } from "../timestamp.ts";

export interface ConditionChange {
	readonly type: string;
	readonly status: Condition["status"];
	readonly reason: string;
	readonly message: string;
}

/**
 * The list with this condition in it. One that has the same status and reason already stays as it is, its
 * message included, unless it is to be renewed; one that changes goes to the end of the list.
 */
export function withCondition(
	conditions: readonly Condition[],
	change: ConditionChange,
	nowMs: number,
	{ isRenewed = false }: { readonly isRenewed?: boolean } = {},
): readonly Condition[] {
	const known = conditions.find(({ type }) => type === change.type);
	if (known?.status === change.status && known.reason === change.reason && !isRenewed) return conditions;
	const now = timestamp(nowMs);
	const lastTransitionTime = known?.status === change.status ? (known.lastTransitionTime ?? now) : now;
	return [...withoutCondition(conditions, change.type), { ...change, lastUpdateTime: now, lastTransitionTime }];
}

export function withoutCondition(conditions: readonly Condition[], type: string): readonly Condition[] {
	return conditions.some((condition) => condition.type === type)
		? conditions.filter((condition) => condition.type !== type)
		: conditions;
}
