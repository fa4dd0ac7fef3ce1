import { readlinkSync } from "node:fs";
import { constants, setPriority } from "node:os";

/**
 * Lets this thread have what time of the processors the others leave, where the system tells threads apart (Linux).
 * Elsewhere nothing changes: the priority would be that of the whole process.
 */
export function stepBehind(): void {
	try {
		const thread = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
		setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL);
	} catch {
		// No other system has this file, and who may not lower a priority goes on as before.
	}
}
