/** What kube-proxy counts, by its names. */
import type { IPFamily } from "../api/types/meta.ts";
import type { Counter, Gauge, Histogram, Metrics } from "../kernel/metrics.ts";

/** Seconds: 1 ms, doubled 14 times. */
const SYNC_BUCKETS: readonly number[] = Array.from({ length: 15 }, (_, index) => 0.001 * 2 ** index);

export class KernelProxyMetrics {
	readonly #durations: Histogram;
	readonly #full: Histogram;
	readonly #partial: Histogram;
	readonly #last: Gauge;
	readonly #failures: Counter;
	readonly #cut: Counter;
	readonly #bytes: Gauge;

	constructor(metrics: Metrics) {
		const histogram = (name: string, help: string): Histogram =>
			metrics.histogram({ name: `kubeproxy_${name}`, help, labelNames: ["ip_family"], buckets: SYNC_BUCKETS });
		const counter = (name: string, help: string): Counter =>
			metrics.counter({ name: `kubeproxy_${name}`, help, labelNames: ["ip_family"] });
		this.#durations = histogram("sync_proxy_rules_duration_seconds", "Time of one run.");
		this.#full = histogram("sync_full_proxy_rules_duration_seconds", "Time of runs that wrote all rules.");
		this.#partial = histogram("sync_partial_proxy_rules_duration_seconds", "Time of runs that wrote what changed.");
		this.#last = metrics.gauge({
			name: "sliceplane_sync_proxy_rules_last_transactions",
			help: "Transactions of the last run.",
			labelNames: ["ip_family"],
		});
		this.#bytes = metrics.gauge({
			name: "sliceplane_sync_proxy_rules_last_bytes",
			help: "Bytes of the transactions of the last run.",
			labelNames: ["ip_family"],
		});
		this.#failures = counter("sync_proxy_rules_nftables_sync_failures_total", "Runs whose rules the kernel refused.");
		this.#cut = counter("conntrack_reconciler_deleted_entries_total", "Flows to endpoints that are gone, cut.");
	}

	synced(
		family: IPFamily,
		run: { readonly isFull: boolean; readonly transactions: number; readonly bytes: number },
		seconds: number,
	): void {
		const labels = { ip_family: family };
		this.#durations.observe(seconds, labels);
		(run.isFull ? this.#full : this.#partial).observe(seconds, labels);
		this.#last.set(run.transactions, labels);
		this.#bytes.set(run.bytes, labels);
	}

	failed(family: IPFamily): void {
		this.#failures.add(1, { ip_family: family });
	}

	cut(family: IPFamily, flows: number): void {
		this.#cut.add(flows, { ip_family: family });
	}
}
