/** The metrics that client-go keeps of every named work queue, under its names. */
import type { Metrics } from "../kernel/metrics.ts";

export interface QueueMetrics {
	added(): void;
	retried(): void;
	depth(keys: number): void;
	started(waitedSeconds: number): void;
	finished(workedSeconds: number): void;
}

/** 10 ns to 10 s, as client-go has them. */
const SECONDS_BUCKETS: readonly number[] = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10];

const UNMEASURED: QueueMetrics = {
	added: () => undefined,
	retried: () => undefined,
	depth: () => undefined,
	started: () => undefined,
	finished: () => undefined,
};

/** @param working For each key that is handed out, the seconds since then. */
export function queueMetrics(
	metrics: Metrics | undefined,
	name: string,
	working: () => readonly number[],
): QueueMetrics {
	if (metrics === undefined) return UNMEASURED;
	measureUnfinished(metrics, name, working);
	const labels = { name };
	const common = { labelNames: ["name"] };
	const adds = metrics.counter({ ...common, name: "workqueue_adds_total", help: "Keys added to the work queue." });
	const retries = metrics.counter({ ...common, name: "workqueue_retries_total", help: "Keys added after a failure." });
	const depth = metrics.gauge({ ...common, name: "workqueue_depth", help: "Keys waiting in the work queue." });
	const waited = metrics.histogram({
		...common,
		name: "workqueue_queue_duration_seconds",
		help: "Time from adding a key to handing it out.",
		buckets: SECONDS_BUCKETS,
	});
	const worked = metrics.histogram({
		...common,
		name: "workqueue_work_duration_seconds",
		help: "Time that processing a key took.",
		buckets: SECONDS_BUCKETS,
	});
	return {
		added: () => adds.add(1, labels),
		retried: () => retries.add(1, labels),
		depth: (keys) => depth.set(keys, labels),
		started: (seconds) => waited.observe(seconds, labels),
		finished: (seconds) => worked.observe(seconds, labels),
	};
}

/** A key that is stuck shows in nothing else. */
function measureUnfinished(metrics: Metrics, name: string, working: () => readonly number[]): void {
	const unfinished = metrics.gauge({
		labelNames: ["name"],
		name: "workqueue_unfinished_work_seconds",
		help: "Time that keys being processed have taken so far, all together.",
	});
	const longest = metrics.gauge({
		labelNames: ["name"],
		name: "workqueue_longest_running_processor_seconds",
		help: "Time that the longest of the keys being processed has taken so far.",
	});
	metrics.onRead(`workqueue ${name}`, () => {
		const seconds = working();
		unfinished.set(
			seconds.reduce((sum, each) => sum + each, 0),
			{ name },
		);
		longest.set(Math.max(0, ...seconds), { name });
	});
}
