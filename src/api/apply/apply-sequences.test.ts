import * as fc from "fast-check";
import { describe, test } from "vitest";
import { applySteps, checkOrder, checkSequence } from "../../testing/apply-sequences.ts";

describe("random applies and updates by three managers", () => {
	test("repeat without effect, remove what is given up, and lose no ownership", () => {
		fc.assert(fc.property(applySteps, checkSequence), { numRuns: 300 });
	});

	test("give the same in either order, unless they disagree", () => {
		const step = applySteps.map(([first]) => first).filter((each) => each !== undefined);
		fc.assert(fc.property(step, step, checkOrder), { numRuns: 300 });
	});
});
