import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type PodTraits, pod } from "../../testing/builders.ts";
import { type Behaviour, behaviourOf } from "./behaviour.ts";
import { nextStageMs, type PodRun, runOf, type Stage, stageAt, stoppedRun } from "./stage.ts";

const BASE_MS = Date.parse("2026-01-01T00:00:00Z");

function shown(stage: Stage): string {
	if (stage.kind === "starting") return "starting";
	if (stage.kind === "running") return stage.isReady ? "ready" : "running";
	return `${stage.startedMs === undefined ? "never ran, " : ""}exit ${stage.exitCode}`;
}

/** Every stage with the time at which it begins, found as a node finds it: by asking when to look again. */
function life(run: PodRun, behaviour: Behaviour): string {
	const seen: string[] = [];
	for (let nowMs: number | undefined = run.seenMs; nowMs !== undefined; nowMs = nextStageMs(run, behaviour, nowMs)) {
		const stage = shown(stageAt(run, behaviour, nowMs));
		if (seen.at(-1)?.endsWith(` ${stage}`) !== true) seen.push(`${nowMs - BASE_MS} ${stage}`);
	}
	return seen.join(", ");
}

function behaviour(more: Partial<Behaviour> = {}): Behaviour {
	return { ...behaviourOf(pod("p")), ...more };
}

const RUN: PodRun = { seenMs: BASE_MS, placedMs: BASE_MS };

/** A run whose deletion, with so much grace, was seen at `sinceMs` after it began. */
function stopped(sinceMs: number, graceSeconds: number): PodRun {
	return stoppedRun(RUN, deleted(sinceMs + graceSeconds * 1000, graceSeconds), BASE_MS + sinceMs);
}

function deleted(deadlineMs: number, graceSeconds: number): ReturnType<typeof pod> {
	const deletionTimestamp = `${new Date(BASE_MS + deadlineMs).toISOString().slice(0, 19)}Z`;
	return pod("p", { metadata: { deletionTimestamp, deletionGracePeriodSeconds: graceSeconds } });
}

describe("the life of a Pod", () => {
	test.each<[string, string, PodRun, Partial<Behaviour>]>([
		["is ready when it runs", "0 starting, 100 ready", RUN, {}],
		["is ready later", "0 starting, 100 running, 5100 ready", RUN, { readyAfterMs: 5_000 }],
		["is never ready", "0 starting, 100 running", RUN, { readyAfterMs: undefined }],
		["waits for an address", "0 starting", { seenMs: BASE_MS, placedMs: undefined }, {}],
		["starts when it has one", "0 starting, 800 ready", { seenMs: BASE_MS, placedMs: BASE_MS + 700 }, {}],
		["ends by itself", "0 starting, 100 ready, 2100 exit 3", RUN, { exitAfterMs: 2_000, exitCode: 3 }],
		["stops", "0 starting, 100 ready, 6000 exit 0", stopped(5_000, 30), {}],
		["stops with its own exit code", "0 starting, 100 ready, 6000 exit 2", stopped(5_000, 30), { exitCode: 2 }],
		["is killed at its deadline", "0 starting, 100 ready, 35000 exit 137", stopped(5_000, 30), { stopMs: undefined }],
		["is killed if it stops too slowly", "0 starting, 100 ready, 7000 exit 137", stopped(5_000, 2), { stopMs: 3_000 }],
		["has its whole grace period", "0 starting, 100 ready, 7500 exit 0", stopped(5_500, 2), { stopMs: 2_000 }],
		[
			"fails its probe",
			"0 starting, 100 ready, 5300 running, 6000 exit 0",
			stopped(5_000, 30),
			{ unreadyAfterMs: 300 },
		],
		[
			"becomes ready while it stops",
			"0 starting, 100 running, 5500 ready, 6000 exit 0",
			stopped(5_000, 30),
			{ readyAfterMs: 5_400 },
		],
		["ends by itself while it stops", "0 starting, 100 ready, 5600 exit 0", stopped(5_000, 30), { exitAfterMs: 5_500 }],
		["never runs if it is stopped before", "0 never ran, exit 137", stopped(50, 30), { startupMs: 2_000 }],
		["ends at once without an address", "0 never ran, exit 137", { ...stopped(50, 30), placedMs: undefined }, {}],
	])("%s: %s", (_, expected, run, more) => {
		expect(life(run, behaviour(more))).toBe(expected);
	});

	test("only goes forward, and always says when to look again", () => {
		const ms = fc.option(fc.integer({ min: 0, max: 5_000 }), { nil: undefined });
		const traits = fc.record({ readyAfterMs: ms, unreadyAfterMs: ms, stopMs: ms, exitAfterMs: ms });
		const stop = fc.option(fc.tuple(fc.integer({ min: 0, max: 9_000 }), fc.integer({ min: 0, max: 5 })));
		fc.assert(
			fc.property(traits, stop, (more, stopping) => {
				const run = stopping === null ? RUN : stopped(...stopping);
				let before = BASE_MS;
				for (let nowMs: number | undefined = BASE_MS; nowMs !== undefined; ) {
					// Nothing changes between two looks.
					expect(shown(stageAt(run, behaviour(more), nowMs - 1))).toBe(shown(stageAt(run, behaviour(more), before)));
					before = nowMs;
					const nextMs = nextStageMs(run, behaviour(more), nowMs);
					expect(nextMs ?? nowMs + 1).toBeGreaterThan(nowMs);
					nowMs = nextMs;
				}
				if (stopping !== null) expect(stageAt(run, behaviour(more), BASE_MS + 60_000).kind).toBe("ended");
			}),
		);
	});
});

describe("stoppedRun", () => {
	const deadline = (run: PodRun): number => (run.stopping?.deadlineMs ?? 0) - BASE_MS;

	test("takes the deadline from the deletionTimestamp, with the part of a second that it cannot say", () => {
		expect(deadline(stopped(5_250, 30))).toBe(35_250);
	});

	test("moves the deadline when a second DELETE sets an earlier one, but not the time of SIGTERM", () => {
		const shortened = stoppedRun(stopped(5_000, 30), deleted(15_000, 10), BASE_MS + 8_000);
		expect([deadline(shortened), shortened.stopping?.sinceMs]).toEqual([15_000, BASE_MS + 5_000]);
	});

	test("leaves a second when the new deadline is now", () => {
		const shortened = stoppedRun(stopped(5_000, 30), deleted(20_400, 1), BASE_MS + 20_400);
		expect(deadline(shortened)).toBe(21_400);
	});

	test("leaves nothing when no grace is left", () => {
		const forced = stoppedRun(stopped(5_000, 30), deleted(20_400, 0), BASE_MS + 20_400);
		expect(deadline(forced)).toBe(20_400);
	});

	test("changes nothing when the deletion is the one that it knows", () => {
		const run = stopped(5_000, 30);
		expect(stoppedRun(run, deleted(35_000, 30), BASE_MS + 9_000)).toBe(run);
	});
});

describe("runOf", () => {
	test("begins with a Pod that has no status yet", () => {
		expect(runOf(pod("p", { status: {} }), behaviour(), BASE_MS)).toEqual({ seenMs: BASE_MS, placedMs: undefined });
	});

	test("goes on with a Pod that runs already, as if it had brought it up", () => {
		const state = { running: { startedAt: "2026-01-01T00:00:07Z" } };
		const status: PodTraits["status"] = {
			startTime: "2026-01-01T00:00:06Z",
			containerStatuses: [{ name: "c", ready: true, restartCount: 0, image: "", imageID: "", state }],
		};
		const run = runOf(pod("p", { status }), behaviour(), BASE_MS + 60_000);
		expect(run.seenMs).toBe(BASE_MS + 6_000);
		expect(stageAt(run, behaviour(), BASE_MS + 60_000)).toMatchObject({ startedMs: BASE_MS + 7_000, isReady: true });
	});
});
