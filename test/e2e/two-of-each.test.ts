import { expect, test } from "vitest";
import { etcdProblem } from "../../src/testing/etcd-process.ts";
import { roundsOfTwo } from "../load/two-of-each.ts";

const problem = etcdProblem();
if (problem !== undefined) process.stderr.write(`skipped: two API servers on one etcd: ${problem}\n`);

/** 20 rounds are in test/long. */
test.skipIf(problem !== undefined)(
	"whoever of two API servers and two controllers is killed or stopped, nothing is lost",
	async () => {
		const seed = Date.now() % 1_000_000;
		const { problems, acknowledged, seen } = await roundsOfTwo(2, seed);
		expect({ seed, problems }).toEqual({ seed, problems: [] });
		expect(Math.min(acknowledged, seen)).toBeGreaterThan(100);
	},
	240_000,
);
