/** Seeds of the simulator, in two files so that two workers share them. */
import { expect, test } from "vitest";
import { simulateSeeds } from "../../src/testing/simulator/simulate-seeds.ts";

/** Of each file. */
const SEEDS = 100;

/** @param first Of every other seed. */
export function simulatedSeeds(first: number): void {
	test(`${SEEDS} seeds of 500 operations under faults keep every promise, every other from ${first}`, async () => {
		process.stderr.write(`simulation: seeds ${first}, ${first + 2}, … ${first + (SEEDS - 1) * 2}\n`);
		for await (const { seed, violations, faults } of simulateSeeds({ first, count: SEEDS, stride: 2 })) {
			expect(violations, `npm run sim -- --seed ${seed}`).toEqual([]);
			expect(faults, `faults of seed ${seed}`).toBeGreaterThanOrEqual(20);
		}
	});
}
