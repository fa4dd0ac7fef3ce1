import { describe, expect, test } from "vitest";
import { pod } from "../../testing/builders.ts";
import { type BackOff, backOffDelayMs, isRestarted, nextBackOff, RESTART_BACK_OFF } from "./container-run.ts";

describe("a container that has ended", () => {
	test.each<{ restartPolicy: "Always" | "OnFailure" | "Never"; exitCode: number; restarted: boolean }>([
		{ restartPolicy: "Always", exitCode: 0, restarted: true },
		{ restartPolicy: "Always", exitCode: 1, restarted: true },
		{ restartPolicy: "OnFailure", exitCode: 0, restarted: false },
		{ restartPolicy: "OnFailure", exitCode: 1, restarted: true },
		{ restartPolicy: "Never", exitCode: 1, restarted: false },
	])("with $exitCode and $restartPolicy is restarted: $restarted", ({ restartPolicy, exitCode, restarted }) => {
		expect(isRestarted(pod("p", { spec: { restartPolicy } }), exitCode)).toBe(restarted);
	});

	/** Delays of containers that run for `ranMs` each time. */
	function delays(count: number, ranMs: number): readonly number[] {
		let backOff: BackOff | undefined;
		let nowMs = 0;
		return Array.from({ length: count }, () => {
			const endedMs = nowMs + ranMs;
			const delayMs = backOffDelayMs(backOff, RESTART_BACK_OFF, endedMs);
			nowMs = endedMs + delayMs;
			backOff = nextBackOff(backOff, RESTART_BACK_OFF, endedMs, nowMs);
			return delayMs / 1_000;
		});
	}

	test("waits from 10 s on, doubled each time, up to five minutes", () => {
		expect(delays(9, 100)).toEqual([0, 10, 20, 40, 80, 160, 300, 300, 300]);
	});

	test("begins anew after it has run for ten minutes", () => {
		expect(delays(3, 600_001)).toEqual([0, 0, 0]);
		expect(delays(3, 600_000)).toEqual([0, 10, 20]);
	});
});
