/** The EndpointSliceMirroring controller's metrics, under upstream's names. */
import type { Metrics } from "../kernel/metrics.ts";
import type { MirrorCounts } from "../plan/mirroring/plan-mirror.ts";

const PREFIX = "endpoint_slice_mirroring_controller_";
/** 2 to 32768. */
const COUNT_BUCKETS: readonly number[] = Array.from({ length: 15 }, (_, i) => 2 ** (i + 1));
/** Seconds: 1 ms to 16.384 s. */
const SECONDS_BUCKETS: readonly number[] = Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i);

export interface MirrorMetrics {
	wrote(operation: "create" | "update" | "delete"): void;
	planned(key: string, counts: MirrorCounts): void;
	forgot(key: string): void;
	took(ms: number): void;
}

export function mirrorMetrics(metrics: Metrics): MirrorMetrics {
	const series = instruments(metrics);
	const known = new Map<string, MirrorCounts>();
	const totals = { endpoints: 0, slices: 0, slicesMin: 0 };
	const replace = (key: string, next: MirrorCounts | undefined): void => {
		const before = known.get(key);
		for (const name of ["endpoints", "slices", "slicesMin"] as const) {
			totals[name] += (next?.[name] ?? 0) - (before?.[name] ?? 0);
			series[name].set(totals[name]);
		}
		if (next === undefined) known.delete(key);
		else known.set(key, next);
	};
	return {
		wrote: (operation) => series.changes.add(1, { operation }),
		planned(key, counts) {
			for (const name of ["added", "updated", "removed", "skipped"] as const) series[name].observe(counts[name]);
			replace(key, counts);
		},
		forgot: (key) => replace(key, undefined),
		took: (ms) => series.duration.observe(ms / 1000),
	};
}

function instruments(metrics: Metrics) {
	const gauge = (name: string, help: string) => metrics.gauge({ name: PREFIX + name, help });
	const perSync = (name: string, help: string) =>
		metrics.histogram({ name: PREFIX + name, help, buckets: COUNT_BUCKETS });
	return {
		added: perSync("endpoints_added_per_sync", "Endpoints added by a sync of Endpoints."),
		updated: perSync("endpoints_updated_per_sync", "Endpoints changed by a sync of Endpoints."),
		removed: perSync("endpoints_removed_per_sync", "Endpoints removed by a sync of Endpoints."),
		skipped: perSync("addresses_skipped_per_sync", "Addresses left out by a sync of Endpoints."),
		duration: metrics.histogram({
			name: `${PREFIX}endpoints_sync_duration`,
			help: "Seconds that a sync of Endpoints took.",
			buckets: SECONDS_BUCKETS,
		}),
		endpoints: gauge("endpoints_desired", "Endpoints that mirrored slices should have."),
		slices: gauge("num_endpoint_slices", "Mirrored EndpointSlices that there are."),
		slicesMin: gauge("desired_endpoint_slices", "Mirrored EndpointSlices there would be with perfect packing."),
		changes: metrics.counter({
			name: `${PREFIX}changes`,
			help: "Writes of mirrored EndpointSlices.",
			labelNames: ["operation"],
		}),
	};
}
