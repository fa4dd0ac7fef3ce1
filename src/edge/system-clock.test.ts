import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { SystemClock } from "./system-clock.ts";

const DAY_MS = 86_400_000;

beforeEach(() => {
	vi.useFakeTimers();
});
afterEach(() => {
	vi.useRealTimers();
});

/** Whether the promise has settled after what can run has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
	let settled = false;
	promise.then(
		() => (settled = true),
		() => (settled = true),
	);
	await vi.advanceTimersByTimeAsync(0);
	return settled;
}

describe("SystemClock", () => {
	const { signal } = new AbortController();

	test("sleeps as long as asked, also longer than a timer can", async () => {
		const sleep = new SystemClock().sleep(60 * DAY_MS, signal);
		await vi.advanceTimersByTimeAsync(60 * DAY_MS - 1);
		expect(await isSettled(sleep)).toBe(false);
		await vi.advanceTimersByTimeAsync(1);
		expect(await isSettled(sleep)).toBe(true);
	});

	test.each([0, -5])("sleeps %i ms no longer than a turn", async (delayMs) => {
		expect(await isSettled(new SystemClock().sleep(delayMs, signal))).toBe(true);
	});

	test("an abort ends a sleep at once, with its reason, and leaves no timer behind", async () => {
		const stop = new AbortController();
		const sleep = new SystemClock().sleep(DAY_MS, stop.signal);
		const told = expect(sleep).rejects.toBe("stop");
		await vi.advanceTimersByTimeAsync(5);
		expect(vi.getTimerCount()).toBe(1);
		stop.abort("stop");
		await told;
		expect(vi.getTimerCount()).toBe(0);
	});

	test("an abort that was before begins no sleep", async () => {
		await expect(new SystemClock().sleep(DAY_MS, AbortSignal.abort("stop"))).rejects.toBe("stop");
		expect(vi.getTimerCount()).toBe(0);
	});

	test("tells wall time in milliseconds since 1970, and time that only goes forward", async () => {
		vi.setSystemTime(1_000);
		const clock = new SystemClock();
		const [wall, monotonic] = [clock.wallMs(), clock.monotonicMs()];
		await vi.advanceTimersByTimeAsync(250);
		expect([wall, clock.wallMs() - wall, clock.monotonicMs() - monotonic]).toEqual([1_000, 250, 250]);
		vi.setSystemTime(0);
		expect(clock.monotonicMs()).toBeGreaterThanOrEqual(monotonic + 250);
	});

	test("yields to a later turn of the event loop", async () => {
		vi.useRealTimers();
		const order: string[] = [];
		const yielded = new SystemClock().yield().then(() => order.push("yield"));
		await Promise.resolve().then(() => order.push("microtask"));
		await yielded;
		expect(order).toEqual(["microtask", "yield"]);
	});
});
