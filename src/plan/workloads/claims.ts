/** Which objects are a workload's: those that name it as their controller, as long as its selector matches. */
import { matchesLabels, requirementsOf } from "../../api/label-selector.ts";
import { controllerOf } from "../../api/resource.ts";
import type { KubeObject, LabelSelector } from "../../api/types/meta.ts";

export interface Claims<T> {
	/** Its own. */
	readonly kept: readonly T[];
	/** Nobody's, and matching: they become its own. */
	readonly adopted: readonly T[];
	/** Its own until now, but no longer matching: they become nobody's. */
	readonly released: readonly T[];
}

/** @param candidates Objects of the owner's namespace. Those that are being deleted are neither adopted nor released. */
export function claimsOf<T extends KubeObject>(
	owner: KubeObject,
	selector: LabelSelector,
	candidates: Iterable<T>,
): Claims<T> {
	const requirements = requirementsOf(selector);
	const isOwnerDeleted = isBeingDeleted(owner);
	const claims = { kept: [] as T[], adopted: [] as T[], released: [] as T[] };
	for (const object of candidates) {
		const controller = controllerOf(object)?.uid;
		const isMatch = matchesLabels(requirements, object.metadata.labels);
		const isFree = !isOwnerDeleted && !isBeingDeleted(object);
		if (controller === owner.metadata.uid) {
			if (isMatch) claims.kept.push(object);
			else if (isFree) claims.released.push(object);
		} else if (controller === undefined && isMatch && isFree) claims.adopted.push(object);
	}
	return claims;
}

function isBeingDeleted({ metadata }: KubeObject): boolean {
	return metadata.deletionTimestamp !== undefined;
}
