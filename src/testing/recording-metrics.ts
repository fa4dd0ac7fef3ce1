import type { Counter, Gauge, Histogram, Labels, MetricOptions, Metrics } from "../kernel/metrics.ts";

/** Metrics as numbers by name and labels: `syncs{result=success}`. A histogram counts its observations. */
export class RecordingMetrics implements Metrics {
	readonly values: Map<string, number> = new Map();

	counter({ name }: MetricOptions): Counter {
		return { add: (by = 1, labels) => this.#add(name, labels, by) };
	}

	gauge({ name }: MetricOptions): Gauge {
		return { set: (value, labels) => this.values.set(seriesOf(name, labels), value) };
	}

	histogram({ name }: MetricOptions): Histogram {
		return { observe: (_, labels) => this.#add(name, labels, 1) };
	}

	/** What changes with time alone is not recorded. */
	onRead(): void {}

	#add(name: string, labels: Labels | undefined, by: number): void {
		const series = seriesOf(name, labels);
		this.values.set(series, (this.values.get(series) ?? 0) + by);
	}
}

function seriesOf(name: string, labels: Labels = {}): string {
	const words = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
	return words.length === 0 ? name : `${name}{${words.join()}}`;
}
