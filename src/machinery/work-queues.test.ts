import { expect, test } from "vitest";
import { PrometheusMetrics } from "../edge/prometheus-metrics.ts";
import { RecordingMetrics } from "../testing/recording-metrics.ts";
import { silentMetrics } from "../testing/silent.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { WorkQueues } from "./work-queues.ts";

test("counts what all queues have to do, and what waits for another try apart", async () => {
	const clock = new VirtualClock();
	const queues = new WorkQueues({ clock, metrics: silentMetrics });
	const [slices, endpoints] = [queues.make<string>({ name: "slices" }), queues.make<string>({ name: "endpoints" })];
	slices.add("a");
	slices.add("b");
	slices.addAfter("c", 500);
	endpoints.addRateLimited("d");
	const taken = await slices.take();
	expect(queues.load()).toEqual({ waiting: 1, processing: 1, delayed: 1, retrying: 1 });
	expect([queues.retrying("endpoints"), queues.retrying("slices"), queues.retrying("unknown")]).toEqual([
		["d"],
		[],
		[],
	]);
	slices.done(taken ?? "");
	await slices.take();
	slices.done("b");
	await clock.advance(1_000);
	expect(queues.load()).toEqual({ waiting: 2, processing: 0, delayed: 0, retrying: 0 });
});

test("tells how long the keys that are handed out take, at the time of the look", async () => {
	const clock = new VirtualClock();
	const metrics = new PrometheusMetrics();
	const queue = new WorkQueues({ clock, metrics }).make<string>({ name: "q" });
	const shown = async (): Promise<readonly string[]> =>
		(await metrics.text()).split("\n").filter((line) => /^workqueue_(unfinished|longest)/.test(line));
	for (const key of ["a", "b"]) {
		queue.add(key);
		await queue.take();
		await clock.advance(1_000);
	}
	expect(await shown()).toEqual([
		'workqueue_unfinished_work_seconds{name="q"} 3',
		'workqueue_longest_running_processor_seconds{name="q"} 2',
	]);
	for (const key of ["a", "b"]) queue.done(key);
	expect(await shown()).toEqual([
		'workqueue_unfinished_work_seconds{name="q"} 0',
		'workqueue_longest_running_processor_seconds{name="q"} 0',
	]);
});

test("a queue that is not to be measured is looked after all the same", () => {
	const metrics = new RecordingMetrics();
	const queues = new WorkQueues({ clock: new VirtualClock(), metrics });
	queues.make<string>({ name: "q", isMeasured: false }).add("a");
	expect([queues.load().waiting, metrics.values.size]).toEqual([1, 0]);
});
