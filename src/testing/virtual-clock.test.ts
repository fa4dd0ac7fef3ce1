import { describe, expect, test } from "vitest";
import { VirtualClock } from "./virtual-clock.ts";

/** Notes when each sleeper woke: `100 a`. */
function sleepers(clock: VirtualClock): { readonly woken: string[]; sleep(name: string, delayMs: number): void } {
	const woken: string[] = [];
	const sleep = (name: string, delayMs: number): void => {
		void clock.sleep(delayMs).then(() => woken.push(`${clock.monotonicMs()} ${name}`));
	};
	return { woken, sleep };
}

describe("VirtualClock", () => {
	test("wakes sleepers in order of time, then of arrival, each at its own time", async () => {
		const clock = new VirtualClock();
		const { woken, sleep } = sleepers(clock);
		sleep("late", 300);
		sleep("first", 100);
		sleep("second", 100);
		await clock.advance(299);
		expect(woken).toEqual(["100 first", "100 second"]);
		await clock.advance(1);
		expect(woken.at(-1)).toBe("300 late");
		expect(clock.wallMs()).toBe(Date.parse("2026-01-01T00:00:00.300Z"));
	});

	test("wakes those who fall asleep on the way", async () => {
		const clock = new VirtualClock();
		const woken: number[] = [];
		void (async () => {
			for (;;) {
				await clock.sleep(40);
				woken.push(clock.monotonicMs());
			}
		})();
		await clock.advance(130);
		expect(woken).toEqual([40, 80, 120]);
	});

	test("does not wake a sleeper whose sleep was ended before", async () => {
		const clock = new VirtualClock();
		const stop = new AbortController();
		const ended = clock.sleep(100, stop.signal).catch((reason: unknown) => reason);
		stop.abort("enough");
		expect(await ended).toBe("enough");
		await expect(clock.sleep(1, stop.signal)).rejects.toBe("enough");
		await clock.advance(200);
	});

	test("settles only when the longest chain of turns has come to its end", async () => {
		const clock = new VirtualClock();
		let turns = 0;
		void (async () => {
			while (turns < 500) {
				await clock.yield();
				turns++;
			}
		})();
		await clock.settle();
		expect(turns).toBe(500);
		expect(clock.monotonicMs()).toBe(0);
	});

	test("stops at the wake-up after which a condition holds", async () => {
		const clock = new VirtualClock();
		const { woken, sleep } = sleepers(clock);
		for (const delayMs of [10, 20, 30]) sleep("x", delayMs);
		expect(await clock.until(() => woken.length === 2, 1_000)).toBe(true);
		expect(clock.monotonicMs()).toBe(20);
	});

	test("gives a condition no more time than it was told", async () => {
		const clock = new VirtualClock();
		sleepers(clock).sleep("x", 5_000);
		expect(await clock.until(() => false, 1_000)).toBe(false);
		expect(clock.monotonicMs()).toBe(1_000);
	});
});
