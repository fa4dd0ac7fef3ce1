import fc from "fast-check";
import { expect, test } from "vitest";
import { matched, sameTexts } from "./matching.ts";

/** The most pairs that there can be, by trying all of them. */
function mostPairs(
	wanted: readonly number[],
	found: readonly number[],
	fits: (a: number, b: number) => boolean,
): number {
	const [first, ...rest] = wanted;
	if (first === undefined) return 0;
	const without = mostPairs(rest, found, fits);
	const withEach = found.flatMap((each, index) =>
		fits(first, each) ? [1 + mostPairs(rest, found.toSpliced(index, 1), fits)] : [],
	);
	return Math.max(without, ...withEach);
}

test("leaves out as little as can be left out", () => {
	const numbers = fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 5 });
	fc.assert(
		fc.property(numbers, numbers, (wanted, found) => {
			const fits = (want: number, find: number): boolean => find % want === 0;
			const pairs = mostPairs(wanted, found, fits);
			const { missing, surplus } = matched(wanted, found, fits);
			expect([missing.length, surplus.length]).toEqual([wanted.length - pairs, found.length - pairs]);
		}),
	);
});

test("gives the one that fits few to the one that fits many later", () => {
	expect(matched([1, 2], [2, 3], (want, find) => find % want === 0)).toEqual({ missing: [], surplus: [] });
});

test.each([
	[["a", "b"], ["b", "a"], true],
	[["a", "a"], ["a", "b"], false],
	[["a"], ["a", "a"], false],
	[[], [], true],
])("%j and %j are the same texts: %s", (wanted, found, same) => {
	expect(sameTexts(wanted, found)).toBe(same);
});
