/** Endpoints hold at most 1,000 addresses. @see https://kubernetes.io/docs/concepts/services-networking/service/#over-capacity-endpoints */
import type { EndpointAddress, EndpointSubset } from "../../api/types/core.ts";

export const ADDRESSES_MAX = 1000;

type List = "addresses" | "notReadyAddresses";

export function countAddresses(subsets: readonly EndpointSubset[], list: List): number {
	return subsets.reduce((sum, subset) => sum + (subset[list]?.length ?? 0), 0);
}

export function isOverCapacity(subsets: readonly EndpointSubset[]): boolean {
	return countAddresses(subsets, "addresses") + countAddresses(subsets, "notReadyAddresses") > ADDRESSES_MAX;
}

/** Ready addresses go first; what room they leave is for the others. Each subset gets its share. */
export function truncated(subsets: readonly EndpointSubset[]): readonly EndpointSubset[] {
	if (!isOverCapacity(subsets)) return subsets;
	const ready = countAddresses(subsets, "addresses");
	if (ready > ADDRESSES_MAX) {
		return shared(subsets, "addresses", ADDRESSES_MAX).map(({ notReadyAddresses: _, ...subset }) => subset);
	}
	return shared(subsets, "notReadyAddresses", ADDRESSES_MAX - ready);
}

/** Shares round up, so early subsets may take a little more, and the last gets what is left. */
function shared(subsets: readonly EndpointSubset[], list: List, budget: number): readonly EndpointSubset[] {
	const total = countAddresses(subsets, list);
	let left = budget;
	return subsets.map((subset) => {
		const listed: readonly EndpointAddress[] = subset[list] ?? [];
		const share = Math.min(left, Math.ceil((listed.length / total) * budget));
		left -= share;
		const { [list]: _, ...others } = subset;
		const kept = listed.slice(0, share);
		return kept.length === 0 ? others : { ...others, [list]: kept };
	});
}
