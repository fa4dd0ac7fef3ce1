import fc from "fast-check";
import { expect, test } from "vitest";
import { MinHeap } from "./min-heap.ts";

test("a heap gives out what was put in, smallest first", () => {
	fc.assert(
		fc.property(fc.array(fc.integer()), (numbers) => {
			const heap = new MinHeap<number>((a, b) => a < b);
			for (const number of numbers) heap.push(number);
			const out = Array.from({ length: heap.size }, () => heap.pop());
			expect(out).toEqual(numbers.toSorted((a, b) => a - b));
			expect([heap.size, heap.peek(), heap.pop()]).toEqual([0, undefined, undefined]);
		}),
	);
});
