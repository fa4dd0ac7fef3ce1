import { expect, test } from "vitest";
import { ApiError } from "../api/status.ts";
import type { Logger } from "../kernel/logger.ts";
import { silentLogger } from "../testing/silent.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { untilAllowed } from "./until-allowed.ts";

function asking(answer: (times: number) => string) {
	const clock = new VirtualClock();
	const stopping = new AbortController();
	const warnings: string[] = [];
	const log: Logger = { ...silentLogger, warn: (message) => void warnings.push(message) };
	const startMs = clock.monotonicMs();
	const askedMs: number[] = [];
	const outcome = untilAllowed({ clock, log }, stopping.signal, async () => {
		askedMs.push(clock.monotonicMs() - startMs);
		return answer(askedMs.length);
	});
	outcome.catch(() => undefined);
	return { clock, stopping, warnings, askedMs, outcome };
}

function forbidden(): never {
	throw new ApiError("Forbidden", "not you");
}

test("what is forbidden is asked again, less and less often, until it is allowed", async () => {
	const { clock, warnings, askedMs, outcome } = asking((times) => (times < 8 ? forbidden() : "there"));
	await clock.advance(200_000);
	expect(await outcome).toBe("there");
	expect(askedMs).toEqual([0, 1_000, 3_000, 7_000, 15_000, 31_000, 61_000, 91_000]);
	expect(warnings).toEqual(["Not allowed; it is tried on"]);
});

test("what fails for another reason is not asked again", async () => {
	const { clock, askedMs, outcome } = asking(() => {
		throw new ApiError("InternalError", "broken");
	});
	await clock.advance(200_000);
	await expect(outcome).rejects.toThrow("broken");
	expect(askedMs).toEqual([0]);
});

test("it ends when it is told to", async () => {
	const { clock, stopping, askedMs, outcome } = asking(forbidden);
	await clock.advance(500);
	stopping.abort(new Error("enough"));
	await expect(outcome).rejects.toThrow("enough");
	await clock.advance(200_000);
	expect(askedMs).toEqual([0]);
});
