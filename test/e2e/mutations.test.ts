/** A short loop of the long test of mutated requests. */
import { expect, test } from "vitest";
import { mutationRun } from "../mutations/mutation-run.ts";

test("1,000 mutated requests break no promise", async () => {
	const { broken } = await mutationRun(1, 1_000);
	expect(broken).toEqual([]);
});
