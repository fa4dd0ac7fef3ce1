/**
 * Cluster IPs and node ports that no Service holds any more, because another kind of API server, or a person with etcd's
 * own tool, deleted the Service and not its claims. Pure: which of them are to be released now.
 *
 * A claim that is new may be one whose Service is still to come, as real servers make them. So it must have been found
 * without an owner, unchanged, in several rounds.
 *
 * @see https://github.com/kubernetes/kubernetes/tree/master/pkg/registry/core/service/portallocator/controller
 */
import type { Place, Revision } from "../store/entry.ts";

/** Upstream's number for node ports. */
export const ROUNDS_UNTIL_RELEASE = 3;

export interface FoundClaim extends Place {
	readonly modRevision: Revision;
}

/** Without an owner in so many rounds, one after the other. */
export interface Suspect extends FoundClaim {
	readonly rounds: number;
}

export interface ClaimVerdict {
	/** For the next round, by {@link placeText}. */
	readonly suspects: ReadonlyMap<string, Suspect>;
	readonly released: readonly FoundClaim[];
}

/** @param held Of all Services, by {@link placeText}. @param before What the last round suspected. */
export function judgeClaims(
	claims: readonly FoundClaim[],
	held: ReadonlySet<string>,
	before: ReadonlyMap<string, Suspect>,
): ClaimVerdict {
	const suspects = new Map<string, Suspect>();
	const released: FoundClaim[] = [];
	for (const claim of claims) {
		const text = placeText(claim);
		if (held.has(text)) continue;
		const known = before.get(text);
		const rounds = known?.modRevision === claim.modRevision ? known.rounds + 1 : 1;
		if (rounds >= ROUNDS_UNTIL_RELEASE) released.push(claim);
		suspects.set(text, { ...claim, rounds });
	}
	return { suspects, released };
}

export function placeText({ space, key }: Place): string {
	return `${space}${key}`;
}
