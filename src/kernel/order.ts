/** Code-unit order: the same on every machine, unlike `localeCompare`. */
export function compareStrings(a: string, b: string): number {
	return a < b ? -1 : a > b ? 1 : 0;
}

export function sortedBy<T>(items: Iterable<T>, keyOf: (item: T) => string): T[] {
	return [...items].sort((a, b) => compareStrings(keyOf(a), keyOf(b)));
}

/** Groups keep the order in which their first member was seen. (`Map.groupBy` needs Node 21.) */
export function groupBy<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
	const groups = new Map<K, T[]>();
	for (const item of items) {
		const key = keyOf(item);
		const group = groups.get(key);
		if (group === undefined) groups.set(key, [item]);
		else group.push(item);
	}
	return groups;
}

/** Where an item has the key of one before it. Takes time in proportion to the items: lists come from strangers. */
export function repeatedIndexes<T>(items: readonly T[], keyOf: (item: T) => unknown): ReadonlySet<number> {
	const seen = new Set<unknown>();
	const repeated = new Set<number>();
	for (const [index, item] of items.entries()) {
		const key = keyOf(item);
		if (seen.has(key)) repeated.add(index);
		seen.add(key);
	}
	return repeated;
}

/** Where `key` is, or would be inserted, in a list sorted by `keyOf`: the first index not before it. */
export function lowerBound<T>(sorted: readonly T[], key: string, keyOf: (item: T) => string): number {
	let low = 0;
	let high = sorted.length;
	while (low < high) {
		const middle = (low + high) >>> 1;
		if (keyOf(sorted[middle] as T) < key) low = middle + 1;
		else high = middle;
	}
	return low;
}
