import { describe, expect, test } from "vitest";
import type { Logger } from "../kernel/logger.ts";
import { settle, VirtualClock } from "../testing/virtual-clock.ts";
import { type Outcome, type Reconciler, runWorkers, SETTLED, TerminalError, type WorkerOptions } from "./controller.ts";
import { WorkQueue } from "./work-queue.ts";

function harness(answers: (Outcome | Error)[], options: Partial<WorkerOptions> = {}) {
	const clock = new VirtualClock();
	const queue = new WorkQueue<string>({ clock });
	const stop = new AbortController();
	const calls: string[] = [];
	const logged: string[] = [];
	const reconciler: Reconciler = {
		name: "test",
		reconcile: async (key) => {
			calls.push(`${clock.monotonicMs()}ms ${key}`);
			const answer = answers.shift() ?? SETTLED;
			if (answer instanceof Error) throw answer;
			return answer;
		},
	};
	const nothing = (): void => undefined;
	const log: Logger = { debug: nothing, info: nothing, warn: (m) => logged.push(m), error: (m) => logged.push(m) };
	const work = runWorkers(queue, reconciler, { workers: 2, clock, log, signal: stop.signal, ...options });
	return { clock, queue, stop, calls, logged, work };
}

describe("runWorkers()", () => {
	test("retries a failure with exponential back-off, one log line each, then forgets it", async () => {
		const { clock, queue, calls, logged } = harness([new Error("boom"), new Error("boom")]);
		queue.add("default/web");
		await clock.advance(1_000);
		expect(calls).toEqual(["0ms default/web", "5ms default/web", "15ms default/web"]);
		expect(logged).toEqual(["Reconcile failed and will be retried", "Reconcile failed and will be retried"]);
		expect(queue.requeues("default/web")).toBe(0);
	});

	test("gives a key up after its budget of requeues, and starts over at its next event", async () => {
		const boom = (): Error[] => Array.from({ length: 20 }, () => new Error("boom"));
		const { clock, queue, calls, logged } = harness(boom(), { retriesMax: 3 });
		queue.add("a");
		await clock.advance(60_000);
		expect(calls).toHaveLength(4);
		expect(logged.at(-1)).toBe("Reconcile failed too often and was given up");
		queue.add("a");
		await clock.advance(60_000);
		expect(calls).toHaveLength(8);
	});

	test("never gives up with a budget of 0", async () => {
		const boom = Array.from({ length: 30 }, () => new Error("boom"));
		const { clock, queue, calls } = harness(boom, { retriesMax: 0 });
		queue.add("a");
		await clock.advance(100_000_000);
		expect(calls).toHaveLength(31);
	});

	test("leaves a terminal failure alone", async () => {
		const { clock, queue, calls, logged } = harness([new TerminalError("no")]);
		queue.add("a");
		await clock.advance(60_000);
		expect(calls).toHaveLength(1);
		expect(logged).toEqual(["Reconcile failed for good"]);
	});

	test("comes back when the outcome says so", async () => {
		const { clock, queue, calls } = harness([{ kind: "recheck", afterMs: 500, why: "minReadySeconds" }]);
		queue.add("a");
		await clock.advance(499);
		expect(calls).toHaveLength(1);
		await clock.advance(1);
		expect(calls).toEqual(["0ms a", "500ms a"]);
	});

	test("resolves when aborted, also with a delayed key outstanding", async () => {
		const { queue, stop, work } = harness([]);
		queue.addAfter("a", 10_000);
		await settle();
		stop.abort();
		await expect(work).resolves.toBeUndefined();
	});
});
