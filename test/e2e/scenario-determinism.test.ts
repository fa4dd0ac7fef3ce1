import { beforeAll, expect, test } from "vitest";
import { nodeVersions } from "./node-versions.ts";
import { traceDigests } from "./trace-digests.ts";

const DIGEST = /^[0-9a-f]{64}$/;

let nodes: readonly string[] = [];
beforeAll(async () => {
	nodes = await nodeVersions();
});

test("one file and one seed give the same trace, to the byte, in every process, under load, on Node 20 and 24", async () => {
	expect([...(await traceDigests({ nodes, processes: 8, seed: 1 }))]).toEqual([expect.stringMatching(DIGEST)]);
});

test("another seed gives another trace", async () => {
	const [one] = await traceDigests({ nodes, processes: 1, seed: 1 });
	const [other] = await traceDigests({ nodes, processes: 1, seed: 2 });
	expect(other).toMatch(DIGEST);
	expect(other).not.toBe(one);
});
