import { expect, test } from "vitest";
import { killRun } from "../../src/testing/kill-run.ts";

test("controllers killed at any API call leave nothing twice, lost or to be done again: 300 seeds", async () => {
	const first = Number(process.env["SEED"] ?? Math.floor(Date.now() / 1000));
	process.stderr.write(`kill: seeds from ${first}\n`);
	let early = 0;
	for (let seed = first; seed < first + 300; seed++) {
		const { problems, diedEarly } = await killRun(seed);
		expect(problems, `seed ${seed}`).toEqual([]);
		if (diedEarly) early++;
	}
	process.stderr.write(`kill: ${early} of 300 died in the middle of a history\n`);
	expect(early).toBeGreaterThan(150);
});
