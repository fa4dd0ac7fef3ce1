import { expect, test } from "vitest";
import { simulate } from "../../src/testing/simulator/simulation.ts";

const SEEDS = 2_000;

test("the whole plane under faults keeps every promise: 2,000 seeds", { timeout: 7_200_000 }, async () => {
	const first = Number(process.env["SEED"] ?? Math.floor(Date.now() / 1000));
	process.stderr.write(`simulation: seeds from ${first}\n`);
	for (let seed = first; seed < first + SEEDS; seed++) {
		const { violations } = await simulate({ seed });
		expect(violations, `npm run sim -- --seed ${seed}`).toEqual([]);
	}
});
