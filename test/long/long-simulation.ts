/** Seeds of the simulator, in two files so that two workers share them. */
import { expect, test } from "vitest";
import { simulateSeeds } from "../../src/testing/simulator/simulate-seeds.ts";

/** Of each file. */
const SEEDS = 1_000;

/** @param half 0 or 1. The seeds begin at the environment's `SEED`, or at the time. */
export function longSimulation(half: number): void {
	const name = `the whole plane under faults keeps every promise: ${SEEDS} of ${SEEDS * 2} seeds, half ${half + 1}`;
	test(name, { timeout: 7_200_000 }, async () => {
		const start = Number(process.env["SEED"] ?? Math.floor(Date.now() / 1000));
		const first = start + half * SEEDS;
		process.stderr.write(`simulation: seeds ${first} to ${first + SEEDS - 1}, SEED=${start}\n`);
		for await (const { seed, violations } of simulateSeeds({ first, count: SEEDS })) {
			expect(violations, `npm run sim -- --seed ${seed}`).toEqual([]);
		}
	});
}
