import { expect, test } from "vitest";
import { nodeVersions } from "../e2e/node-versions.ts";
import { traceDigests } from "../e2e/trace-digests.ts";

test("100 processes, half of them under load, give the same trace to the byte", async () => {
	const nodes = await nodeVersions();
	process.stderr.write(`determinism: ${nodes.length} versions of Node\n`);
	expect([...(await traceDigests({ nodes, processes: 100, seed: 1 }))]).toEqual([
		expect.stringMatching(/^[0-9a-f]{64}$/),
	]);
});
