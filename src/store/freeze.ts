/** Bytes that V8 needs for an object or array without its members, roughly. */
const CONTAINER_BYTES = 48;
const MEMBER_BYTES = 16;

/**
 * Freezes plain data all the way down and returns about how many bytes of memory it newly takes.
 *
 * What is frozen already is shared with an older revision and costs nothing: so the sum over a
 * history is what the history really holds, not the sum of its objects.
 */
export function freezeAndMeasure(value: unknown): number {
	if (typeof value === "string") return MEMBER_BYTES + value.length;
	if (typeof value !== "object" || value === null) return MEMBER_BYTES;
	if (Object.isFrozen(value)) return MEMBER_BYTES;
	let bytes = CONTAINER_BYTES;
	for (const key of Object.keys(value)) {
		bytes += MEMBER_BYTES + freezeAndMeasure((value as Record<string, unknown>)[key]);
	}
	Object.freeze(value);
	return bytes;
}
