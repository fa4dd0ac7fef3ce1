import { expect, test } from "vitest";
import { etcdProblem } from "../../src/testing/etcd-process.ts";
import { roundsOfTwo } from "../load/two-of-each.ts";

const problem = etcdProblem();
if (problem !== undefined) process.stderr.write(`skipped: two API servers on one etcd: ${problem}\n`);

test.skipIf(problem !== undefined)(
	"20 rounds of killing or stopping one of two API servers, or of two controllers",
	async () => {
		const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
		const { problems, ...figures } = await roundsOfTwo(20, seed);
		process.stderr.write(`two of each: seed ${seed} ${JSON.stringify(figures)}\n`);
		expect({ seed, problems }).toEqual({ seed, problems: [] });
	},
	1_800_000,
);
