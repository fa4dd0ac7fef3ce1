import { expect, test } from "vitest";
import { FairQueue } from "./fair-queue.ts";

test("whoever asks much has one turn after each of the others'", () => {
	const queue = new FairQueue<string>(3);
	for (const item of ["a1", "a2", "a3"]) expect(queue.add("a", item)).toBe(true);
	for (const item of ["b1", "b2"]) queue.add("b", item);
	expect(queue.next()).toBe("a1");
	queue.add("c", "c1");
	expect(Array.from({ length: 6 }, () => queue.next())).toEqual(["b1", "a2", "c1", "b2", "a3", undefined]);
});

test("nobody has more waiting than is allowed, and who is served may ask again", () => {
	const queue = new FairQueue<number>(1);
	expect([queue.add("a", 1), queue.add("a", 2), queue.add("b", 3)]).toEqual([true, false, true]);
	expect([queue.next(), queue.add("a", 4), queue.next(), queue.next()]).toEqual([1, true, 3, 4]);
});
