/** A broken invariant: a bug in this program, never a fault of its input. Crash on it. */
class AssertionError extends Error {
	override readonly name = "AssertionError";
}

export function assert(condition: boolean, message: string): asserts condition {
	if (!condition) throw new AssertionError(message);
}

/** Narrows a value that cannot be missing here; `what` names it in the crash. */
export function assertDefined<T>(value: T | undefined | null, what: string): T {
	assert(value !== undefined && value !== null, `Missing ${what}`);
	return value;
}

/** Marks a `switch` as exhaustive; the compiler rejects the call if a case is missing. */
export function unreachable(value: never): never {
	throw new AssertionError(`Unreachable case: ${JSON.stringify(value)}`);
}
