/** Which of what was found stands for which of what was wanted, when order does not count. */

export interface Matching<W, F> {
	readonly missing: readonly W[];
	readonly surplus: readonly F[];
}

/**
 * A matching that leaves out as little as there can be, by augmenting paths: an expectation that compares few keys
 * may fit much of what was found, so the first fit is not always right.
 */
export function matched<W, F>(
	wanted: readonly W[],
	found: readonly F[],
	fits: (want: W, find: F) => boolean,
): Matching<W, F> {
	const candidates = wanted.map((want) => found.flatMap((find, index) => (fits(want, find) ? [index] : [])));
	/** Of each found one, which wanted one has it. */
	const holders = new Map<number, number>();
	const place = (want: number, seen: Set<number>): boolean => {
		for (const find of candidates[want] ?? []) {
			if (seen.has(find)) continue;
			seen.add(find);
			const holder = holders.get(find);
			if (holder !== undefined && !place(holder, seen)) continue;
			holders.set(find, want);
			return true;
		}
		return false;
	};
	const missing = wanted.filter((_, index) => !place(index, new Set()));
	return { missing, surplus: found.filter((_, index) => !holders.has(index)) };
}

/** The same texts, in any order, each as often. */
export function sameTexts(wanted: readonly string[], found: readonly string[]): boolean {
	return wanted.length === found.length && [...wanted].sort().join("\n") === [...found].sort().join("\n");
}
