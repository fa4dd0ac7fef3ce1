/** Nesting that free-form data may have: far more than any real object, far less than a stack. */
export const DEPTH_MAX = 256;

/** Whether plain data nests deeper than `levels`. Looks no further than that itself, so any input is safe. */
export function isDeeperThan(value: unknown, levels: number): boolean {
	if (typeof value !== "object" || value === null) return false;
	if (levels === 0) return true;
	return Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}
