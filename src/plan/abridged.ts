/** The items, or of more than `shownMax` how they begin and end, and how many there are. */
export function abridged(items: readonly string[], shownMax: number): string {
	if (items.length <= shownMax) return items.join(" ");
	return `${items[0]} ... ${items.at(-1)}, ${items.length} in all`;
}
