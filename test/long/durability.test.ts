import { expect, test } from "vitest";
import { killedRounds } from "../load/durable.ts";

test("100 rounds of kill -9 under 64 writers lose nothing that was told", async () => {
	const seed = Date.now() % 1_000_000;
	const { problems, ...figures } = await killedRounds(100, seed);
	process.stderr.write(`durability: seed ${seed} ${JSON.stringify(figures)}\n`);
	expect(problems).toEqual([]);
}, 900_000);
