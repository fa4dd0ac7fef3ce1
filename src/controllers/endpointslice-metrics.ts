/** The EndpointSlice controller's metrics, under upstream's names. */
import type { Service } from "../api/types/core.ts";
import type { Metrics } from "../kernel/metrics.ts";
import { trafficDistributionOf, wantsTopologyHints } from "../plan/endpointslice/hints.ts";
import type { FamilyCounts, FamilyPlan } from "../plan/endpointslice/plan-family.ts";

const PREFIX = "endpoint_slice_controller_";
/** 2 to 32768. */
const COUNT_BUCKETS: readonly number[] = Array.from({ length: 15 }, (_, i) => 2 ** (i + 1));

interface ServiceState {
	readonly counts: FamilyCounts;
	readonly trafficDistribution: string | undefined;
}

export interface SliceMetrics {
	synced(result: "success" | "stale" | "error"): void;
	wrote(operation: "create" | "update" | "delete"): void;
	/** Told before the writes. Of a dual-stack Service only the family planned last is counted in the gauges. */
	planned(key: string, service: Service, plan: FamilyPlan): void;
	/** Told when every write of the plan was made. */
	carriedOut(service: Service, plan: FamilyPlan): void;
	forgot(key: string): void;
}

export function sliceMetrics(metrics: Metrics): SliceMetrics {
	const series = instruments(metrics);
	const states = new Map<string, ServiceState>();
	const totals = { endpoints: 0, slices: 0, slicesMin: 0 };
	const byDistribution = new Map<string, number>();
	const replace = (key: string, next: ServiceState | undefined): void => {
		const before = states.get(key);
		for (const name of ["endpoints", "slices", "slicesMin"] as const) {
			totals[name] += (next?.counts[name] ?? 0) - (before?.counts[name] ?? 0);
			series[name].set(totals[name]);
		}
		if (next === undefined) states.delete(key);
		else states.set(key, next);
		if (before?.trafficDistribution === next?.trafficDistribution) return;
		for (const [distribution, by] of [
			[before?.trafficDistribution, -1] as const,
			[next?.trafficDistribution, 1] as const,
		]) {
			if (distribution === undefined) continue;
			const count = (byDistribution.get(distribution) ?? 0) + by;
			byDistribution.set(distribution, count);
			series.distributions.set(count, { traffic_distribution: distribution });
		}
	};
	return {
		synced: (result) => series.syncs.add(1, { result }),
		wrote: (operation) => series.changes.add(1, { operation }),
		planned(key, service, plan) {
			series.added.observe(plan.counts.added);
			series.removed.observe(plan.counts.removed);
			replace(key, { counts: plan.counts, trafficDistribution: distributionInUse(service) });
		},
		carriedOut(service, plan) {
			series.changed.observe(plan.counts.changes, {
				topology: wantsTopologyHints(service) ? "Auto" : "Disabled",
				traffic_distribution: distributionInUse(service) ?? "",
			});
		},
		forgot: (key) => replace(key, undefined),
	};
}

/** The annotation outranks the field, and an unknown value asks for nothing. */
function distributionInUse(service: Service): string | undefined {
	return wantsTopologyHints(service) ? undefined : trafficDistributionOf(service);
}

function instruments(metrics: Metrics) {
	const counter = (name: string, help: string, labelNames: readonly string[]) =>
		metrics.counter({ name: PREFIX + name, help, labelNames });
	const gauge = (name: string, help: string, labelNames: readonly string[] = []) =>
		metrics.gauge({ name: PREFIX + name, help, labelNames });
	const perSync = (name: string, help: string) =>
		metrics.histogram({ name: PREFIX + name, help, buckets: COUNT_BUCKETS });
	return {
		added: perSync("endpoints_added_per_sync", "Endpoints added by a sync of a Service."),
		removed: perSync("endpoints_removed_per_sync", "Endpoints removed by a sync of a Service."),
		endpoints: gauge("endpoints_desired", "Endpoints that Services should have."),
		slices: gauge("num_endpoint_slices", "EndpointSlices that there are."),
		slicesMin: gauge("desired_endpoint_slices", "EndpointSlices there would be with perfect packing."),
		distributions: gauge("services_count_by_traffic_distribution", "Services by traffic distribution.", [
			"traffic_distribution",
		]),
		changed: metrics.histogram({
			name: `${PREFIX}endpointslices_changed_per_sync`,
			help: "EndpointSlices changed by a sync of a Service.",
			labelNames: ["topology", "traffic_distribution"],
		}),
		syncs: counter("syncs", "Syncs of Services.", ["result"]),
		changes: counter("changes", "Writes of EndpointSlices.", ["operation"]),
	};
}
