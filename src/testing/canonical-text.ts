/** Keys sorted, empty lists and maps as if absent. */
function canonical(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(canonical);
	if (typeof value !== "object" || value === null) return value;
	const entries = Object.entries(value).map(([key, inner]) => [key, canonical(inner)] as const);
	const kept = entries.filter(([, inner]) => inner !== undefined && inner !== null && !isEmpty(inner));
	return Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isEmpty(value: unknown): boolean {
	return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/** The same JSON for values that mean the same to the API. */
export function canonicalText(value: unknown): string {
	return JSON.stringify(canonical(value));
}
