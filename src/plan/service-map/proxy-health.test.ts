import { describe, expect, test } from "vitest";
import { node } from "../../testing/builders.ts";
import { isNodeEligible, proxyHealth } from "./proxy-health.ts";

const state = (pendingSinceMs?: number) => ({
	lastSyncedMs: 10_000,
	pendingSinceMs,
	nowMs: 100_000,
	wallMs: Date.UTC(2026, 0, 1),
	timeoutMs: 60_000,
});

describe("proxyHealth()", () => {
	test.each<{ rule: string; pending?: number; eligible?: boolean; status: number }>([
		{ rule: "nothing waits", status: 200 },
		{ rule: "a change waits a little", pending: 40_000, status: 200 },
		{ rule: "a change waits longer than it may", pending: 39_999, status: 503 },
		{ rule: "the node goes", eligible: false, status: 503 },
		{ rule: "the node stays", eligible: true, status: 200 },
	])("$rule: $status", ({ pending, eligible, status }) => {
		expect(proxyHealth(state(pending), eligible).status).toBe(status);
	});

	test("tells of the last good run only when it is behind", () => {
		expect(JSON.parse(proxyHealth(state()).body)).toMatchObject({ lastUpdated: "2026-01-01T00:00:00.000Z" });
		expect(JSON.parse(proxyHealth(state(0)).body)).toMatchObject({
			lastUpdated: "2025-12-31T23:58:30.000Z",
			currentTime: "2026-01-01T00:00:00.000Z",
			healthy: false,
		});
	});
});

describe("isNodeEligible()", () => {
	const plain = node("n1");
	test.each([
		["a node", plain, true],
		["none", undefined, false],
		[
			"one that is being deleted",
			{ ...plain, metadata: { ...plain.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } },
			false,
		],
		[
			"one that the autoscaler takes away",
			{ ...plain, spec: { taints: [{ key: "ToBeDeletedByClusterAutoscaler", effect: "NoSchedule" as const }] } },
			false,
		],
	])("%s", (_, of, is) => {
		expect(isNodeEligible(of)).toBe(is);
	});
});
