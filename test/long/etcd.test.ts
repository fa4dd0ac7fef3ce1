/** Two stores on one etcd, under many faults. */
import { expect, test } from "vitest";
import { etcdProblem } from "../../src/testing/etcd-process.ts";
import { sharedCounters } from "../load/shared-counters.ts";

const problem = etcdProblem();
if (problem !== undefined) process.stderr.write(`skipped: stores on etcd under faults: ${problem}\n`);

test.skipIf(problem !== undefined)("two stores stay one, while etcd is killed and ways to it are cut", async () => {
	const seed = Number(process.env["SEED"] ?? Date.now() % 2 ** 31);
	process.stderr.write(`seed ${seed}\n`);
	const run = await sharedCounters(60, seed);
	expect({ seed, problems: run.problems }).toEqual({ seed, problems: [] });
	process.stderr.write(`${JSON.stringify(run)}\n`);
});
