/** What kube-proxy counts, by its names. */
import type { IPFamily } from "../api/types/meta.ts";
import type { Counter, Gauge, Histogram, Metrics } from "../kernel/metrics.ts";

/** Seconds: 1 ms, doubled 14 times. */
const SYNC_BUCKETS: readonly number[] = Array.from({ length: 15 }, (_, index) => 0.001 * 2 ** index);

/** Seconds: a quarter, a half, each to a minute, every fifth to two, every thirtieth to five. */
const PROGRAMMING_BUCKETS: readonly number[] = [
	0.25,
	0.5,
	...Array.from({ length: 59 }, (_, index) => index + 1),
	...Array.from({ length: 12 }, (_, index) => 60 + 5 * index),
	...Array.from({ length: 7 }, (_, index) => 120 + 30 * index),
];

export class KernelProxyMetrics {
	readonly #durations: Histogram;
	readonly #full: Histogram;
	readonly #partial: Histogram;
	readonly #transactions: Gauge;
	readonly #programming: Histogram;
	readonly #lastSynced: Gauge;
	readonly #lastQueued: Gauge;
	readonly #noLocal: Gauge;
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
		this.#programming = metrics.histogram({
			name: "kubeproxy_network_programming_duration_seconds",
			help: "From the change of a Pod or Service to the rules.",
			buckets: PROGRAMMING_BUCKETS,
		});
		const gauge = (name: string, help: string, labelNames: readonly string[] = []): Gauge =>
			metrics.gauge({ name: `kubeproxy_${name}`, help, labelNames });
		this.#lastSynced = gauge("sync_proxy_rules_last_timestamp_seconds", "When the last run ended well.");
		this.#lastQueued = gauge("sync_proxy_rules_last_queued_timestamp_seconds", "When the last change came.");
		this.#noLocal = gauge(
			"sync_proxy_rules_no_local_endpoints_total",
			"Ports under policy Local with endpoints, and none of them on this node.",
			["traffic_policy"],
		);
		this.#transactions = metrics.gauge({
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
		this.#transactions.set(run.transactions, labels);
		this.#bytes.set(run.bytes, labels);
	}

	/** A change is in the kernel so long after it happened. */
	programmed(seconds: number): void {
		this.#programming.observe(seconds);
	}

	/** @param wallMs When the run ended. */
	ended(wallMs: number, noLocal: { readonly internal: number; readonly external: number }): void {
		this.#lastSynced.set(wallMs / 1_000);
		this.#noLocal.set(noLocal.internal, { traffic_policy: "internal" });
		this.#noLocal.set(noLocal.external, { traffic_policy: "external" });
	}

	queued(wallMs: number): void {
		this.#lastQueued.set(wallMs / 1_000);
	}

	failed(family: IPFamily): void {
		this.#failures.add(1, { ip_family: family });
	}

	cut(family: IPFamily, flows: number): void {
		this.#cut.add(flows, { ip_family: family });
	}
}
