import { expect, test } from "vitest";
import { simulate } from "./simulation.ts";

test("a few seeds keep every promise", async () => {
	for (let seed = 1; seed <= 3; seed++) {
		const { violations } = await simulate({ seed, steps: 150 });
		expect(violations, `npm run sim -- --seed ${seed} --steps 150`).toEqual([]);
	}
});

test("the same seed gives the same history, to the byte, and another seed another one", async () => {
	const run = async (seed: number): Promise<string> => (await simulate({ seed, steps: 150 })).hash;
	const [first, second, other] = [await run(7), await run(7), await run(8)];
	expect(second).toBe(first);
	expect(other).not.toBe(first);
});
