/** Counts: a number, or bounds. */
import type { Count } from "../format/vocabulary.ts";

export function countFits(wanted: Count, found: number): boolean {
	if (typeof wanted === "number") return wanted === found;
	return found >= (wanted.min ?? 0) && found <= (wanted.max ?? Number.POSITIVE_INFINITY);
}
