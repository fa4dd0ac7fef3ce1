import { describe, expect, test } from "vitest";
import { settle, VirtualClock } from "../testing/virtual-clock.ts";
import { TokenBucket } from "./token-bucket.ts";
import { WorkQueue } from "./work-queue.ts";

function harness() {
	const clock = new VirtualClock();
	const queue = new WorkQueue<string>({ clock });
	const taken: string[] = [];
	const takeAll = async (): Promise<void> => {
		for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
			taken.push(`${clock.monotonicMs()}ms ${key}`);
			queue.done(key);
		}
	};
	return { clock, queue, taken, takeAll };
}

describe("WorkQueue", () => {
	test("holds a key that waits only once", async () => {
		const { queue } = harness();
		queue.add("a");
		queue.add("b");
		queue.add("a");
		expect(queue.depth).toBe(2);
		expect([await queue.take(), await queue.take()]).toEqual(["a", "b"]);
	});

	test("hands a key added during its processing out again, once, after done()", async () => {
		const { queue } = harness();
		queue.add("a");
		expect(await queue.take()).toBe("a");
		queue.add("a");
		queue.add("a");
		expect(queue.depth).toBe(0);
		queue.done("a");
		expect(queue.depth).toBe(1);
	});

	test("lets the earlier of two delayed adds win", async () => {
		const { clock, queue, taken, takeAll } = harness();
		void takeAll();
		queue.addAfter("a", 100);
		queue.addAfter("a", 500);
		queue.addAfter("b", 500);
		queue.addAfter("b", 100);
		await clock.advance(1_000);
		expect(taken).toEqual(["100ms a", "100ms b"]);
	});

	test("keeps a delayed add when the key is also added at once", async () => {
		const { clock, queue, taken, takeAll } = harness();
		void takeAll();
		queue.addAfter("a", 100);
		queue.addAfter("a", 0);
		await clock.advance(1_000);
		expect(taken).toEqual(["0ms a", "100ms a"]);
	});

	test("keeps the order of arrival over thousands of keys", async () => {
		const { queue, taken, takeAll } = harness();
		const keys = Array.from({ length: 5_000 }, (_, i) => `k${i}`);
		for (const key of keys) queue.add(key);
		void takeAll();
		await settle();
		expect(taken).toEqual(keys.map((key) => `0ms ${key}`));
	});

	test("doubles the delay of a failing key until it is forgotten", async () => {
		const { clock, queue, taken, takeAll } = harness();
		void takeAll();
		for (const _ of [1, 2, 3]) {
			queue.addRateLimited("a");
			await clock.advance(1_000);
		}
		expect(queue.requeues("a")).toBe(3);
		queue.forget("a");
		queue.addRateLimited("a");
		await clock.advance(1_000);
		expect(taken).toEqual(["5ms a", "1010ms a", "2020ms a", "3005ms a"]);
	});

	test("spreads a storm of failures: a burst of 100, then 10 a second", async () => {
		const { clock, queue, taken, takeAll } = harness();
		void takeAll();
		for (let i = 0; i < 120; i++) queue.addRateLimited(`k${i}`);
		await clock.advance(1_000);
		expect(taken).toHaveLength(110);
		await clock.advance(1_000);
		expect(taken).toHaveLength(120);
	});

	test("gives takers undefined and takes nothing in once it is stopped", async () => {
		const { clock, queue } = harness();
		const waiting = queue.take();
		queue.addAfter("a", 10);
		queue.stop();
		queue.add("b");
		await clock.advance(100);
		expect([await waiting, await queue.take(), queue.depth]).toEqual([undefined, undefined, 0]);
	});
});

describe("TokenBucket", () => {
	test("refills at its rate, up to its burst", () => {
		const bucket = new TokenBucket(10, 2);
		expect([bucket.take(0), bucket.take(0), bucket.take(0), bucket.take(0)]).toEqual([0, 0, 100, 200]);
		expect(bucket.take(300)).toBe(0);
		expect([bucket.take(60_000), bucket.take(60_000), bucket.take(60_000)]).toEqual([0, 0, 100]);
	});
});
