/** What judging expectations comes to. */

/** Something that is not as it was expected. */
export interface Problem {
	/** Where the expectation stands: `slices[0].exact`. */
	readonly path: string;
	readonly wanted: string;
	readonly found: string;
	/** What sets the two apart, where that is less than all of both: `+` is found and not wanted. */
	readonly difference?: readonly string[];
}

export interface Verdict {
	readonly problems: readonly Problem[];
	/** Parts that are not built yet, which some expectations are about. */
	readonly pending: readonly string[];
}

export function problem(path: string, wanted: unknown, found: unknown): Problem {
	return { path, wanted: shown(wanted), found: shown(found) };
}

/** One problem unless it holds. */
export function unless(holds: boolean, path: string, wanted: unknown, found: unknown): readonly Problem[] {
	return holds ? [] : [problem(path, wanted, found)];
}

function shown(value: unknown): string {
	if (typeof value === "string") return value;
	return value === undefined ? "nothing" : JSON.stringify(value);
}
