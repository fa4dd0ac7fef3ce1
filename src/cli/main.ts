/** The program: reads the command line, runs a command, sets the exit status. */
import { type Command, CommanderError } from "commander";
import { systemCode } from "../edge/system-reason.ts";
import { errorText } from "./error-text.ts";
import { program } from "./program.ts";
import { UsageError } from "./usage-error.ts";

/** Exit statuses: 0 success, 1 failure, 2 wrong usage. */
const FAILURE = 1;
const WRONG_USAGE = 2;

/** Runs `sliceplane` with these arguments and resolves with its exit status. */
export async function main(args: readonly string[]): Promise<number> {
	for (const stream of [process.stdout, process.stderr]) stream.on("error", ignoreClosedPipe);
	let status = 0;
	try {
		const root = program((code) => {
			status = code;
		});
		await root.parseAsync(understood(root, args), { from: "user" });
		return status;
	} catch (error) {
		if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE;
		process.stderr.write(`error: ${errorText(error)}\n`);
		return error instanceof UsageError ? WRONG_USAGE : FAILURE;
	}
}

/** With --help after an unknown command, commander would show its own help and call that a success. */
function understood(root: Command, args: readonly string[]): string[] {
	const [first = "-"] = args;
	const isKnown =
		first.startsWith("-") || first === "help" || root.commands.some((command) => command.name() === first);
	return isKnown ? [...args] : [first];
}

/** A reader that has seen enough, such as `head`, is no failure. */
function ignoreClosedPipe(error: Error): void {
	if (systemCode(error) !== "EPIPE") throw error;
}
