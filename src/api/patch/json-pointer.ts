/** Where a JSON patch operation points. @see RFC 6901 */

const INDEX = /^(?:0|-?[1-9]\d*)$/;

/** The steps of a pointer, or undefined when it is malformed. "" is the whole document: no steps. */
export function pointerSteps(pointer: string): string[] | undefined {
	if (pointer === "") return [];
	if (!pointer.startsWith("/")) return undefined;
	return pointer
		.slice(1)
		.split("/")
		.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/**
 * The index that a step means in a list of this length, or undefined when there is none. Negative ones count
 * from the end, as the real server allows.
 */
export function listIndex(step: string, length: number): number | undefined {
	if (!INDEX.test(step)) return undefined;
	const index = Number(step) < 0 ? Number(step) + length : Number(step);
	return index >= 0 && index < length ? index : undefined;
}
