import { describe, expect, test } from "vitest";
import { rollInNamespaces } from "../load/netns-rolling.ts";
import { rollBehindHealthChecks, rollMany, rollOne } from "../load/rolling.ts";
import { labProblem } from "../netns/lab.ts";

const problem = labProblem();
if (problem !== undefined) process.stderr.write(`skipped: rolling updates between network namespaces: ${problem}\n`);

describe.each([1, 2, 3])("run %i: a rolling update under 200 requests a second", () => {
	test("loses none with 50 Pods, and some when Pods do not drain", async () => {
		expect((await rollMany(50)).failures).toEqual({});
		expect((await rollMany(50, { drain: false })).failures).not.toEqual({});
	});

	test("loses none with one Pod, and some when terminating endpoints get nothing", async () => {
		expect((await rollOne()).failures).toEqual({});
		expect((await rollOne({ terminatingFallback: false })).failures).not.toEqual({});
	});

	test("loses none behind health check node ports, and some when terminating endpoints get nothing", async () => {
		expect((await rollBehindHealthChecks()).failures).toEqual({});
		expect((await rollBehindHealthChecks({ terminatingFallback: false })).failures).not.toEqual({});
	});

	test.skipIf(problem !== undefined)("loses none with 50 Pods between network namespaces", async () => {
		const { sent, failures } = await rollInNamespaces(50);
		expect(failures).toEqual({});
		process.stderr.write(`rolling update of 50 Pods in namespaces: ${sent} requests, none failed\n`);
	});
});
