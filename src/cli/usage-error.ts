/** The command line itself is wrong: exit status 2. */
export class UsageError extends Error {
	override readonly name = "UsageError";
}

/** What options cannot be, found before anything is started, is the command line's fault. @throws {UsageError} */
export function refuseWrongOptions(check: () => void): void {
	try {
		check();
	} catch (error) {
		throw error instanceof RangeError ? new UsageError(error.message, { cause: error }) : error;
	}
}
