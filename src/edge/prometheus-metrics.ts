/** Metrics by prom-client, in Prometheus' text format. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type {
	Counter as CounterPort,
	Gauge as GaugePort,
	Histogram as HistogramPort,
	Labels,
	MetricOptions,
	Metrics,
} from "../kernel/metrics.ts";

export class PrometheusMetrics implements Metrics {
	readonly #registry = new Registry();
	readonly #updates = new Map<string, () => void>();

	counter({ name, help, labelNames = [] }: MetricOptions): CounterPort {
		const counter = this.#once(
			name,
			Counter,
			() => new Counter({ name, help, labelNames, registers: [this.#registry] }),
		);
		return { add: (by = 1, labels: Labels = {}) => counter.inc(labels, by) };
	}

	gauge({ name, help, labelNames = [] }: MetricOptions): GaugePort {
		const gauge = this.#once(name, Gauge, () => new Gauge({ name, help, labelNames, registers: [this.#registry] }));
		return { set: (value, labels: Labels = {}) => gauge.set(labels, value) };
	}

	histogram({ name, help, labelNames = [], buckets }: MetricOptions & { buckets?: readonly number[] }): HistogramPort {
		const limits = buckets === undefined ? {} : { buckets: [...buckets] };
		const make = (): Histogram => new Histogram({ name, help, labelNames, ...limits, registers: [this.#registry] });
		const histogram = this.#once(name, Histogram, make);
		return { observe: (value, labels: Labels = {}) => histogram.observe(labels, value) };
	}

	onRead(name: string, update: () => void): void {
		this.#updates.set(name, update);
	}

	/** Everything counted so far, as `text/plain; version=0.0.4`. */
	text(): Promise<string> {
		for (const update of this.#updates.values()) update();
		return this.#registry.metrics();
	}

	#once<M>(name: string, type: abstract new (...options: never[]) => M, make: () => M): M {
		const known: unknown = this.#registry.getSingleMetric(name);
		return known instanceof type ? known : make();
	}
}
