/** Seeds of the simulator, in two files so that two workers share them. */
import { expect, test } from "vitest";
import { simulate } from "../../src/testing/simulator/simulation.ts";

/** Of each file. */
const SEEDS = 100;

/** @param first Of every other seed. */
export function simulatedSeeds(first: number): void {
	test(`${SEEDS} seeds of 500 operations under faults keep every promise, every other from ${first}`, async () => {
		for (let seed = first; seed < first + SEEDS * 2; seed += 2) {
			const { violations, faults } = await simulate({ seed });
			expect(violations, `npm run sim -- --seed ${seed}`).toEqual([]);
			expect(faults, `faults of seed ${seed}`).toBeGreaterThanOrEqual(20);
		}
	});
}
