/** What dashboards and alerts for kube-controller-manager ask for by name. */
import { setMaxListeners } from "node:events";
import { beforeAll, describe, expect, test } from "vitest";
import { ENDPOINT_SLICES, ENDPOINTS, NODES, PODS, SERVICES } from "../api/resource-names.ts";
import type { Endpoints } from "../api/types/core.ts";
import { PrometheusMetrics } from "../edge/prometheus-metrics.ts";
import { WorkQueues } from "../machinery/work-queues.ts";
import { NO_HINTS } from "../plan/endpointslice/hints.ts";
import type { FamilyPlan } from "../plan/endpointslice/plan-family.ts";
import { meta, node, service } from "../testing/builders.ts";
import { ControllerHarness } from "../testing/controller-harness.ts";
import { RecordingMetrics } from "../testing/recording-metrics.ts";
import { podRange } from "../testing/slice-worlds.ts";
import { EndpointsController } from "./endpoints-controller.ts";
import { EndpointSliceController } from "./endpointslice-controller.ts";
import { sliceMetrics } from "./endpointslice-metrics.ts";
import { EndpointSliceMirroringController } from "./endpointslicemirroring-controller.ts";

const { selector: _, ...withoutSelector } = service("db").spec;
const db: Endpoints = {
	apiVersion: "v1",
	kind: "Endpoints",
	metadata: meta("db"),
	subsets: [{ addresses: [{ ip: "10.0.0.9" }], ports: [{ port: 80 }] }],
};

/** The page at /metrics after the three controllers had something to do, and something failed once. */
async function page(): Promise<readonly string[]> {
	const metrics = new PrometheusMetrics();
	const harness = new ControllerHarness();
	harness.client.serve(SERVICES, [service("web"), { ...service("db"), spec: withoutSelector }]);
	harness.client.serve(NODES, [node("n1", "za")]);
	harness.client.serve(PODS, podRange(0, 3));
	harness.client.serve(ENDPOINTS, [db]);
	harness.client.serve(ENDPOINT_SLICES, []);
	const failing = new Set(["endpoints", "endpointslices"]);
	harness.client.onWrite = ({ plural }) => {
		if (failing.delete(plural)) throw new Error("once");
	};
	const ports = { ...harness, metrics, queues: new WorkQueues({ clock: harness.clock, metrics }) };
	const controllers = [EndpointSliceController, EndpointsController, EndpointSliceMirroringController];
	const running = controllers.map((Controller) => new Controller(ports));
	await harness.start({
		async run(signal) {
			setMaxListeners(0, signal);
			await Promise.all(running.map((controller) => controller.run(signal)));
		},
	});
	await harness.clock.advance(5_000);
	await harness.stop();
	return (await metrics.text()).split("\n");
}

/** `name type{labels} buckets`, as the page has them. */
function described(lines: readonly string[], name: string): string {
	const type = lines.find((line) => line.startsWith(`# TYPE ${name} `))?.split(" ")[3];
	const suffix = type === "histogram" ? "_bucket" : "";
	const series = lines.filter((line) => line.startsWith(`${name}${suffix}{`) || line.startsWith(`${name}${suffix} `));
	const labels = new Set(series.flatMap((line) => [...line.matchAll(/(\w+)="/g)].map(([, label = ""]) => label)));
	const buckets = new Set(series.flatMap((line) => /[{,]le="([^"]+)"/.exec(line)?.[1] ?? []));
	labels.delete("le");
	return [`${type}{${[...labels].sort().join()}}`, ...buckets].join(" ");
}

const COUNTS = "2 4 8 16 32 64 128 256 512 1024 2048 4096 8192 16384 32768 +Inf";
const CLIENT_GO = "1e-8 1e-7 0.000001 0.00001 0.0001 0.001 0.01 0.1 1 10 +Inf";
const DEFAULT = "0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 +Inf";
const DURATION = "0.001 0.002 0.004 0.008 0.016 0.032 0.064 0.128 0.256 0.512 1.024 2.048 4.096 8.192 16.384 +Inf";
const SLICES = "endpoint_slice_controller_";
const MIRROR = "endpoint_slice_mirroring_controller_";

describe("metrics are upstream's:", () => {
	let lines: readonly string[] = [];
	beforeAll(async () => {
		lines = await page();
	});

	test.each([
		[`${SLICES}endpoints_added_per_sync`, `histogram{} ${COUNTS}`],
		[`${SLICES}endpoints_removed_per_sync`, `histogram{} ${COUNTS}`],
		[`${SLICES}endpoints_desired`, "gauge{}"],
		[`${SLICES}num_endpoint_slices`, "gauge{}"],
		[`${SLICES}desired_endpoint_slices`, "gauge{}"],
		[`${SLICES}changes`, "counter{operation}"],
		[`${SLICES}endpointslices_changed_per_sync`, `histogram{topology,traffic_distribution} ${DEFAULT}`],
		[`${SLICES}syncs`, "counter{result}"],
		[`${MIRROR}endpoints_added_per_sync`, `histogram{} ${COUNTS}`],
		[`${MIRROR}endpoints_updated_per_sync`, `histogram{} ${COUNTS}`],
		[`${MIRROR}endpoints_removed_per_sync`, `histogram{} ${COUNTS}`],
		[`${MIRROR}addresses_skipped_per_sync`, `histogram{} ${COUNTS}`],
		[`${MIRROR}endpoints_sync_duration`, `histogram{} ${DURATION}`],
		[`${MIRROR}endpoints_desired`, "gauge{}"],
		[`${MIRROR}num_endpoint_slices`, "gauge{}"],
		[`${MIRROR}desired_endpoint_slices`, "gauge{}"],
		[`${MIRROR}changes`, "counter{operation}"],
		["workqueue_adds_total", "counter{name}"],
		["workqueue_retries_total", "counter{name}"],
		["workqueue_depth", "gauge{name}"],
		["workqueue_unfinished_work_seconds", "gauge{name}"],
		["workqueue_longest_running_processor_seconds", "gauge{name}"],
		["workqueue_queue_duration_seconds", `histogram{name} ${CLIENT_GO}`],
		["workqueue_work_duration_seconds", `histogram{name} ${CLIENT_GO}`],
	])("%s", (name, description) => {
		expect(described(lines, name)).toBe(description);
	});

	test("queues have upstream's names, and those without a name are not measured", () => {
		const names = lines.flatMap((line) => /^workqueue_adds_total\{name="(\w+)"\}/.exec(line)?.[1] ?? []);
		expect(names.sort()).toEqual(["endpoint", "endpoint_slice", "endpoint_slice_mirroring"]);
	});

	test("the Endpoints controller has none of its own, and no controller has others than upstream's", () => {
		const names = lines.flatMap((line) => /^# TYPE (\w+)/.exec(line)?.[1] ?? []);
		expect(names.filter((name) => name.startsWith("endpoint_controller"))).toEqual([]);
		expect(names.filter((name) => name.startsWith(SLICES))).toHaveLength(9);
		expect(names.filter((name) => name.startsWith(MIRROR))).toHaveLength(9);
	});
});

describe("the traffic distribution of a Service", () => {
	const plan: FamilyPlan = {
		family: "IPv4",
		creates: [],
		updates: [],
		deletes: [],
		problems: [],
		counts: { added: 0, removed: 0, endpoints: 0, changes: 0, slices: 1, slicesMin: 1 },
		hintsMemory: NO_HINTS,
		hintsEvents: [],
	};
	const auto = { annotations: { "service.kubernetes.io/topology-mode": "Auto" } };
	const counted = (metrics: RecordingMetrics, value: string): number | undefined =>
		metrics.values.get(`${SLICES}services_count_by_traffic_distribution{traffic_distribution=${value}}`);
	const close = { trafficDistribution: "PreferClose" };

	test.each([
		["counts under its literal value", service("web", close), 1, "Disabled,traffic_distribution=PreferClose"],
		["does not count while hints go by CPU", service("web", close, auto), undefined, "Auto,traffic_distribution="],
		["does not count when it is not set", service("web"), undefined, "Disabled,traffic_distribution="],
		[
			"does not count when it is no known value",
			service("web", { trafficDistribution: "PreferFar" }),
			undefined,
			"Disabled,traffic_distribution=",
		],
	])("%s", (_rule, of, count, labels) => {
		const metrics = new RecordingMetrics();
		const slices = sliceMetrics(metrics);
		slices.planned("default/web", of, plan);
		slices.carriedOut(of, plan);
		expect(counted(metrics, of.spec.trafficDistribution ?? "")).toBe(count);
		expect(metrics.values.get(`${SLICES}endpointslices_changed_per_sync{topology=${labels}}`)).toBe(1);
	});

	test("counts no more once the annotation is on, and when the Service is gone", () => {
		const metrics = new RecordingMetrics();
		const slices = sliceMetrics(metrics);
		slices.planned("default/web", service("web", close), plan);
		slices.planned("default/api", service("api", close), plan);
		slices.planned("default/web", service("web", close, auto), plan);
		expect(counted(metrics, "PreferClose")).toBe(1);
		slices.forgot("default/api");
		expect(counted(metrics, "PreferClose")).toBe(0);
	});
});
