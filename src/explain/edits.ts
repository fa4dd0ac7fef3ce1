/** How far two words are from each other. */

/** Further apart is all the same. */
const EDITS_MAX = 10;
/** Letters that a typo may differ by. */
const TYPO_EDITS = 2;

export function isTypo(a: string, b: string): boolean {
	return edits(a, b) <= TYPO_EDITS;
}

/** How many letters are to be put in, taken out or replaced. */
export function edits(a: string, b: string): number {
	if (Math.abs(a.length - b.length) >= EDITS_MAX) return EDITS_MAX;
	let row = Array.from({ length: b.length + 1 }, (_, index) => index);
	for (let i = 1; i <= a.length; i++) {
		const next = [i];
		for (let j = 1; j <= b.length; j++) {
			const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
			next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
		}
		row = next;
	}
	return Math.min(EDITS_MAX, row[b.length] ?? 0);
}
