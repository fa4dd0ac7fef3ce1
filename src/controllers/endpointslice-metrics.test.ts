import { describe, expect, test } from "vitest";
import type { Service } from "../api/types/core.ts";
import type { Histogram, MetricOptions } from "../kernel/metrics.ts";
import { NO_HINTS } from "../plan/endpointslice/hints.ts";
import type { FamilyCounts, FamilyPlan } from "../plan/endpointslice/plan-family.ts";
import { service } from "../testing/builders.ts";
import { RecordingMetrics } from "../testing/recording-metrics.ts";
import { sliceMetrics } from "./endpointslice-metrics.ts";

const PREFIX = "endpoint_slice_controller_";

/** What histograms are told, and how they are made. */
class ObservedMetrics extends RecordingMetrics {
	readonly observed: string[] = [];
	readonly buckets = new Map<string, readonly number[] | undefined>();

	override histogram(options: MetricOptions & { readonly buckets?: readonly number[] }): Histogram {
		const name = options.name.slice(PREFIX.length);
		this.buckets.set(name, options.buckets);
		return {
			observe: (value, labels) => this.observed.push(`${name} ${Object.values(labels ?? {}).join("/")} ${value}`),
		};
	}
}

function plan(counts: Partial<FamilyCounts>): FamilyPlan {
	const all = { added: 0, removed: 0, endpoints: 0, changes: 0, slices: 1, slicesMin: 1, ...counts };
	const nothing = { creates: [], updates: [], deletes: [], problems: [], hintsEvents: [] };
	return { family: "IPv4", ...nothing, counts: all, hintsMemory: NO_HINTS };
}

const preferring = (trafficDistribution: string, mode?: string): Service =>
	service(
		"web",
		{ trafficDistribution },
		mode === undefined ? {} : { annotations: { "service.kubernetes.io/topology-mode": mode } },
	);

describe("metrics of the EndpointSlice controller", () => {
	test("added and removed endpoints are observed as planned, nothing included", () => {
		const metrics = new ObservedMetrics();
		sliceMetrics(metrics).planned("default/web", service("web"), plan({ added: 3 }));
		expect(metrics.observed).toEqual(["endpoints_added_per_sync  3", "endpoints_removed_per_sync  0"]);
		const powers = Array.from({ length: 15 }, (_, n) => 2 ** (n + 1));
		expect(metrics.buckets.get("endpoints_added_per_sync")).toEqual(powers);
		expect(powers.at(-1)).toBe(32768);
		expect(metrics.buckets.get("endpointslices_changed_per_sync")).toBeUndefined();
	});

	test.each<[string, Service, string]>([
		["no distribution", service("web"), "Disabled/"],
		["a distribution, as written", preferring("PreferClose"), "Disabled/PreferClose"],
		["the newer ones, as written", preferring("PreferSameNode"), "Disabled/PreferSameNode"],
		["none that is not known", preferring("PreferFar"), "Disabled/"],
		["the annotation alone", preferring("PreferClose", "Auto"), "Auto/"],
		["the field when the annotation is off", preferring("PreferClose", "Disabled"), "Disabled/PreferClose"],
	])("changed slices are observed under %s, 0 as well", (_, of, labels) => {
		const metrics = new ObservedMetrics();
		sliceMetrics(metrics).carriedOut(of, plan({ changes: 0 }));
		expect(metrics.observed).toEqual([`endpointslices_changed_per_sync ${labels} 0`]);
	});

	test("gauges are sums over Services, each counted as planned last, until it is gone", () => {
		const metrics = new RecordingMetrics();
		const series = sliceMetrics(metrics);
		const sums = (): unknown[] =>
			["endpoints_desired", "num_endpoint_slices", "desired_endpoint_slices"].map((n) =>
				metrics.values.get(PREFIX + n),
			);
		series.planned("default/web", service("web"), plan({ endpoints: 150, slices: 3, slicesMin: 2 }));
		series.planned("default/db", service("db"), plan({ endpoints: 5 }));
		expect(sums()).toEqual([155, 4, 3]);
		series.planned("default/web", service("web"), plan({ endpoints: 1 }));
		expect(sums()).toEqual([6, 2, 2]);
		series.forgot("default/web");
		expect(sums()).toEqual([5, 1, 1]);
	});
});
