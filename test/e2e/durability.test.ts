/** A plane with a data folder loses nothing that it has acknowledged or shown, however it ends. */
import { expect, test } from "vitest";
import { killedRounds } from "../load/durable.ts";

test("kill -9 under 64 writers loses nothing that was told", async () => {
	const run = await killedRounds(3, 1);
	expect(run.problems).toEqual([]);
	expect(run.acknowledged).toBeGreaterThan(100);
	expect(run.seen).toBeGreaterThan(100);
});
