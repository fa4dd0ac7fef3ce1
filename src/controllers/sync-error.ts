/** Errors of one sync, put together the way upstream words them. */

/** The cache has not seen yet what this process wrote; the sync comes again. */
export class StaleCacheError extends Error {
	override readonly name = "StaleCacheError";
}

/** The error itself if it is the only one; texts that repeat are said once. */
export function aggregated(errors: readonly Error[]): Error | undefined {
	const [first] = errors;
	const messages = [...new Set(errors.map((error) => error.message))];
	if (first === undefined || messages.length === 1) return first;
	return new AggregateError(errors, `[${messages.join(", ")}]`);
}

export function asError(thrown: unknown): Error {
	return thrown instanceof Error ? thrown : new Error(String(thrown));
}
