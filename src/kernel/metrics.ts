/** Label values by label name. Every series of one metric has the same label names. */
export type Labels = Readonly<Record<string, string>>;

export interface Counter {
	add(by?: number, labels?: Labels): void;
}

export interface Gauge {
	set(value: number, labels?: Labels): void;
}

export interface Histogram {
	observe(value: number, labels?: Labels): void;
}

export interface MetricOptions {
	readonly name: string;
	readonly help: string;
	readonly labelNames?: readonly string[];
}

/**
 * Where programs count. Asking twice for one name gives the same metric.
 * Names follow Prometheus: unit last, `_total` on counters; upstream's names where upstream has them.
 */
export interface Metrics {
	counter(options: MetricOptions): Counter;
	gauge(options: MetricOptions): Gauge;
	histogram(options: MetricOptions & { readonly buckets?: readonly number[] }): Histogram;
	/** Calls `update` before the metrics are read: for what changes with time alone. The last one of a name counts. */
	onRead(name: string, update: () => void): void;
}
