import { expect, test } from "vitest";
import { mutationRun } from "../mutations/mutation-run.ts";

test("10,000 mutated requests break no promise", async () => {
	const seed = Number(process.env["SEED"] ?? Math.floor(Date.now() / 1000));
	process.stderr.write(`mutations: seed ${seed}\n`);
	const { statuses, broken } = await mutationRun(seed, 10_000);
	process.stderr.write(`mutations: ${JSON.stringify(statuses)}\n`);
	expect(broken, `seed ${seed}`).toEqual([]);
});
