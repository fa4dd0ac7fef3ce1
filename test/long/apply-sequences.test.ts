import * as fc from "fast-check";
import { expect, test } from "vitest";
import { applySteps, checkOrder, checkSequence } from "../../src/testing/apply-sequences.ts";

const SEQUENCES = 10_000;

test("10,000 sequences of applies and updates by three managers keep every promise", () => {
	const seed = Number(process.env["SEED"] ?? Math.floor(Date.now() / 1000));
	process.stderr.write(`apply sequences: seed ${seed}\n`);
	fc.assert(fc.property(applySteps, checkSequence), { seed, numRuns: SEQUENCES });
	const pairs = applySteps.filter((steps) => steps.length > 1);
	const result = fc.check(
		fc.property(pairs, ([first, second]) => {
			if (first !== undefined && second !== undefined) checkOrder(first, second);
		}),
		{ seed, numRuns: SEQUENCES },
	);
	expect(result.failed ? fc.defaultReportMessage(result) : undefined).toBeUndefined();
});
