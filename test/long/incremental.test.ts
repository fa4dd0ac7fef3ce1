import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { SliceHistory } from "../../src/testing/slice-history.ts";

test("plans by what has changed are the plans over all Pods, in 1,000 histories of 200 steps", () => {
	const first = Number(process.env["SEED"] ?? Math.floor(Date.now() / 1000));
	process.stderr.write(`incremental: seeds from ${first}\n`);
	for (let seed = first; seed < first + 1000; seed++) {
		const history = new SliceHistory(seed);
		for (let step = 0; step < 200; step++) {
			const { full, incremental } = history.step();
			if (!isDeepStrictEqual(incremental, full)) expect(incremental, `seed ${seed}, step ${step}`).toEqual(full);
		}
	}
});
