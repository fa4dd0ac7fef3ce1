/** Metrics that are counted in one thread and shown by another. */
import { unreachable } from "../kernel/assert.ts";
import type { Counter, Gauge, Histogram, Labels, MetricOptions, Metrics } from "../kernel/metrics.ts";
import type { Measurement } from "./data-plane-messages.ts";

/** Collects what is counted until it is taken: one measurement for each series, however often it changed. */
export class ForwardedMetrics implements Metrics {
	#pending = new Map<string, Measurement>();

	counter(metric: MetricOptions): Counter {
		return {
			add: (by = 1, labels = {}) => {
				const key = seriesOf(metric, labels);
				const value = (this.#pending.get(key)?.value ?? 0) + by;
				this.#pending.set(key, { kind: "counter", metric, labels, value });
			},
		};
	}

	gauge(metric: MetricOptions): Gauge {
		return {
			set: (value, labels = {}) =>
				this.#pending.set(seriesOf(metric, labels), { kind: "gauge", metric, labels, value }),
		};
	}

	/** Distributions are not carried over: nothing in the data plane has one. */
	histogram(): Histogram {
		return { observe: () => undefined };
	}

	/** Nor is what changes with time alone. */
	onRead(): void {}

	/** What was counted since the last call. */
	take(): readonly Measurement[] {
		const taken = [...this.#pending.values()];
		this.#pending = new Map();
		return taken;
	}
}

export function applyMeasurements(metrics: Metrics, measurements: readonly Measurement[]): void {
	for (const { kind, metric, labels, value } of measurements) {
		switch (kind) {
			case "counter":
				metrics.counter(metric).add(value, labels);
				break;
			case "gauge":
				metrics.gauge(metric).set(value, labels);
				break;
			default:
				unreachable(kind);
		}
	}
}

function seriesOf({ name }: MetricOptions, labels: Labels): string {
	return `${name} ${JSON.stringify(labels)}`;
}
