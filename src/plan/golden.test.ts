/** What the planners decide, as texts to be read beside Kubernetes' documentation: testdata/plan. */
import { describe, expect, test } from "vitest";
import { goldenFiles, replayed } from "../testing/golden.ts";
import { plannerConsole } from "../testing/planner-console.ts";

describe.each(["endpointslice", "endpoints", "mirroring"] as const)("the planner of %s", (planner) => {
	test.each(goldenFiles(`testdata/plan/${planner}`))("decides what $name says", async (golden) => {
		await expect(await replayed(golden.text, plannerConsole(planner))).toMatchFileSnapshot(golden.file);
	});
});
