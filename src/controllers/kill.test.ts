import { describe, expect, test } from "vitest";
import { killRun } from "../testing/kill-run.ts";

describe("controllers that die at any API call", () => {
	test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
		"leave nothing twice, lost or to be done again (seed %i)",
		async (seed) => {
			expect((await killRun(seed)).problems).toEqual([]);
		},
	);
});
