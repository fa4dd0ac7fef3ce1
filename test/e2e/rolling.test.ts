/** Rolling updates lose no request; and would, were it not for draining and the terminating fallback. */
import { describe, expect, test } from "vitest";
import { rollBehindHealthChecks, rollMany, rollOne } from "../load/rolling.ts";

describe("a rolling update under 200 requests a second", () => {
	test("loses none with 10 Pods", async () => {
		const { sent, failures } = await rollMany(10);
		expect(failures).toEqual({});
		expect(sent).toBeGreaterThan(200);
	});

	test("loses some when Pods do not drain", async () => {
		expect((await rollMany(10, { drain: false })).failures).not.toEqual({});
	});

	test("loses none with one Pod that drains until its successor is there", async () => {
		expect((await rollOne()).failures).toEqual({});
	});

	test("loses some with one Pod when terminating endpoints get nothing", async () => {
		expect((await rollOne({ terminatingFallback: false })).failures).not.toEqual({});
	});

	test("loses none with one Pod a node, behind health check node ports", async () => {
		expect((await rollBehindHealthChecks()).failures).toEqual({});
	});

	test("loses some behind health check node ports when terminating endpoints get nothing", async () => {
		expect((await rollBehindHealthChecks({ terminatingFallback: false })).failures).not.toEqual({});
	});
});
