/** Rights may come while a program runs: what is forbidden is asked for again. */
import { hasReason } from "../api/status.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/logger.ts";

const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 30_000;

export interface UntilAllowedPorts {
	readonly clock: Clock;
	readonly log: Logger;
}

/** Rejects as `ask` does for another reason than that it is forbidden, and when `signal` aborts. */
export async function untilAllowed<T>(
	{ clock, log }: UntilAllowedPorts,
	signal: AbortSignal,
	ask: () => Promise<T>,
): Promise<T> {
	for (let delayMs = RETRY_MS_MIN; ; delayMs = Math.min(2 * delayMs, RETRY_MS_MAX)) {
		try {
			return await ask();
		} catch (error) {
			if (!hasReason(error, "Forbidden")) throw error;
			if (delayMs === RETRY_MS_MIN) log.warn("Not allowed; it is tried on", { error });
			await clock.sleep(delayMs, signal);
		}
	}
}
