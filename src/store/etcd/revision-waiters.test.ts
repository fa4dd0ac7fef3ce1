import { describe, expect, test } from "vitest";
import { RevisionWaiters } from "./revision-waiters.ts";

async function settled(waiting: readonly Promise<void>[]): Promise<readonly string[]> {
	const states = waiting.map(() => "waits");
	for (const [index, promise] of waiting.entries()) {
		promise.then(
			() => {
				states[index] = "there";
			},
			(error: unknown) => {
				states[index] = String(error);
			},
		);
	}
	for (let turn = 0; turn < 5; turn++) await Promise.resolve();
	return states;
}

describe("RevisionWaiters", () => {
	test("lets go whoever waits for the revision, or an older one", async () => {
		const waiters = new RevisionWaiters();
		const waiting = [waiters.until(7, 0), waiters.until(5, 0), waiters.until(6, 0)];
		waiters.reached(6);
		expect(await settled(waiting)).toEqual(["waits", "there", "there"]);
	});

	test("gives up on those who have waited for too long, and tells how many", async () => {
		const waiters = new RevisionWaiters();
		const waiting = [waiters.until(7, 100), waiters.until(8, 300)];
		expect(waiters.expire(200, (revision) => `late ${revision}`)).toBe(1);
		expect(waiters.expire(200, () => "again")).toBe(0);
		waiters.reached(7);
		expect(await settled(waiting)).toEqual(["late 7", "waits"]);
	});
});
