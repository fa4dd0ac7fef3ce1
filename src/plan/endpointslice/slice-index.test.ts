import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { SliceHistory } from "../../testing/slice-history.ts";

describe("plans by what has changed are the plans over all Pods", () => {
	test.each(Array.from({ length: 20 }, (_, seed) => seed))("in 200 steps of history %i", (seed) => {
		const history = new SliceHistory(seed);
		for (let step = 0; step < 200; step++) {
			const { full, incremental } = history.step();
			// To show a difference takes long, to see one does not.
			if (!isDeepStrictEqual(incremental, full)) expect(incremental, `step ${step}`).toEqual(full);
		}
	});
});
